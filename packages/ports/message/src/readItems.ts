/** What can be read in provider data and in files, and what of them is no text: files, images, encrypted text. */
import { Encoding, Either } from "effect"
import { type Item, items, type Payload } from "./items.js"
import type { File, Opaque, Part, Text, ToolResult } from "./Message.js"

type Fields = Readonly<Record<string, unknown>>
type Table = Readonly<Record<string, Item>>

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const tables: Readonly<Record<string, Table>> = items

/** Whether both halves of a pair are items: calls of the client are tool calls in libraries, or are answered by the user. */
const isOfProvider = ({ call, answer }: Item, table: Table): boolean =>
  call?.by === "provider" || answer?.calls.every((one) => table[one]?.call?.by === "provider") === true

/**
 * The types of all APIs, for libraries that pass items on, with the pairs that are items there, too. What stands within items
 * has names that libraries use for other things, such as `file`, `content` and `custom`.
 */
const allTypes: Table = Object.fromEntries(
  Object.values(tables)
    .toReversed()
    .flatMap((table) =>
      Object.entries(table).flatMap(([type, item]): ReadonlyArray<readonly [string, Item]> => {
        const { call: _call, answer: _answer, within, ...alone } = item
        return within === true ? [] : [[type, isOfProvider(item, table) ? item : alone]]
      }),
    ),
)
const tableOf = (provider: string): Table => (Object.hasOwn(tables, provider) ? tables[provider]! : allTypes)

const own = <A>(record: Readonly<Record<string, A>>, key: string): A | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined

const itemIn = (table: Table, { type }: Fields): Item | undefined =>
  typeof type === "string" ? own(table, type) : undefined

/** The item that provider data is; `undefined` for data that is none, and for a type that the table does not have. */
export const itemOf = ({ provider, data }: Pick<Opaque, "provider" | "data">): Item | undefined =>
  isFields(data) ? itemIn(tableOf(provider), data) : undefined

/** Data this deep says nothing. */
const deepest = 64

const dataUri = /^data:[^,]{0,200};base64,/i
/** How base64 of common kinds of files begins: PNG, JPEG, GIF, RIFF, PDF, ZIP, MP4, MP3, OGG. */
const fileStart = /^(?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR|JVBERi0|UEsDB|AAAA[\w+/]{3}mZ0eX|SUQz|T2dnU)/
const base64 = /^[\w+/=\r\n-]+$/
const hexadecimal = /^[\da-f\r\n]+$/i
/** Shorter texts of this kind are ids and digests. */
const shortestData = 256

/** Whether a text has no lines, or lines of one length, as encoders write them: a list of paths has others. */
const isOneRun = (text: string): boolean => {
  const lines = text.trimEnd().split(/\r?\n/)
  return lines.slice(0, -1).every(({ length }) => length === lines[0]?.length)
}

/** What a text is if it is no text, whatever field it is in: data of a file, or encrypted text. */
export const shapeOf = (text: string): Payload | undefined => {
  if (dataUri.test(text)) return "file"
  if (text.length < shortestData || !base64.test(text) || hexadecimal.test(text) || !isOneRun(text))
    return undefined
  return fileStart.test(text) ? "file" : "encrypted"
}

const encryptedName = /^encrypted_/

/** What the text of a field is if it is no text. */
const payloadOf = (payload: Item["payload"], name: string, text: string): Payload | undefined => {
  if (text === "") return undefined
  const known = payload === undefined ? undefined : own(payload, name)
  return known ?? (encryptedName.test(name) ? "encrypted" : shapeOf(text))
}

/** Provider data, divided by what it costs. */
export interface DataSize {
  /** What is sent as text. */
  readonly text: string
  /** How many files and images there are. */
  readonly files: number
  /** The characters of encrypted text, in base64. */
  readonly encrypted: number
}

/**
 * Divides provider data into its text, its files, and its encrypted text.
 *
 * @example
 * ```ts
 * import { Item } from "@memfold/message"
 *
 * const data = { type: "image_url", image_url: { url: "https://example.org/page.png" } }
 * console.log(Item.sizeOf({ provider: "openai", data }).files) // 1
 * ```
 */
export const sizeOf = ({ provider, data }: Pick<Opaque, "provider" | "data">): DataSize => {
  const table = tableOf(provider)
  let [files, encrypted] = [0, 0]
  const textIn = (value: unknown, name: string, payload: Item["payload"], depth: number): unknown => {
    if (typeof value === "string") {
      const kind = payloadOf(payload, name, value)
      if (kind === undefined) return value
      if (kind === "file") files++
      else encrypted += value.length
      return ""
    }
    if (depth > deepest || typeof value !== "object" || value === null) return value
    if (Array.isArray(value)) return value.map((one) => textIn(one, name, payload, depth + 1))
    const item = itemIn(table, value as Fields)
    const inside = item === undefined ? payload : item.payload
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, textIn(one, key, inside, depth + 1)]),
    )
  }
  const text = JSON.stringify(textIn(data, "", undefined, 0)) ?? ""
  return { text, files, encrypted }
}

/** Fields that say what something is or belongs to, and nothing to a reader. */
const aside =
  /^(?:type|role|status|signature|cache_control|providerOptions|annotations|citations|logprobs|detail|media_type|format|strict|caller|id|.*_id|.*Id)$/

const textsOf = (provider: string, data: unknown): ReadonlyArray<string> => {
  const table = tableOf(provider)
  const found: Array<string> = []
  const read = (value: unknown, name: string, payload: Item["payload"], depth: number): void => {
    if (typeof value === "string") {
      if (value.trim() !== "" && payloadOf(payload, name, value) === undefined) found.push(value)
    } else if (depth > deepest || typeof value !== "object" || value === null) return
    else if (Array.isArray(value)) for (const one of value) read(one, name, payload, depth + 1)
    else {
      const fields = value as Fields
      const item = itemIn(table, fields)
      const names =
        item === undefined ? Object.keys(fields).filter((key) => !aside.test(key)) : (item.text ?? [])
      for (const key of names)
        if (Object.hasOwn(fields, key)) read(fields[key], key, item?.payload ?? payload, depth + 1)
    }
  }
  read(data, "", undefined, 0)
  return found
}

const textFile = /^data:(?:text\/[^,;]*|application\/json)(?<parameters>(?:;[^,;]*)*),/i

/** The text of a text file that is in its address; `undefined` for any other file. */
export const textOfFile = ({ uri }: Pick<File, "uri">): string | undefined => {
  const found = textFile.exec(uri)
  if (found === null) return undefined
  const data = uri.slice(found[0].length)
  if (/;base64$/i.test(found.groups?.["parameters"] ?? ""))
    return Either.getOrUndefined(Encoding.decodeBase64String(data))
  try {
    return decodeURIComponent(data)
  } catch {
    return undefined
  }
}

/** The address of a text file that has another text. */
export const withTextOfFile = ({ uri }: Pick<File, "uri">, text: string): string => {
  const head = uri.slice(0, uri.indexOf(",") + 1)
  return `${head}${/;base64,$/i.test(head) ? Encoding.encodeBase64(text) : encodeURIComponent(text)}`
}

/**
 * What a model or a person can read in a file or in provider data: the text of a document, the output of a tool that the
 * provider ran, the results of a search. It is empty for images and encrypted data, and for parts of other kinds.
 *
 * @example
 * ```ts
 * import { Item } from "@memfold/message"
 *
 * const data = { type: "mcp_call", id: "mcp_1", server_label: "shop", name: "price", arguments: "{}", output: "400 euros" }
 * console.log(Item.textOf({ type: "opaque", provider: "openai-responses", data })) // shop, price, {}, 400 euros, a line each
 * ```
 */
export const textOf = (part: Part): string => {
  if (part.type === "opaque") return textsOf(part.provider, part.data).join("\n")
  return part.type === "file" ? (textOfFile(part) ?? "") : ""
}

/**
 * What a model or a person can read in a tool result: its output, and the text of the files and items beside it.
 *
 * @example
 * ```ts
 * import { Item } from "@memfold/message"
 *
 * const page = { type: "document", source: { type: "text", media_type: "text/plain", data: "400 euros" } }
 * const content = [{ type: "opaque" as const, provider: "anthropic", data: page }]
 * console.log(Item.outputText({ type: "tool-result", id: "c1", output: "", content })) // 400 euros
 * ```
 */
export const outputText = ({ output, content = [] }: ToolResult): string =>
  [output, ...content.map(textOf)].filter((text) => text !== "").join("\n")

/** The fields in which providers keep what a text rests on, and what of it a reader sees. */
const citing = new Set(["citations", "annotations"])
const cited = new Set(["cited_text", "quote", "title", "document_title", "filename"])

/**
 * The titles and quotes of the sources that a text cites, a line each. They are the words of the sources, not of who said the text.
 *
 * @example
 * ```ts
 * import { Item } from "@memfold/message"
 *
 * const citations = [{ type: "char_location", cited_text: "400 euros", document_title: "Prices" }]
 * const part = { type: "text" as const, text: "It is dear.", providerData: { anthropic: { fields: { citations } } } }
 * console.log(Item.citedIn(part)) // 400 euros, Prices, a line each
 * ```
 */
export const citedIn = ({ providerData }: Text): string => {
  const found: Array<string> = []
  const read = (value: unknown, isCited: boolean, depth: number): void => {
    if (depth > deepest || typeof value !== "object" || value === null) return
    for (const [name, one] of Object.entries(value)) {
      if (isCited && cited.has(name) && typeof one === "string") found.push(one)
      else read(one, isCited || citing.has(name), depth + 1)
    }
  }
  read(providerData, false, 0)
  return found.join("\n")
}
