/**
 * Sessions of Codex (`rollout-*.jsonl`): JSON Lines `{ "timestamp", "type", "payload" }`. Older ones have items of the
 * Responses API line by line, behind a line about the session.
 *
 * - `response_item` has an item; the items of one answer are one message
 * - `turn_context` has the model, `token_count` the usage of the last answer
 * - `compacted` is a compaction
 * - `thread_rolled_back` takes turns back; what was said in them is a branch that was left
 * - other entries repeat what the items say, for the screen, and are not read
 */
import { Message } from "@memfold/core"
import { Either } from "effect"
import * as Field from "./Field.js"
import type { Log, Said } from "./EntryFormat.js"
import { linesIn, readerOf } from "./Log.js"
import { recorded, timeAt, usageOf } from "./parts.js"
import { decodeItems, isItem, isOfAnswer } from "./responses.js"
import { isObject, type Row, type Source } from "./source.js"

const readEntry = Field.reads({ type: Field.text, timestamp: Field.any, payload: Field.any })
const readItem = Field.reads({
  type: Field.text,
  role: Field.text,
  content: Field.records({ text: Field.text }),
})
const readPayload = Field.reads({
  type: Field.text,
  message: Field.text,
  model: Field.text,
  base_instructions: Field.record({ text: Field.text }),
  replacement_history: Field.list,
  num_turns: Field.count,
  info: Field.record({
    total_token_usage: Field.any,
    last_token_usage: Field.record({ input_tokens: Field.count, output_tokens: Field.count }),
  }),
})

/** A line of a session, with what the lines around it say of its item. */
interface Entry extends ReturnType<typeof readEntry> {
  readonly payload: ReturnType<typeof readPayload>
  readonly item: unknown
  readonly model: string | undefined
  /** Whether another answer begins with it. */
  readonly begins: boolean
  usage?: Message.Usage | undefined
  isTyped?: boolean
}

const types = ["session_meta", "response_item", "turn_context", "event_msg", "compacted"]

const isEntry = (value: unknown): boolean =>
  isObject(value) && types.some((type) => type === value["type"]) && isObject(value["payload"])

const isOldSession = (value: unknown): boolean =>
  isObject(value) && !("type" in value) && ["id", "timestamp", "instructions"].every((name) => name in value)

const itemOf = (value: unknown): unknown => {
  const { type, payload } = readEntry(value)
  if (type !== "response_item")
    return !types.includes(type ?? "") && (isItem(value) || (isObject(value) && "role" in value))
      ? value
      : undefined
  // Codex keeps what it cannot read itself under the type `other`.
  return isObject(payload) && payload["type"] !== "other" ? payload : isObject(payload) ? undefined : {}
}

const textOf = (item: unknown): string =>
  readItem(item)
    .content.map(({ text = "" }) => text)
    .join("\n")

const isUser = ({ item }: Entry): boolean => readItem(item).role === "user"

/**
 * The entries that begin a turn: what the user typed. Where the file does not say that any of what stands before an answer was typed,
 * the last of it was: what Codex says in the user's place stands before that.
 */
const turnsIn = (entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const turns: Array<Entry> = []
  let before: Entry | undefined
  for (const entry of entries.filter(({ item }) => item !== undefined)) {
    const goesOn = before !== undefined && isUser(before) && before.isTyped !== true
    if (isUser(entry)) {
      if (goesOn && turns.at(-1) === before) turns.pop()
      const isTypedBefore = before !== undefined && isUser(before) && before.isTyped === true
      if (entry.isTyped === true || !isTypedBefore) turns.push(entry)
    }
    before = entry
  }
  return turns
}

/** Whether an item says what the screen showed as typed: images and files may stand beside it. */
const saysTyped = (entry: Entry | undefined, message: string): boolean =>
  entry !== undefined && isUser(entry) && entry.isTyped !== true && textOf(entry.item).includes(message)

/** The lines, each with what others say of it: the model, the usage, and what the user typed. */
const logOf = (source: Source): Log<Entry> => {
  const { rows: lines, broken } = linesIn(source, (value) => value, "is no object")
  const rows: Array<Row<Entry>> = []
  let model: string | undefined
  let total = ""
  let isCut = false
  let typed: string | undefined
  for (const { line, value } of lines) {
    const entry = {
      ...readEntry(value),
      payload: readPayload(readEntry(value).payload),
      item: itemOf(value),
      model,
      begins: isCut,
    } as Entry
    const { type, payload } = entry
    if (type === "turn_context") model = payload.model ?? model
    isCut ||= type === "turn_context" || type === "compacted" || payload.type === "thread_rolled_back"
    if (payload.type === "user_message") {
      const last = rows.findLast((row) => row.value.item !== undefined)?.value
      const { message = "" } = payload
      if (saysTyped(last, message)) last!.isTyped = true
      else typed = message
    }
    if (entry.item !== undefined) {
      if (typed !== undefined && saysTyped(entry, typed)) [entry.isTyped, typed] = [true, undefined]
      isCut = false
    }
    const now = JSON.stringify(payload.info.total_token_usage)
    const { input_tokens: input, output_tokens: output } = payload.info.last_token_usage
    // The same count comes again with each change of the rate limits.
    if (payload.type === "token_count" && output !== undefined && now !== total) {
      total = now
      isCut = true
      const last = rows.findLast((row) => row.value.item !== undefined && isOfAnswer(row.value.item))
      if (last !== undefined) last.value.usage ??= usageOf(input, output)
    }
    rows.push({ line: line ?? 1, value: entry })
  }
  return { rows, broken }
}

/**
 * What stands in the place of everything before a compaction: what Codex kept word for word, which no context has otherwise, and the
 * summary.
 */
const summaryOf = ({ payload }: Entry, way: ReadonlyArray<Entry>): string | undefined => {
  const said = new Set(way.map(({ item }) => textOf(item)))
  const history = payload.replacement_history.map(textOf).filter((one) => one !== "")
  const summary = payload.message ?? history.findLast((one) => !said.has(one))
  return summary === undefined ? undefined : [...history.filter((one) => said.has(one)), summary].join("\n\n")
}

const says = (entries: readonly [Entry, ...Array<Entry>]): Said => {
  const [first] = entries
  const text = first.payload.base_instructions.text
  if (first.type === "session_meta") return Either.right(text === undefined ? [] : [Message.system(text)])
  const usage = entries.find((entry) => entry.usage !== undefined)?.usage
  return Either.flatMap(timeAt(first, "timestamp"), (time) =>
    Either.mapBoth(decodeItems(entries.map(({ item }) => item)), {
      onLeft: (wrong) => ({ ...wrong, subject: "the item" }),
      onRight: (all) =>
        all.map((one) => {
          const kept = recorded(one, { time, model: one.role === "assistant" ? first.model : undefined })
          return one.role === "assistant" && usage !== undefined ? { ...kept, usage } : kept
        }),
    }),
  )
}

export const reader = readerOf<Entry>({
  recognizes: ({ rows }) => rows.some(({ value }) => isEntry(value)) || isOldSession(rows[0]?.value),
  logs: (source) => Either.right([logOf(source)]),
  isSaid: ({ type, item }) => item !== undefined || type === "session_meta",
  joins: (before, entry) => !entry.begins && isOfAnswer(before.item) && isOfAnswer(entry.item),
  takesBack: ({ payload }, way) => {
    if (payload.type !== "thread_rolled_back") return undefined
    const turns = turnsIn(way())
    const { num_turns: count = 0 } = payload
    return count === 0 ? undefined : (turns.at(-count) ?? turns[0])
  },
  compaction: (entry, way) =>
    entry.type === "compacted"
      ? { summary: summaryOf(entry, way()), time: Either.getOrUndefined(timeAt(entry, "timestamp")) }
      : undefined,
  notSaid: ["turn_context/payload.summary"],
  says,
})
