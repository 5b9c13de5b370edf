/**
 * Content in a place where an API does not take its type: `refusal` in what the user says, `output_text` in the result of a
 * tool, and what an MCP server answered, put into a result as it came.
 */
import { Item, type Message } from "@memfold/message"
import { type Fields, isFields } from "./fields.js"

/** A file in base64, as MCP has it. */
const fileOf = (data: unknown, mediaType: unknown): Message.File | undefined =>
  typeof data === "string" && typeof mediaType === "string"
    ? { type: "file", mediaType, uri: `data:${mediaType};base64,${data}` }
    : undefined

/** What a content block of MCP is; `undefined` for any other part, and for a text, which has one form everywhere. */
const ofMcp = (part: Fields): Message.Text | Message.File | undefined => {
  const { type, data, mimeType, resource } = part as Record<string, unknown>
  if (type === "image" || type === "audio") return fileOf(data, mimeType)
  if (type === "resource_link" && typeof part["uri"] === "string")
    return {
      type: "text",
      text: [part["name"], part["uri"]].filter((one) => typeof one === "string").join("\n"),
    }
  if (type !== "resource" || !isFields(resource)) return undefined
  return typeof resource["text"] === "string"
    ? { type: "text", text: resource["text"] }
    : fileOf(resource["blob"], resource["mimeType"] ?? "application/octet-stream")
}

/** The types under which the APIs have a text. Servers of Chat Completions have types of their own with the names of others. */
const textTypes: ReadonlySet<string> = new Set([
  "input_text",
  "output_text",
  "summary_text",
  "reasoning_text",
])

/** Whether a type is known: to the API, or as one of another API. */
const isKnown = (api: Item.ItemApi, type: string): boolean =>
  Object.hasOwn(Item.items[api], type) ||
  (api === "openai"
    ? textTypes.has(type)
    : Object.values(Item.items).some((table) => Object.hasOwn(table, type)))

/** The words in which codecs report what an API has no place for. */
export type Unplaced = "file" | "opaque"

/**
 * What to send for provider data in the content of a message or of a result.
 *
 * - the data itself, where the API takes its type, and where no API has the type: it is new, or of a server that has it
 * - a text or a file, for what the API takes in another form: the codec writes that form
 * - `"file"` or `"opaque"` for what it cannot take there in any form
 *
 * @param api - the API of the request, from which the data came
 * @param data - the content part
 * @param takes - the types that the API takes in this place
 *
 * @example
 * ```ts
 * import { inPlace } from "@memfold/codec"
 *
 * const takes = new Set(["text"])
 * console.log(inPlace("openai", { type: "refusal", refusal: "No." }, takes)) // { type: "text", text: "No." }
 * console.log(inPlace("openai", { type: "file", file: { file_id: "f" } }, takes)) // "file"
 * ```
 */
export const inPlace = (
  api: Item.ItemApi,
  data: Fields,
  takes: ReadonlySet<string>,
): { readonly data: Fields } | Message.Text | Message.File | Unplaced => {
  const type = typeof data["type"] === "string" ? data["type"] : ""
  const tool = ofMcp(data)
  if (tool !== undefined) return tool
  if (takes.has(type) || !isKnown(api, type)) return { data }
  if (Item.sizeOf({ provider: api, data }).files > 0) return "file"
  const text = Item.textOf({ type: "opaque", provider: api, data })
  return text === "" ? "opaque" : { type: "text", text }
}
