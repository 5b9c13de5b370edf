/**
 * Parts of Mastra's messages as parts of a page of the AI SDK (`UIMessage`), and exactly back. What the part of the page has
 * no place for stands in a field `mastra` of it, which the codec of the AI SDK keeps.
 */
import { base64Uri, type Fields, isFields, present } from "@memfold/codec"
import type { Message } from "@memfold/core"
import { applied, differenceOf } from "./difference.js"

/** The type of a part of a page that says what only Mastra reads. */
const own = "data-mastra"

const only = (data: Fields): Fields => ({ type: own, data })

const states: Readonly<Record<string, string>> = {
  "partial-call": "input-streaming",
  call: "input-available",
  result: "output-available",
  "approval-requested": "approval-requested",
  "approval-responded": "approval-responded",
  "output-error": "output-error",
  "output-denied": "output-denied",
}
const stateOf = new Map(Object.entries(states).map(([mastra, page]) => [page, mastra]))

const isAddress = (data: string): boolean => /^(https?|data|blob|file):/iu.test(data)

/** The part of Mastra that a part of a page says, without its field `mastra`. */
const derived = (page: Fields): Fields | undefined => {
  const { type, providerMetadata } = page as Record<string, unknown>
  const options = present({ providerMetadata })
  if (type === "text") return { type, text: page["text"], ...options }
  if (type === "reasoning") {
    const { text } = page as Record<string, unknown>
    return { type, reasoning: text, details: [{ type: "text", text }], ...options }
  }
  if (type === "file") {
    const { url, mediaType, filename } = page as Record<string, unknown>
    return { type, data: url, mimeType: mediaType, ...present({ filename }), ...options }
  }
  if (type === "source-url") {
    const { sourceId: id, url, title } = page as Record<string, unknown>
    return { type: "source", source: { sourceType: "url", id, url, ...present({ title }) }, ...options }
  }
  if (type === "source-document" || (String(type).startsWith("data-") && type !== own)) {
    const { mastra: _mastra, ...rest } = page as Record<string, unknown>
    return rest
  }
  return toolOf(page) === undefined ? undefined : derivedCall(page)
}

/** The name of the tool of a part of a page; none if it is no call. */
const toolOf = ({ type, toolName }: { readonly [key: string]: unknown }): string | undefined => {
  if (type === "dynamic-tool") return typeof toolName === "string" ? toolName : undefined
  return typeof type === "string" && type.startsWith("tool-") ? type.slice("tool-".length) : undefined
}

const derivedInvocation = (page: Fields): Fields => {
  const { toolCallId, state, input: args, output, errorText, approval } = page as Record<string, unknown>
  const known = stateOf.get(String(state)) ?? "call"
  return {
    state: known,
    toolCallId,
    toolName: toolOf(page),
    ...present({ args, approval }),
    ...(known === "result" ? present({ result: output }) : {}),
    ...(known === "output-error" ? present({ errorText }) : {}),
  }
}

const derivedCall = (page: Fields): Fields => {
  const { callProviderMetadata: providerMetadata, providerExecuted } = page as Record<string, unknown>
  return {
    type: "tool-invocation",
    toolInvocation: derivedInvocation(page),
    ...present({ providerMetadata, providerExecuted }),
  }
}

/** The part of a page with the difference beside it. */
const withDifference = (page: Fields, part: Fields, further: Fields = {}): Fields => {
  const known = derived(page) ?? {}
  const { toolInvocation: said, ...outside } = part as Record<string, unknown>
  const { toolInvocation: told, ...rest } = known as Record<string, unknown>
  const beside = differenceOf(outside, rest)
  const inside = isFields(said) && isFields(told) ? differenceOf(said, told) : undefined
  const all = { ...further, ...present({ beside, inside }) }
  return Object.keys(all).length === 0 ? page : { ...page, mastra: all }
}

const call = (part: Fields): Fields | undefined => {
  const { toolInvocation: invocation, providerMetadata, providerExecuted } = part as Record<string, unknown>
  if (!isFields(invocation)) return undefined
  const { toolCallId, toolName, state, args, result, errorText, approval } = invocation
  const known = states[String(state)]
  if (typeof toolCallId !== "string" || typeof toolName !== "string" || known === undefined) return undefined
  return {
    type: `tool-${toolName}`,
    toolCallId,
    state: known,
    ...present({ input: args }),
    ...(known === "output-available" ? present({ output: result }) : {}),
    ...(known === "output-error" ? present({ errorText }) : {}),
    ...(isFields(approval) ? { approval } : {}),
    ...(isFields(providerMetadata) ? { callProviderMetadata: providerMetadata } : {}),
    ...(typeof providerExecuted === "boolean" ? { providerExecuted } : {}),
  }
}

const file = (part: Fields): Fields | undefined => {
  const { data, mimeType, filename, providerMetadata } = part as Record<string, unknown>
  if (typeof data !== "string" || typeof mimeType !== "string") return undefined
  const url = isAddress(data) ? data : base64Uri(mimeType, data)
  return {
    type: "file",
    url,
    mediaType: mimeType,
    ...(typeof filename === "string" ? { filename } : {}),
    ...(isFields(providerMetadata) ? { providerMetadata } : {}),
  }
}

const said = (part: Fields): Fields | undefined => {
  const { type, providerMetadata } = part as Record<string, unknown>
  const options = isFields(providerMetadata) ? { providerMetadata } : {}
  if (type === "text") {
    return typeof part["text"] === "string" ? { type, text: part["text"], ...options } : undefined
  }
  if (type === "reasoning") {
    const { reasoning, details } = part as Record<string, unknown>
    const texts = (Array.isArray(details) ? details : []).map((one: unknown) =>
      isFields(one) && one["type"] === "text" ? String(one["text"]) : "",
    )
    const text = typeof reasoning === "string" && reasoning !== "" ? reasoning : texts.join("")
    return { type, text, ...options }
  }
  if (type === "file") return file(part)
  if (type === "source" && isFields(part["source"])) {
    const { id: sourceId, url, title } = part["source"] as Record<string, unknown>
    if (typeof sourceId !== "string" || typeof url !== "string") return undefined
    return { type: "source-url", sourceId, url, ...(typeof title === "string" ? { title } : {}), ...options }
  }
  if (type === "tool-invocation") return call(part)
  if (type === "source-document") return part
  return String(type).startsWith("data-") && type !== own ? part : undefined
}

/** The parts of a page that say a part of Mastra. */
const toOne = (part: unknown): ReadonlyArray<Fields> => {
  if (!isFields(part)) return [only({ part })]
  const { type, ...rest } = part as Record<string, unknown>
  if (type === "step-start") {
    return [{ type }, ...(Object.keys(rest).length === 0 ? [] : [only({ step: rest })])]
  }
  if (Object.hasOwn(part, "mastra")) return [only({ part })]
  const page = said(part)
  if (page === undefined) return [only({ part })]
  // The bytes are stored once.
  const bare = type === "file" && page["url"] !== part["data"]
  const compared = bare ? { ...part, data: page["url"] } : part
  return [withDifference(page, compared, bare ? { bare } : {})]
}

const spoken = new Set<unknown>(["text", "reasoning", "file"])

/** What a model says behind a call is a step of its own, even where Mastra has not marked its beginning. */
const begins = (part: unknown, before: unknown): boolean =>
  isFields(part) &&
  spoken.has(part["type"]) &&
  isFields(before) &&
  before["type"] === "tool-invocation" &&
  before["providerExecuted"] !== true

/** The parts of a page that say the parts of Mastra. */
export const toPage = (parts: ReadonlyArray<unknown>): ReadonlyArray<Fields> =>
  parts.flatMap((part, index) => [
    ...(begins(part, parts[index - 1]) ? [{ type: "step-start" }, only({ implied: true })] : []),
    ...toOne(part),
  ])

const fromOne = (page: Fields): Fields => {
  const { mastra, ...rest } = page as Record<string, unknown>
  const known = derived(rest)
  if (known === undefined) return rest
  const { beside, inside, bare } = (isFields(mastra) ? mastra : {}) as Record<string, unknown>
  const { toolInvocation, ...outside } = known as Record<string, unknown>
  const part = applied(outside, beside)
  const { data, mimeType } = part as Record<string, unknown>
  const prefix = base64Uri(String(mimeType), "")
  return {
    ...part,
    ...(isFields(toolInvocation) ? { toolInvocation: applied(toolInvocation, inside) } : {}),
    ...(bare === true && typeof data === "string" && data.startsWith(prefix)
      ? { data: data.slice(prefix.length) }
      : {}),
  }
}

/** The parts of Mastra that the parts of a page say. */
export const fromPage = (parts: ReadonlyArray<Fields>): ReadonlyArray<Fields> => {
  const out: Array<Fields> = []
  for (const page of parts) {
    const { data } = page as Record<string, unknown>
    if (page["type"] !== own || !isFields(data)) {
      out.push(fromOne(page))
    } else if (isFields(data["step"]) && out.at(-1)?.["type"] === "step-start") {
      out[out.length - 1] = { type: "step-start", ...data["step"] }
    } else if (data["implied"] === true) {
      out.pop()
    } else {
      out.push(data["part"] as Fields)
    }
  }
  return out
}

/** The field of that name of a value that has fields. */
const fieldIn = (value: unknown, name: string): unknown => (isFields(value) ? value[name] : undefined)

/** What a tool gave the model instead of its result (`toModelOutput`); none if it was the result itself. */
export const modelOutputOf = (page: Fields): Fields | undefined => {
  const output = fieldIn(fieldIn(page["callProviderMetadata"], "mastra"), "modelOutput")
  return isFields(output) && typeof output["type"] === "string" ? output : undefined
}

/** Whether a call of a page says that its tool failed, although it has an output. */
export const isFailed = (page: Fields): boolean =>
  fieldIn(fieldIn(fieldIn(page["mastra"], "inside"), "set"), "isError") === true

/** Whether a part of a session says no more than that a step began, or that its call of the model failed. */
export const saysNothing = (part: Message.Part): boolean => {
  const page = part.type === "opaque" ? fieldIn(part.data, "ui") : undefined
  const data = isFields(page) && page["type"] === own ? page["data"] : undefined
  if (!isFields(data)) return false
  return isFields(data["step"]) || data["implied"] === true || fieldIn(data["part"], "type") === "error"
}
