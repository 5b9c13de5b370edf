/**
 * What a Responses request knows of an item and of its content, by the types of the client `openai` 7. The API refuses any other
 * field. Items of other types stay as they came.
 */
import * as Codec from "@memfold/codec"

const { known } = Codec

const output = known("type id call_id output status name namespace caller")

const items: Readonly<Record<string, Codec.KnownFields>> = {
  message: known("type id role content status phase"),
  function_call: known("type id call_id name arguments status async caller namespace"),
  function_call_output: output,
  custom_tool_call: known("type id call_id name input status caller namespace"),
  custom_tool_call_output: output,
  reasoning: known("type id summary content encrypted_content status"),
  compaction: known("type id encrypted_content created_by"),
}

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

const parts: Readonly<Record<string, Codec.KnownFields>> = {
  input_text: known("type text prompt_cache_breakpoint"),
  input_image: known("type detail file_id image_url prompt_cache_breakpoint"),
  input_file: known("type detail file_data file_id file_url filename prompt_cache_breakpoint"),
  output_text: known("type text annotations logprobs"),
  refusal: known("type refusal"),
}

const inTable = (
  table: Readonly<Record<string, Codec.KnownFields>>,
  { type }: Codec.Fields,
): Codec.KnownFields | undefined =>
  typeof type === "string" && Object.hasOwn(table, type) ? table[type] : undefined

/** The type that a text has in an item, by who said it: what is sent to the model, or what the model said. */
export type TextType = "input_text" | "output_text"

/** The types under which other APIs, and sessions that programs kept, have a text in the place of either. */
const textTypes: ReadonlySet<unknown> = new Set(["input_text", "output_text", "text"])

/** The type of texts in an item. Reasoning has texts of its own type. */
const textTypeOf = ({ type, role }: Codec.Fields): TextType | undefined => {
  if (type === "reasoning") return undefined
  return role === "assistant" ? "output_text" : "input_text"
}

/** The content of an item; parts of other types stay as they came. The API takes a text under one type in each place. */
const requestContent = (
  content: unknown,
  textType: TextType | undefined,
  further: ReadonlySet<string>,
): unknown => {
  if (!Array.isArray(content)) return content
  const sent = content.map((given: unknown) => {
    if (!Codec.isFields(given)) return given
    const { type } = given
    const misplaced = textType !== undefined && type !== textType && textTypes.has(type)
    const part = misplaced ? { ...given, type: textType } : given
    const allowed = inTable(parts, part)
    return allowed === undefined ? part : Codec.onlyKnown(part, allowed, further)
  })
  return sent.every((part, at) => part === content[at]) ? content : sent
}

/**
 * An item with the fields that a request knows, in its content, too.
 *
 * @param item - the item, with everything that it came with
 * @param further - names of further fields that the server takes
 */
export const requestItem = (item: Codec.Fields, further: ReadonlySet<string>): Codec.Fields => {
  const type = item["type"] ?? (item["role"] === undefined ? undefined : "message")
  const allowed = inTable(items, { type })
  if (allowed === undefined) return item
  const sent = withOwnId(Codec.onlyKnown(item, allowed, further), String(type))
  const inside = Object.fromEntries(
    ["content", "output"].flatMap((name) => {
      const content = requestContent(sent[name], textTypeOf(sent), further)
      return content === sent[name] ? [] : [[name, content]]
    }),
  )
  return Object.keys(inside).length === 0 ? sent : { ...sent, ...inside }
}
