import type { PrunedOutput } from "../event/Event.js"
import type { Message, ToolResult } from "@memfold/message/Message"
import { Sequence } from "./Sequence.js"
import type { Entry } from "./SessionState.js"

/**
 * A shortened tool output: its two ends, with the note between them.
 *
 * @param output the whole output; an output that is not empty and no longer than `head + tail` is returned unchanged
 */
export const prunedText = (
  output: string,
  { head, tail, note }: Pick<PrunedOutput, "head" | "tail" | "note">,
): string =>
  // A redaction may have made the output shorter than the ends to keep.
  head + tail >= output.length && output.length > 0
    ? output
    : output.slice(0, head) + note + (tail === 0 ? "" : output.slice(-tail))

/** A result with its output pruned. Of its content, files stay beside a trimmed text; everything else may have its words. */
const prunedResult = ({ content, ...result }: ToolResult, pruned: PrunedOutput): ToolResult => {
  const output = prunedText(result.output, pruned)
  const files = pruned.method === "hard-clear" ? [] : (content ?? []).filter(({ type }) => type === "file")
  return files.length === 0
    ? { ...result, output }
    : { ...result, output, content: [{ type: "text", text: output }, ...files] }
}

/** A message with one of its outputs pruned. `metadata.memfold` has the method and the original length. */
const withPruned = (message: Message, pruned: PrunedOutput): Message => {
  const part = message.parts[pruned.part]
  if (part?.type !== "tool-result") return message
  const parts = message.parts.with(pruned.part, prunedResult(part, pruned))
  // An output may be trimmed first and cleared later: keep its first, largest length.
  const before =
    (message.metadata?.["memfold"] as { originalLength?: number } | undefined)?.originalLength ?? 0
  const originalLength = Math.max(before, pruned.originalLength)
  const memfold = { pruned: true, originalLength, prunedMethod: pruned.method }
  const { usage: _usage, ...rest } = message
  return { ...rest, parts, metadata: { ...message.metadata, memfold } }
}

/** The uncovered messages after a pruning: with shortened outputs, and with corrected cumulative tokens after them. */
export const prune = (uncovered: Sequence<Entry>, outputs: ReadonlyArray<PrunedOutput>): Sequence<Entry> => {
  const byIndex = new Map<number, ReadonlyArray<PrunedOutput>>()
  for (const one of outputs) byIndex.set(one.index, [...(byIndex.get(one.index) ?? []), one])
  let saved = 0
  return Sequence.of(
    uncovered.slice().map((entry) => {
      const found = byIndex.get(entry.index) ?? []
      const last = found.at(-1)
      if (last !== undefined) saved += entry.tokens - last.tokens
      if (saved === 0 && last === undefined) return entry
      return {
        ...entry,
        message: found.reduce(withPruned, entry.message),
        ...(last === undefined
          ? {}
          : { tokens: last.tokens, appendedTokens: entry.appendedTokens ?? entry.tokens }),
        cumulativeTokens: entry.cumulativeTokens - saved,
      }
    }),
    uncovered.from,
  )
}
