/** Items: how they get their ids, how they are shown, and pages of them. */
import { isFields, type Fields, pagesBack } from "@memfold/codec"
import type { Message } from "@memfold/core"
import { Responses } from "@memfold/openai"
import { Either } from "effect"
import { invalid, notFound } from "./ApiError.js"
import { isOwnItemId, itemId } from "./ids.js"
import type { Store } from "./Store.js"

const typeOf = ({ type, role }: Fields): string =>
  typeof type === "string" ? type : role === undefined ? "unknown" : "message"

/** An item as it is stored: with its type and an id. */
const withId = (item: Fields): Fields => {
  const type = typeOf(item)
  const typed = typeof item["type"] === "string" ? item : { type, ...item }
  return typeof item["id"] === "string" && item["id"] !== "" ? typed : { ...typed, id: itemId(type) }
}

/** What the content of a compaction that was written here begins with. */
const ownSummary = "memfold:"

/** A compaction by this server. Its summary is coded, and not encrypted: whoever has the item may read it. */
export const summaryItem = (text: string): Fields => ({
  type: "compaction",
  id: itemId("compaction"),
  encrypted_content: `${ownSummary}${Buffer.from(text, "utf8").toString("base64url")}`,
})

/** A compaction by this server as a message, which every upstream reads; any other item as it is. */
const readSummary = (item: Fields): Fields => {
  const { type, encrypted_content: content } = item
  if (type !== "compaction" || typeof content !== "string" || !content.startsWith(ownSummary)) return item
  const text = Buffer.from(content.slice(ownSummary.length), "base64url").toString("utf8")
  return {
    type: "message",
    role: "user",
    content: [{ type: "input_text", text: `[Summary of the conversation so far]\n${text}` }],
  }
}

/** Whether an item refers to another one: it may leave out its type. */
export const isReference = ({ type, role, id }: Fields): boolean =>
  type === "item_reference" || (type === undefined && role === undefined && typeof id === "string")

/**
 * The items of the `input` of a request.
 *
 * @param input - a text, or a list of items
 * @param find - finds the item that a reference names; without it, there are no references
 */
export const inputItems = (
  input: unknown,
  find: (id: string) => Fields | undefined = () => undefined,
): ReadonlyArray<Fields> => {
  if (typeof input === "string")
    return [withId({ type: "message", role: "user", content: [{ type: "input_text", text: input }] })]
  if (!Array.isArray(input))
    throw invalid("input", "Invalid type for 'input': expected a string or an array.")
  return input.map((item: unknown, index) => {
    if (!isFields(item))
      throw invalid(`input[${index}]`, `Invalid type for 'input[${index}]': expected an object.`)
    if (!isReference(item)) return withId(readSummary(item))
    const found = find(String(item["id"]))
    if (found === undefined) throw notFound("Item", String(item["id"]), "item_not_found")
    return found
  })
}

/** The messages of items, or of a response. Throws the error of the codec. */
export const messagesOf = (items: unknown): ReadonlyArray<Message.Message> =>
  Either.getOrThrowWith(Responses.decodeItems(items), (error) => error)

/** The items of messages, as they came. */
export const itemsOf = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Fields> =>
  Responses.encodeItems(messages, { exact: true }) as unknown as ReadonlyArray<Fields>

/** The items for an upstream: what it accepts, without ids that it does not know. */
export const sentItems = (
  messages: ReadonlyArray<Message.Message>,
  model: unknown,
): ReadonlyArray<Fields> => {
  const items = Responses.encodeItems(messages, typeof model === "string" ? { model } : {})
  return (items as unknown as ReadonlyArray<Fields>).map((item) => {
    if (!isOwnItemId(item["id"])) return item
    const { id: _id, ...sent } = item
    return sent
  })
}

/** An item as the API shows it: content in parts, and with a status. Encrypted reasoning is shown to those who ask for it. */
export const shownItem = (item: Fields, include: ReadonlySet<string>): Fields => {
  const { encrypted_content: _encrypted, ...rest } = item
  const type = typeOf(item)
  if (type === "reasoning" && !include.has("reasoning.encrypted_content")) return rest
  const { role, content, status = "completed" } = item
  if (type === "message") {
    const text = role === "assistant" ? "output_text" : "input_text"
    const more = role === "assistant" ? { annotations: [], logprobs: [] } : {}
    return {
      ...item,
      status,
      content: typeof content === "string" ? [{ type: text, text: content, ...more }] : content,
    }
  }
  return type === "function_call" || type === "function_call_output" ? { ...item, status } : item
}

/** Which items to show. */
export interface ItemPage {
  readonly after: string | null
  readonly limit: number
  readonly order: "asc" | "desc"
  readonly include: ReadonlySet<string>
}

/** The page that a request asks for. */
export const pageOf = (query: URLSearchParams): ItemPage => {
  const limit = query.get("limit") === null ? 20 : Number(query.get("limit"))
  const order = query.get("order") ?? "desc"
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw invalid("limit", "Invalid 'limit': expected an integer from 1 to 100.")
  if (order !== "asc" && order !== "desc")
    throw invalid("order", "Invalid value for 'order': supported values are 'asc' and 'desc'.")
  return { after: query.get("after"), limit, order, include: includeOf(query) }
}

/** What a request wants to be shown besides. */
export const includeOf = (query: URLSearchParams): ReadonlySet<string> =>
  new Set([...query.getAll("include"), ...query.getAll("include[]")].flatMap((names) => names.split(",")))

/** Items of a conversation, newest first. The log is read as far as they are asked for. */
export async function* itemsBack(
  store: Pick<Store, "messages">,
  session: string,
  { branch, before = Number.POSITIVE_INFINITY }: { readonly branch?: number; readonly before?: number } = {},
): AsyncGenerator<Fields, void, void> {
  const pages = pagesBack(store, session, { limit: 100, ...(branch === undefined ? {} : { branch }) })
  for await (const { messages, from } of pages)
    for (const message of messages.slice(0, Math.max(before - from, 0)).toReversed())
      yield* itemsOf([message]).toReversed()
}

/** A list as the API shows it. */
export const listOf = (data: ReadonlyArray<Fields>, hasMore: boolean): Fields => ({
  object: "list",
  data,
  first_id: data[0]?.["id"] ?? null,
  last_id: data.at(-1)?.["id"] ?? null,
  has_more: hasMore,
})

export const itemPage = async (
  items: AsyncIterable<Fields>,
  { after, limit, order, include }: ItemPage,
): Promise<Fields> => {
  const found: Array<Fields> = []
  let isBehind = after === null
  const add = (item: Fields): void => {
    if (isBehind) found.push(item)
    else isBehind = item["id"] === after
  }
  if (order === "desc") {
    for await (const item of items) {
      add(item)
      if (found.length > limit) break
    }
  } else {
    const all: Array<Fields> = []
    for await (const item of items) all.push(item)
    for (const item of all.toReversed()) add(item)
  }
  if (!isBehind && after !== null) throw notFound("Item", after, "item_not_found")
  return listOf(
    found.slice(0, limit).map((item) => shownItem(item, include)),
    found.length > limit,
  )
}
