/** What is counted message by message. */
import type { Message } from "@memfold/message/Message"
import * as Structure from "@memfold/message/Structure"
import type { CoveredCounts, Entry, MessageCounts } from "./SessionState.js"

/** A message, when it was appended, and its tokens then. */
interface Counted {
  readonly index: number
  readonly message: Message
  readonly time: number
  readonly tokens: number
}

/** The counts after one more message; `structure` is the structure with it. */
export const countMessage = (
  counts: MessageCounts,
  structure: Structure.Structure,
  { index, message, time: appendedAt, tokens }: Counted,
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
