/**
 * Sessions of Claude Code: JSON Lines with an entry for each message or block, each with the id of the entry before it
 * (`parentUuid`).
 *
 * - the blocks of one answer, which stand on lines of their own, are one message again
 * - a rewind leaves a branch; each branch is a conversation of its own, behind the others
 * - a sub-agent (`isSidechain`) has a conversation of its own
 * - `compact_boundary` and the summary behind it are a compaction, and no messages
 * - other entries (attachments, progress, snapshots of files, titles) and `toolUseResult`, a copy of the result for the
 *   program, are not read
 */
import { decodeMessage } from "@memfold/anthropic"
import type { Message } from "@memfold/core"
import { Either } from "effect"
import { brokenOf } from "./chat.js"
import {
  type Compaction,
  countOf,
  type StoredConversation,
  inOrder,
  listOf,
  nothing,
  objectOf,
  type Reader,
  type Reading,
  recorded,
  textOf,
  timeAt,
  valuesOf,
} from "./Reader.js"
import { isObject, type JsonObject, type Problem, type Source } from "./source.js"

interface Entry {
  readonly line: number
  readonly value: JsonObject
  /** The index of the entry before it in the conversation; -1 for the first one. */
  readonly parent: number
}

const isSaid = (value: JsonObject): boolean => {
  const { type, message } = value
  return (type === "user" || type === "assistant") && isObject(message) && message["role"] === type
}

const isSide = ({ value }: Entry): boolean => value["isSidechain"] === true

/** The id that the blocks of one answer have in common. */
const answerOf = ({ value }: Entry): string | undefined =>
  value["type"] === "assistant" ? textOf(objectOf(value["message"])["id"]) : undefined

const isResult = ({ value }: Entry): boolean =>
  value["type"] === "user" &&
  listOf(objectOf(value["message"])["content"]).some((one) => isObject(one) && one["type"] === "tool_result")

/**
 * The entries with their parents. A parent stands earlier in the file; where the named one does not (the first entry, an
 * entry that was not written, a segment that a compaction kept), it is the entry before.
 */
const entriesOf = (source: Source): ReadonlyArray<Entry> => {
  const entries: Array<Entry> = []
  const at = new Map<string, number>()
  const last = { main: -1, side: -1 }
  for (const { value, line = 1 } of valuesOf(source)) {
    if (!isObject(value)) {
      entries.push({ line, value: {}, parent: last.main })
      continue
    }
    const uuid = textOf(value["uuid"])
    // A session that was resumed repeats entries.
    if (uuid !== undefined && at.has(uuid)) continue
    const chain = value["isSidechain"] === true ? "side" : "main"
    const named = textOf(value["parentUuid"]) ?? textOf(value["logicalParentUuid"])
    const begins = chain === "side" && named === undefined
    const parent = begins ? -1 : (at.get(named ?? "") ?? last[chain])
    if (uuid !== undefined) at.set(uuid, entries.length)
    if (uuid !== undefined || isSaid(value)) last[chain] = entries.length
    entries.push({ line, value, parent })
  }
  return entries
}

/**
 * The entries of the conversation that ends with the entry `leaf`. Results of parallel calls and blocks of one answer hang
 * beside the way to the leaf, and belong to it.
 */
const lineTo = (entries: ReadonlyArray<Entry>, leaf: number): ReadonlySet<number> => {
  const line = new Set<number>()
  for (let index = leaf; index >= 0; index = entries[index]!.parent) line.add(index)
  const answers = new Set<string | undefined>()
  for (const [index, entry] of entries.entries()) {
    const answer = answerOf(entry)
    const beside = isResult(entry) || (answer !== undefined && answers.has(answer))
    if (beside && line.has(entry.parent)) line.add(index)
    if (line.has(index)) answers.add(answer)
  }
  return line
}

/** The conversations of the user's own entries: where the session is now, and the branches that were left. */
const linesOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<ReadonlySet<number>> => {
  const rest = new Set(
    entries.flatMap((entry, index) => (isSaid(entry.value) && !isSide(entry) ? [index] : [])),
  )
  const lines: Array<ReadonlySet<number>> = []
  // From the end: the last entry is where the session is, and the last of a branch is its leaf.
  for (const leaf of [...rest].toReversed()) {
    if (!rest.has(leaf)) continue
    const line = lineTo(entries, leaf)
    lines.push(line)
    for (const index of line) rest.delete(index)
  }
  return lines
}

/** The conversations of sub-agents. */
const sidesOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<ReadonlySet<number>> => {
  const rootAt = new Map<number, number>()
  const sides = new Map<number, Set<number>>()
  for (const [index, entry] of entries.entries()) {
    if (!isSide(entry)) continue
    const root = rootAt.get(entry.parent) ?? index
    rootAt.set(index, root)
    sides.set(root, (sides.get(root) ?? new Set()).add(index))
  }
  return [...sides.values()]
}

/** A message of the program's own, such as "No response requested.", has this in place of a model. */
const synthetic = "<synthetic>"

/** The message of the entries of one answer, or of one entry of the user. */
const messagesOf = (
  entries: ReadonlyArray<Entry>,
): Either.Either<ReadonlyArray<Message.Message>, Problem> => {
  const [first] = entries as readonly [Entry]
  const all = entries.map(({ value }) => objectOf(value["message"]))
  const last = all.at(-1)!
  const one = all.length === 1
  const model = textOf(last["model"])
  const wire = {
    role: first.value["type"],
    content: one ? last["content"] : all.flatMap(({ content }) => listOf(content)),
    ...(last["usage"] === undefined || model === synthetic ? {} : { usage: last["usage"] }),
  }
  const decoded = Either.flatMap(timeAt(first.value, "timestamp"), (time) =>
    Either.mapBoth(decodeMessage(wire), {
      onLeft: ({ problem, allowed }): Problem => ({ problem: `the message ${problem}`, allowed }),
      onRight: (messages) =>
        messages.map((message) =>
          recorded(message, {
            id: textOf(first.value["uuid"]),
            model,
            time,
            hidden: first.value["isMeta"] === true ? true : undefined,
          }),
        ),
    }),
  )
  return Either.mapLeft(decoded, (problem) => ({ line: first.line, ...problem }))
}

/** A compaction behind the messages; `preservedSegment` says from which message on the program kept them. */
const compactionOf = ({ value }: Entry, messages: ReadonlyArray<Message.Message>): Compaction => {
  const metadata = objectOf(value["compactMetadata"])
  const head = textOf(objectOf(metadata["preservedSegment"])["headUuid"])
  const to = head === undefined ? -1 : messages.findIndex((one) => idOf(one) === head)
  const trigger = textOf(metadata["trigger"])
  const tokensBefore = countOf(metadata["preTokens"])
  const time = Either.getOrUndefined(timeAt(value, "timestamp"))
  return {
    after: messages.length,
    ...(to < 0 ? {} : { to }),
    ...(trigger === undefined ? {} : { trigger }),
    ...(tokensBefore === undefined ? {} : { tokensBefore }),
    ...(time === undefined ? {} : { time }),
  }
}

const idOf = (message: Message.Message): unknown => objectOf(message.metadata?.["transcript"])["id"]

const summaryOf = (entry: Entry): string => {
  const { content } = objectOf(entry.value["message"])
  return typeof content === "string"
    ? content
    : listOf(content)
        .map((block) => textOf(objectOf(block)["text"]) ?? "")
        .join("\n")
}

const readLine = (
  entries: ReadonlyArray<Entry>,
  line: ReadonlySet<number>,
  broken: Problem | undefined,
): Reading => {
  const own = [...line].toSorted((one, other) => one - other).map((index) => entries[index]!)
  const answers = new Map<string, Array<Entry>>()
  for (const entry of own) {
    const answer = answerOf(entry)
    if (answer !== undefined) answers.set(answer, [...(answers.get(answer) ?? []), entry])
  }
  const messages: Array<Message.Message> = []
  const compactions: Array<Compaction> = []
  for (const entry of own) {
    const { value } = entry
    if (value["subtype"] === "compact_boundary") compactions.push(compactionOf(entry, messages))
    if (!isSaid(value)) continue
    if (value["isCompactSummary"] === true) {
      const last = compactions.at(-1)
      const known = last?.after === messages.length ? compactions.pop() : undefined
      compactions.push({ ...(known ?? compactionOf(entry, messages)), summary: summaryOf(entry) })
      continue
    }
    const answer = answerOf(entry)
    const blocks = answer === undefined ? [entry] : (answers.get(answer) ?? [entry])
    if (blocks[0] !== entry) continue
    const some = messagesOf(blocks)
    if (Either.isLeft(some)) return { messages, broken: some.left, compactions }
    messages.push(...some.right)
  }
  return { messages, broken, compactions }
}

const find = (source: Source): ReadonlyArray<StoredConversation> => {
  const entries = entriesOf(source)
  const wrong = entries.find(({ value }) => typeof value["type"] !== "string")
  const broken =
    wrong === undefined
      ? brokenOf(source)
      : { line: wrong.line, problem: "the entry has no type", allowed: 'an object with "type"' }
  const before = wrong === undefined ? entries : entries.slice(0, entries.indexOf(wrong))
  const [now, ...left] = linesOf(before)
  const reading = (line: ReadonlySet<number>) => () => readLine(before, line, broken)
  const found = inOrder([
    ...(now === undefined ? [] : [{ read: reading(now), left: left.map(reading) }]),
    ...sidesOf(before).map((side) => ({ read: reading(side), left: [] })),
  ])
  return found.length > 0 ? found : [{ read: () => nothing(broken ?? { problem: "there are no messages" }) }]
}

export const reader: Reader = {
  recognizes: (source) => valuesOf(source).some(({ value }) => isObject(value) && isSaid(value)),
  find,
}
