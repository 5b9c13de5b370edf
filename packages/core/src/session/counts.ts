/** What is counted message by message. */
import * as Structure from "@memfold/message/Structure"
import type { CoveredCounts, Entry, MessageCounts } from "./SessionState.js"

/** The counts after one more message, with its tokens as it was appended; `structure` is the structure with it. */
export const countMessage = (
  counts: MessageCounts,
  structure: Structure.Structure,
  { index, message, time: appendedAt, tokens }: Pick<Entry, "index" | "message" | "time" | "tokens">,
): MessageCounts => {
  const time = message.time ?? appendedAt
  const isAnswer = message.role === "assistant"
  return {
    startTime: counts.startTime ?? time,
    lastMessageTime: time,
    modelCalls: isAnswer ? counts.modelCalls + 1 : counts.modelCalls,
    lastModelCallTime: isAnswer ? time : counts.lastModelCallTime,
    structure,
    preamble: counts.preamble && message.role === "system",
    appendedTokens: counts.appendedTokens + tokens,
    lastPromptIndex: isAnswer ? counts.lastPromptIndex : index,
  }
}

/** The counts after more entries, which follow the counted messages. */
export const countEntries = (counts: CoveredCounts, entries: ReadonlyArray<Entry>): CoveredCounts => {
  let next: MessageCounts = counts
  for (const entry of entries) {
    const { structure } = Structure.addMessage(next.structure, entry.index, entry.message)
    const { index, message, time, appendedTokens: tokens = entry.tokens } = entry
    next = countMessage(next, structure, { index, message, time, tokens })
  }
  return { ...next, version: entries.at(-1)?.version ?? counts.version }
}
