/** A rehearsal as a table: the messages, and what each compaction did with them. */
import type { Message } from "@memfold/core"
import type { DecidedCompaction, Rehearsal } from "./rehearse.js"

const widest = 60

const quoted = (text: string): string => {
  const line = JSON.stringify(text)
  return line.length <= widest ? line : `${line.slice(0, widest - 12)}…" (${text.length})`
}

const saidIn = (part: Message.Part): string => {
  switch (part.type) {
    case "text":
      return quoted(part.text)
    case "reasoning":
      return `thinks ${quoted(part.text)}`
    case "tool-call":
      return `calls ${part.name}#${part.id} ${quoted(part.arguments)}`
    case "tool-result":
      return `result #${part.id}${part.isError === true ? " (error)" : ""} ${quoted(part.output)}`
    case "file":
      return `file ${part.mediaType}`
    case "opaque":
      return `something of ${part.provider}'s`
  }
}

/** A message on one line, without its role. */
export const said = ({ parts }: Message.Message): string =>
  parts.length === 0 ? "(no parts)" : parts.map(saidIn).join(", ")

/** The mark of a message in the column of a compaction. */
const mark = ({ from, to, tailFrom, total }: DecidedCompaction, index: number): string => {
  if (index >= total) return " "
  if (index >= from && index < to) return index < tailFrom ? "█" : "▓"
  return index < from ? "·" : index >= tailFrom ? "░" : "o"
}

const mostColumns = 16

/** The letter that stands for a compaction. */
const letter = (position: number): string => String.fromCharCode(97 + position)

/** The messages as rows with a column for each compaction, and the list of compactions below. */
export const picture = ({ messages, events, decided, endless, thrown }: Rehearsal): string => {
  const tokens = events.flatMap(({ event }) => (event._tag === "MessageAppended" ? [event] : []))
  const columns = decided.slice(0, mostColumns)
  const letters = columns.map((_, position) => letter(position)).join(" ")
  const rows = messages.map((message, index) => {
    const columnsOfRow = columns.map((one) => mark(one, index)).join(" ")
    const size = String(tokens[index]?.tokens ?? "").padStart(6)
    const suffix = tokens[index]?.message.pinned === true ? " (pinned)" : ""
    return `${String(index).padStart(3)}  ${message.role.padEnd(9)} ${size}  ${columnsOfRow}  ${said(message)}${suffix}`
  })
  const legend = columns.map(
    ({ from, to, tailFrom, total, reason, parts, prune, onDemand }, position) =>
      `  ${letter(position)}: with ${total} messages, ${onDemand ? "by hand" : JSON.stringify(reason)}: ` +
      [
        `[${from},${to})`,
        parts.length === 0
          ? ""
          : `as ${parts.map((part) => `${part.kind} [${part.from},${part.to})`).join(", ")}`,
        prune.length === 0 ? "" : `prunes ${prune.length} outputs`,
        `tail from ${tailFrom}`,
      ]
        .filter((text) => text !== "")
        .join(", "),
  )
  return [
    `  #  ${"role".padEnd(9)} ${"tokens".padStart(6)}  ${letters}  says`,
    ...rows,
    "",
    ...(columns.length === 0 ? ["  Nothing was compacted."] : legend),
    ...(decided.length > columns.length ? [`  and ${decided.length - columns.length} more`] : []),
    ...(columns.length === 0
      ? []
      : ["  █ covered by it  ▓ covered, of the tail  ░ tail  o uncovered  · covered before"]),
    ...(columns.some(({ onDemand }) => onDemand)
      ? ["  by hand: the rehearsal ends with a compaction on demand"]
      : []),
    ...(endless === null ? [] : [`  Compacting did not end after ${endless} compactions.`]),
    ...(thrown === null ? [] : [`  It threw with ${thrown.total} messages.`]),
  ].join("\n")
}
