import type { PrunedOutput } from "../event/Event.js"
import type { Message } from "../message/Message.js"
import { Sequence } from "./Sequence.js"
import type { Entry } from "./SessionState.js"

/** What is left of an output: its two ends, with the note between them. */
export const prunedText = (
  output: string,
  { head, tail, note }: Pick<PrunedOutput, "head" | "tail" | "note">,
): string =>
  // A redacted output is shorter than what is to be left of it.
  head + tail >= output.length && output.length > 0
    ? output
    : output.slice(0, head) + note + (tail === 0 ? "" : output.slice(-tail))

/** A message with one of its outputs pruned, and `metadata.memfold` to say so (reference design 3). */
const withPruned = (message: Message, pruned: PrunedOutput): Message => {
  const part = message.parts[pruned.part]
  if (part?.type !== "tool-result") return message
  const parts = message.parts.with(pruned.part, { ...part, output: prunedText(part.output, pruned) })
  // An output may be trimmed first and cleared later: it was as long as it was.
  const before =
    (message.metadata?.["memfold"] as { originalLength?: number } | undefined)?.originalLength ?? 0
  const originalLength = Math.max(before, pruned.originalLength)
  const memfold = { pruned: true, originalLength, prunedMethod: pruned.method }
  const { usage: _usage, ...rest } = message
  return { ...rest, parts, metadata: { ...message.metadata, memfold } }
}

/** The raw messages after a pruning: shorter outputs, and every sum of tokens behind them set right. */
export const prune = (raw: Sequence<Entry>, outputs: ReadonlyArray<PrunedOutput>): Sequence<Entry> => {
  const byIndex = new Map<number, ReadonlyArray<PrunedOutput>>()
  for (const one of outputs) byIndex.set(one.index, [...(byIndex.get(one.index) ?? []), one])
  let saved = 0
  return Sequence.of(
    raw.slice().map((entry) => {
      const found = byIndex.get(entry.index) ?? []
      const last = found.at(-1)
      if (last !== undefined) saved += entry.tokens - last.tokens
      if (saved === 0 && last === undefined) return entry
      return {
        ...entry,
        message: found.reduce(withPruned, entry.message),
        tokens: last?.tokens ?? entry.tokens,
        cumulativeTokens: entry.cumulativeTokens - saved,
      }
    }),
    raw.from,
  )
}
