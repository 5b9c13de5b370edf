/**
 * Sessions of Claude Code: JSON Lines with an entry for each message or block, each with the id of the entry before it
 * (`parentUuid`).
 *
 * - the blocks of one answer, which stand on lines of their own, are one message again
 * - a rewind leaves a branch; each branch is a conversation of its own, behind the others
 * - a sub-agent (`isSidechain`) has a conversation of its own
 * - `compact_boundary` and the summary behind it are a compaction, and no messages
 * - a prompt that was typed while a tool ran is an attachment `queued_command`
 * - other entries (progress, snapshots of files, titles) and `toolUseResult`, a copy of the result for the program, are not
 *   read
 */
import { decodeMessage } from "@memfold/anthropic"
import { Either } from "effect"
import * as Field from "./Field.js"
import { type Compacted, linesIn, readerOf, type Said } from "./Log.js"
import { recorded, timeAt } from "./parts.js"

const readEntry = Field.reads({
  type: Field.text,
  subtype: Field.text,
  uuid: Field.text,
  parentUuid: Field.text,
  logicalParentUuid: Field.text,
  isSidechain: Field.flag,
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
  }),
  attachment: Field.record({ type: Field.text, prompt: Field.any }),
})
type Entry = ReturnType<typeof readEntry>

const readBlock = Field.reads({ type: Field.text, text: Field.text })

const blocksOf = ({ message: { content } }: Entry): ReadonlyArray<unknown> =>
  Array.isArray(content) ? (content as ReadonlyArray<unknown>) : []

const isQueued = ({ attachment: { type, prompt } }: Entry): boolean =>
  type === "queued_command" && prompt !== undefined

const isMessage = ({ type, message }: Entry): boolean =>
  (type === "user" || type === "assistant") && message.role === type

const isSaid = (entry: Entry): boolean => isMessage(entry) || isQueued(entry)

/** A message of the program's own, such as "No response requested.", has this in place of a model. */
const synthetic = "<synthetic>"

/** The message of the entries of one answer, or of one entry of the user. */
const says = (entries: readonly [Entry, ...Array<Entry>]): Said => {
  const [first] = entries
  if (first.isCompactSummary === true) return Either.right([])
  const { model, content, usage } = entries.at(-1)!.message
  const wire = isQueued(first)
    ? { role: "user", content: first.attachment.prompt }
    : {
        role: first.type,
        content: entries.length === 1 ? content : entries.flatMap(blocksOf),
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
  return {
    keeps: compactMetadata.preservedSegment.headUuid,
    trigger: compactMetadata.trigger,
    tokensBefore: compactMetadata.preTokens,
    time: Either.getOrUndefined(timeAt(entry, "timestamp")),
    summary: isCompactSummary === true ? summary : undefined,
  }
}

export const reader = readerOf<Entry>({
  recognizes: ({ rows }) => rows.some(({ value }) => isMessage(readEntry(value))),
  logs: (source) => Either.right([linesIn(source, readEntry)]),
  id: ({ uuid }) => uuid,
  parent: ({ parentUuid, logicalParentUuid, isSidechain }) =>
    parentUuid ?? logicalParentUuid ?? (isSidechain === true ? null : undefined),
  isSide: ({ isSidechain }) => isSidechain === true,
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
    entry.type === "user" && blocksOf(entry).some((one) => readBlock(one).type === "tool_result"),
  compaction,
  says,
})
