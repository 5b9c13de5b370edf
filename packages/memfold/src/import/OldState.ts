/**
 * What an older program knew of one conversation, whichever program it was: its messages, and the summaries
 * it had made of them.
 */
import type { Message, Session } from "@memfold/core"
import type { Range } from "./ranges.js"

/** A summary as the older program left it. */
export interface OldSummary {
  /** Names it in the log and in reports. */
  readonly id: string
  readonly status: Session.SummaryStatus
  readonly text: string
  /** The second part of a split turn's summary (reference design 3); `text` is then the history alone. */
  readonly turnPrefix?: string
  /** The messages it says it was made of. */
  readonly covers: ReadonlyArray<Range>
  /** When it was made, in milliseconds since the epoch; `null` where nobody wrote it down. */
  readonly time: number | null
  /** How many messages there were then; `null` where nobody wrote it down. */
  readonly total: number | null
  /** Who wrote it, and in how many calls, if it was not the older program. */
  readonly writtenBy?: { readonly summarizer: string; readonly calls: number }
}

/** The state of one conversation: messages in their order, summaries in the order they were made in. */
export interface OldState {
  readonly messages: ReadonlyArray<Message.Message>
  readonly summaries: ReadonlyArray<OldSummary>
}
