/**
 * Sessions of Claude Code: JSON Lines with an entry for each message or block, each with the id of the entry before it
 * (`parentUuid`).
 *
 * - the blocks of one answer, which stand on lines of their own, are one message again
 * - a rewind leaves a branch; each branch is a conversation of its own, behind the others
 * - a sub-agent (`isSidechain`) has a conversation of its own
 * - `compact_boundary` and the summary behind it are a compaction, and no messages
 * - a prompt that was typed while a tool ran is an attachment `queued_command`; files that are named with `@`, and other
 *   attachments in which something is said, are messages of the user, too, but not the program's own reminders
 * - sessions in Claude's cloud are one object with the entries in `loglines`
 * - `toolUseResult`, a copy of the result for the program, is not read
 */
import { decodeMessage } from "@memfold/anthropic"
import type { Message } from "@memfold/core"
import { Either } from "effect"
import * as Field from "./Field.js"
import { spokenIn } from "./leftOut.js"
import type { Compacted, Said } from "./EntryFormat.js"
import { linesIn, readerOf } from "./Log.js"
import { inlined, joined, recorded, text, timeAt } from "./parts.js"
import { isObject, rowsOf, type Source } from "./source.js"

const readEntry = Field.reads({
  type: Field.text,
  subtype: Field.text,
  uuid: Field.text,
  parentUuid: Field.text,
  logicalParentUuid: Field.text,
  isSidechain: Field.flag,
  agentId: Field.text,
  isMeta: Field.flag,
  isCompactSummary: Field.flag,
  timestamp: Field.any,
  message: Field.record({
    id: Field.text,
    role: Field.text,
    model: Field.text,
    content: Field.any,
    usage: Field.any,
  }),
  compactMetadata: Field.record({
    trigger: Field.text,
    preTokens: Field.count,
    preservedSegment: Field.record({ headUuid: Field.text }),
    preservedMessages: Field.record({ uuids: Field.list }),
  }),
  attachment: Field.any,
})
type Entry = ReturnType<typeof readEntry>

const readAttachment = Field.reads({
  type: Field.text,
  prompt: Field.any,
  filename: Field.text,
  path: Field.text,
  content: Field.record({
    type: Field.text,
    file: Field.record({ base64: Field.text, type: Field.text }),
  }),
})

/** Attachments in which the program reminds the model of something. */
const ofProgram = /reminder|hook|delta|listing|mode|style|diagnostics|todo|task|usage|budget|date|command_/

const readBlock = Field.reads({ type: Field.text, text: Field.text })

/** A content as Anthropic has it: some versions write texts for blocks. */
const contentOf = ({ message: { content } }: Entry): unknown =>
  Array.isArray(content)
    ? content.map((block: unknown) => (typeof block === "string" ? { type: "text", text: block } : block))
    : content

const blocksOf = (entry: Entry): ReadonlyArray<unknown> => {
  const content = contentOf(entry)
  return Array.isArray(content) ? (content as ReadonlyArray<unknown>) : []
}

const promptOf = ({ attachment }: Entry): unknown => {
  const { type, prompt } = readAttachment(attachment)
  return type === "queued_command" ? prompt : undefined
}

/** What is attached to a message: a text with the name of its file, or an image. */
const attached = ({ type, attachment }: Entry): ReadonlyArray<Message.Part> => {
  if (type !== "attachment" || !isObject(attachment)) return []
  const { type: kind = "", filename, path = filename, content } = readAttachment(attachment)
  if (kind === "queued_command" || ofProgram.test(kind)) return []
  const { base64, type: mediaType } = content.file
  if (base64 !== undefined) return [inlined(mediaType, base64)]
  const said = spokenIn(attachment)
  return said.length === 0 ? [] : text(joined([path, ...said]))
}

const isMessage = ({ type, message }: Entry): boolean =>
  (type === "user" || type === "assistant") && message.role === type

const isSaid = (entry: Entry): boolean =>
  isMessage(entry) || promptOf(entry) !== undefined || attached(entry).length > 0

/** A message of the program's own, such as "No response requested.", has this in place of a model. */
const synthetic = "<synthetic>"

/** The message of the entries of one answer, or of one entry of the user. */
const says = (entries: readonly [Entry, ...Array<Entry>]): Said => {
  const [first] = entries
  if (first.isCompactSummary === true) return Either.right([])
  const { model, usage } = entries.at(-1)!.message
  const prompt = promptOf(first)
  const parts = attached(first)
  if (parts.length > 0)
    return Either.map(timeAt(first, "timestamp"), (time) => [
      recorded({ role: "user", parts }, { id: first.uuid, time, hidden: true }),
    ])
  const wire =
    prompt !== undefined
      ? { role: "user", content: prompt }
      : {
          role: first.type,
          content: entries.length === 1 ? contentOf(first) : entries.flatMap(blocksOf),
          ...(usage === undefined || model === synthetic ? {} : { usage }),
        }
  const hidden = first.isMeta === true ? true : undefined
  return Either.flatMap(timeAt(first, "timestamp"), (time) =>
    Either.mapBoth(decodeMessage(wire), {
      onLeft: ({ problem, allowed }) => ({ problem, allowed }),
      onRight: (messages) => messages.map((one) => recorded(one, { id: first.uuid, model, time, hidden })),
    }),
  )
}

const compaction = (entry: Entry): Compacted | undefined => {
  const { subtype, isCompactSummary, compactMetadata, message } = entry
  if (subtype !== "compact_boundary" && !(isCompactSummary === true && isMessage(entry))) return undefined
  const summary =
    typeof message.content === "string"
      ? message.content
      : blocksOf(entry)
          .map((block) => readBlock(block).text ?? "")
          .join("\n")
  const [first] = compactMetadata.preservedMessages.uuids
  const kept = typeof first === "string" ? first : undefined
  return {
    keeps: compactMetadata.preservedSegment.headUuid ?? kept,
    trigger: compactMetadata.trigger,
    tokensBefore: compactMetadata.preTokens,
    time: Either.getOrUndefined(timeAt(entry, "timestamp")),
    ...(isCompactSummary === true ? { summary, isRest: true } : {}),
  }
}

/** The entries: lines, or those of a session in Claude's cloud. */
const entriesIn = (source: Source): Source => {
  const { loglines } = isObject(source.document) ? source.document : {}
  return Array.isArray(loglines) ? { ...source, rows: rowsOf(loglines) } : source
}

export const reader = readerOf<Entry>({
  // Programs that were made after it have the entries, and other messages in them.
  recognizes: (source) =>
    entriesIn(source).rows.some(({ value }) => {
      const entry = readEntry(value)
      return isMessage(entry) && entry.message.content !== undefined
    }),
  logs: (source) => Either.right([linesIn(entriesIn(source), readEntry)]),
  notSaid: ["toolUseResult", "snapshot"],
  id: ({ uuid }) => uuid,
  parent: ({ parentUuid, logicalParentUuid, isSidechain }) =>
    parentUuid ?? logicalParentUuid ?? (isSidechain === true ? null : undefined),
  side: ({ isSidechain, agentId = "" }) => (isSidechain === true ? agentId : undefined),
  // A session that was resumed repeats entries.
  again: (known, entry) =>
    known.type === entry.type && JSON.stringify(known.message) === JSON.stringify(entry.message)
      ? "same"
      : "other",
  isSaid,
  joins: (before, { type, message }) =>
    type === "assistant" &&
    before.type === type &&
    message.id !== undefined &&
    message.id === before.message.id,
  isBeside: (entry) =>
    entry.type === "attachment" ||
    (entry.type === "user" && blocksOf(entry).some((one) => readBlock(one).type === "tool_result")),
  compaction,
  says,
})
