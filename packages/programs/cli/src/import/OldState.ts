/**
 * The state of one conversation in an older program: its messages and their summaries, in the same form for every
 * program.
 */
import type { Message, Session } from "@memfold/core"
import type { Range } from "./ranges.js"

/** A summary in the state of an older program. */
export interface OldSummary {
  /** Its id in the log and in reports. */
  readonly id: string
  readonly status: Session.SummaryStatus
  readonly text: string
  /** The part of the summary about the start of a split turn; `text` is then the history alone. */
  readonly turnPrefix?: string
  readonly covers: ReadonlyArray<Range>
  /** Why it is not usable; then it covers nothing, and its messages are summarized anew when that is due. */
  readonly damaged?: string
  /** When it was made, in milliseconds since the epoch; `null` if unknown. */
  readonly time: number | null
  /** How many messages there were then; `null` if unknown. */
  readonly total: number | null
  /** The summarizer that wrote it, and its number of calls, if it was not the older program. */
  readonly writtenBy?: { readonly summarizer: string; readonly calls: number }
}

/** The state of one conversation: messages in order, summaries in the order of their creation. */
export interface OldState {
  readonly messages: ReadonlyArray<Message.Message>
  readonly summaries: ReadonlyArray<OldSummary>
}
