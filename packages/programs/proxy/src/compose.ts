/** The request that goes upstream: the request of the client with the context of its session in place of its history. */
import { type Fields, isFields, servers, serverOf } from "@memfold/codec"
import { Message, type Render } from "@memfold/core"
import { eventsBetween, mapped, type Steps } from "@memfold/log/breathe"
import { type Dialect, encode, type Unit } from "./dialects.js"
import { type ListText, withItems } from "./jsonText.js"

/** A request of a client, taken apart. */
export interface Parsed {
  readonly dialect: Dialect
  readonly text: string
  readonly body: Fields
  readonly list: ListText
  /** The items of the list; those before `from` are instructions, and stay as they are. */
  readonly items: ReadonlyArray<unknown>
  readonly from: number
  readonly units: ReadonlyArray<Unit>
}

/** The end of the covered messages in a context. */
const coveredTo = ({ layout }: Render.Context): number =>
  layout.find(({ section }) => section === "summary")?.to ?? 0

/** What the memory says, as a message of the user: wherever it stands, a provider takes it. */
const asUser = (message: Message.Message): Message.Message =>
  message.role === "system" ? { ...message, role: "user" } : message

const boundParts = (messages: ReadonlyArray<Message.Message>): number =>
  messages.reduce((sum, { parts }) => sum + parts.filter(Message.isBound).length, 0)

const slices = ({ text, list }: Parsed, from: number, to: number): ReadonlyArray<string> =>
  list.items.slice(from, to).map(([start, end]) => text.slice(start, end))

/**
 * The items of a client that the context shows word for word, as they came. Reasoning that the context leaves out is left out, too:
 * the provider would refuse it behind a summary.
 */
function* keptItems(
  parsed: Parsed,
  { messages, sources }: Render.Context,
  from: number,
): Steps<ReadonlyArray<string>> {
  const { dialect, units, items } = parsed
  const kept: Array<string> = []
  const shownOf = new Map<number, Array<Message.Message>>()
  for (const [at, source] of sources.entries())
    if (source !== null) shownOf.set(source, [...(shownOf.get(source) ?? []), messages[at]!])
  let index = 0
  for (const [place, unit] of units.entries()) {
    if (place % eventsBetween === 0) yield
    const until = index + unit.messages.length
    const [start, end] = unit.items
    if (index >= from) {
      const shown = unit.messages.flatMap((_, at) => shownOf.get(index + at) ?? [])
      const isBare = shown.length > 0 && boundParts(shown) < boundParts(unit.messages)
      if (isBare)
        for (const item of items.slice(start, end)) {
          const bare = dialect.withoutReasoning(item)
          if (bare !== null) kept.push(JSON.stringify(bare))
        }
      else kept.push(...slices(parsed, start, end))
    }
    index = until
  }
  return kept
}

/** Whether a summary ends between two units: an item of the client is either covered or kept. */
const isBorder = (units: ReadonlyArray<Unit>, index: number): boolean => {
  let at = 0
  for (const { messages } of units) {
    if (at >= index) break
    at += messages.length
  }
  return at === index
}

/** The marks of a prompt cache that a request has already. */
const marksIn = (value: unknown): number =>
  JSON.stringify(value ?? null).split('"cache_control":{').length - 1

/** The most marks that Anthropic allows. */
const mostMarks = 4

/** A value with the newest marks of a prompt cache that there is room for; they stand in the order of the text. */
const newestMarks = (value: unknown, room: { left: number }): unknown => {
  if (Array.isArray(value))
    return value
      .toReversed()
      .map((one) => newestMarks(one, room))
      .toReversed()
  if (!isFields(value)) return value
  const { cache_control: mark, ...rest } = value
  // The mark of a block stands behind those inside it.
  const isKept = mark != null && room.left > 0
  if (isKept) room.left--
  const inside = "content" in rest ? { ...rest, content: newestMarks(rest["content"], room) } : rest
  return isKept ? { ...inside, cache_control: mark } : inside
}

function* fromFullHistory(parsed: Parsed, context: Render.Context): Steps<string | null> {
  const end = coveredTo(context)
  if (end === 0) return parsed.text
  if (!isBorder(parsed.units, end)) return null
  const first = context.sources.findIndex((source) => source !== null && source >= end)
  const told = context.messages.slice(0, first === -1 ? undefined : first).map(asUser)
  const front = yield* encode(parsed.dialect, told)
  if (front === null) return null
  return withItems(parsed.text, parsed.list, [
    ...slices(parsed, 0, parsed.from),
    ...front.map((item) => JSON.stringify(item)),
    ...(yield* keptItems(parsed, context, end)),
  ])
}

/** What a server of which nothing is known said beyond the API goes back to it: many want that, and those that say it take it. */
const ofUnknownServers = ["reasoning_content", "extra_content"]

function* fromNewMessages(parsed: Parsed, context: Render.Context, server: string): Steps<string | null> {
  // Nothing was said before.
  const given = parsed.units.reduce((sum, { messages }) => sum + messages.length, 0)
  if (context.messages.length === given && coveredTo(context) === 0) return parsed.text
  const { body, dialect } = parsed
  const isMarked = dialect.provider === "anthropic"
  const room = Math.max(0, mostMarks - marksIn(body["system"]) - marksIn(body["tools"]))
  const marks = isMarked && room > 0 ? context.cacheMarks.slice(-room) : []
  const encoded = yield* encode(dialect, context.messages.map(asUser), {
    cacheMarks: marks,
    server,
    ...(serverOf(server) === servers.any ? { extraFields: ofUnknownServers } : {}),
    ...(marks.length > 0 ? { cacheControl: true } : {}),
  })
  if (encoded === null) return null
  const items = isMarked ? (newestMarks(encoded, { left: room }) as ReadonlyArray<unknown>) : encoded
  return withItems(parsed.text, parsed.list, [
    ...slices(parsed, 0, parsed.from),
    ...(yield* mapped(items, (item) => JSON.stringify(item))),
  ])
}

/**
 * Writes the request for the upstream, in steps.
 *
 * @param parsed - the request of the client
 * @param context - the context of its session, which has the messages of the request
 * @param isWhole - whether the request has the whole conversation; without summaries, it goes up as it came
 * @param server - the address of the upstream, which may want more than the API
 * @returns the body; `null` if the context cannot be said in the request
 */
export const compose = (
  parsed: Parsed,
  context: Render.Context,
  isWhole: boolean,
  server: string,
): Steps<string | null> =>
  isWhole ? fromFullHistory(parsed, context) : fromNewMessages(parsed, context, server)
