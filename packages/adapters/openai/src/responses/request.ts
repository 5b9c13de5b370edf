/**
 * An item of Responses as a request has it: with the fields that the API knows, with an id of the API's, and with each text under the type
 * of its place.
 */
import * as Codec from "@memfold/codec"

/** How ids of items begin. The API refuses any other: a program may have put the id of the call there. */
const ids: Readonly<Record<string, RegExp>> = {
  message: /^msg_[\w-]{1,60}$/,
  function_call: /^fc_[\w-]{1,61}$/,
  function_call_output: /^fco?_[\w-]{1,60}$/,
  custom_tool_call: /^ctc_[\w-]{1,60}$/,
  custom_tool_call_output: /^ctco?_[\w-]{1,59}$/,
  reasoning: /^rs_[\w-]{1,61}$/,
  compaction: /^cmp_[\w-]{1,60}$/,
}

const withOwnId = (item: Codec.Fields, type: string): Codec.Fields => {
  const { id, ...rest } = item
  return typeof id === "string" && Object.hasOwn(ids, type) && ids[type]?.test(id) === false ? rest : item
}

/** The type that a text has in an item, by who said it: what is sent to the model, or what the model said. */
export type TextType = "input_text" | "output_text"

/** The types under which other APIs, and sessions that programs kept, have a text in the place of another type. */
const textTypes: ReadonlySet<unknown> = new Set([
  "input_text",
  "output_text",
  "text",
  "summary_text",
  "reasoning_text",
])

/** The type of the texts in a field of an item; `undefined` for a field that has other things than content. */
const textTypeOf = ({ type, role }: Codec.Fields, field: string): string | undefined => {
  if (type === "reasoning") {
    if (field === "summary") return "summary_text"
    return field === "content" ? "reasoning_text" : undefined
  }
  if (type === "function_call_output" || type === "custom_tool_call_output")
    return field === "output" ? "input_text" : undefined
  if (field !== "content" || (type !== undefined && type !== "message")) return undefined
  return role === "assistant" ? "output_text" : "input_text"
}

/** A list of content with each text under the type of its place: the API takes one type in each. */
const inPlace = (content: unknown, textType: string): unknown => {
  if (!Array.isArray(content)) return content
  const sent = content.map((part: unknown) =>
    Codec.isFields(part) && part["type"] !== textType && textTypes.has(part["type"])
      ? { ...part, type: textType }
      : part,
  )
  return sent.every((part, at) => part === content[at]) ? content : sent
}

/** Reasoning has texts alone, and a list of them as its summary, even an empty one. */
const withLists = (item: Codec.Fields): Codec.Fields => {
  if (item["type"] !== "reasoning") return item
  const { summary, content } = item
  const isText = (part: unknown): boolean => Codec.isFields(part) && typeof part["text"] === "string"
  const listed = (given: unknown): ReadonlyArray<unknown> => {
    if (typeof given === "string") return given === "" ? [] : [{ type: "text", text: given }]
    return Array.isArray(given) ? given.flatMap((one: unknown) => (isText(one) ? [one] : listed(one))) : []
  }
  const isWhole = Array.isArray(summary) && summary.every(isText)
  const isSaid = content === undefined || (Array.isArray(content) && content.every(isText))
  if (isWhole && isSaid) return item
  return { ...item, summary: listed(summary), ...(isSaid ? {} : { content: listed(content) }) }
}

/** The item with the texts of its content under the types of their places. */
const withTexts = (item: Codec.Fields): Codec.Fields => {
  const changed = ["content", "output", "summary"].flatMap((field) => {
    const textType = textTypeOf(item, field)
    const content = textType === undefined ? item[field] : inPlace(item[field], textType)
    return content === item[field] ? [] : [[field, content] as const]
  })
  return changed.length === 0 ? item : { ...item, ...Object.fromEntries(changed) }
}

/**
 * An item with the fields that a request knows, in its content, too.
 *
 * @param item - the item, with everything that it came with
 * @param further - names of further fields that the server takes
 */
export const requestItem = (item: Codec.Fields, further: ReadonlySet<string>): Codec.Fields => {
  const type = item["type"] ?? (item["role"] === undefined ? undefined : "message")
  const allowed = Codec.knownOf(Codec.requestFields["openai-responses"], { type })
  if (allowed === undefined) return item
  return withOwnId(Codec.onlyKnown(withTexts(withLists(item)), allowed, further), String(type))
}
