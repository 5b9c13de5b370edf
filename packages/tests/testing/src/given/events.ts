/** Sessions written by hand: events one after another, and the states they fold to. */
import { type Event, type EventCodec, type Message, Session, Wording } from "@memfold/core"
import { recorded } from "../arbitrary/event.js"

/** The events that append messages at the indexes from `from`, each with `tokens` tokens. */
export const appended = (
  messages: ReadonlyArray<Message.Message>,
  { tokens = 10, from = 0 } = {},
): ReadonlyArray<Event.MessageAppended> =>
  messages.map((message, position) => ({ _tag: "MessageAppended", index: from + position, message, tokens }))

/** The event that starts a compaction of `[from, to)`, `k1` by default, with a lease of ten minutes. */
export const started = (
  to: number,
  options: Partial<Event.CompactionStarted> = {},
): Event.CompactionStarted => {
  const { from = 0 } = options
  return {
    _tag: "CompactionStarted",
    compaction: "k1",
    strategy: "s",
    reason: "r",
    from,
    to,
    tailFrom: to,
    parts: [{ kind: "history", from, to }],
    leaseUntil: 1_700_000_600_000,
    ...options,
  }
}

/** The event that commits the summary `s1` of compaction `k1`: seven tokens for all messages before `coveredTo`. */
export const committed = (
  coveredTo: number,
  options: Partial<Event.SummaryCommitted> = {},
): Event.SummaryCommitted => ({
  _tag: "SummaryCommitted",
  compaction: "k1",
  summary: "s1",
  coveredTo,
  carried: 0,
  segments: [{ kind: "history", from: 0, to: coveredTo, text: "so far" }],
  wording: Wording.conversationSummary,
  summarizer: "echo",
  calls: 1,
  tokens: 7,
  tokensBefore: 0,
  tokensAfter: 0,
  ...options,
})

/** The event that a compaction failed; it may be tried again at time 5 or with 9 messages. */
export const failed = (options: Partial<Event.CompactionFailed> = {}): Event.CompactionFailed => ({
  _tag: "CompactionFailed",
  compaction: "k1",
  reason: "timeout",
  detail: "",
  retryTime: 5,
  retryMessages: 9,
  ...options,
})

/** The event that compaction `k1` pruned tool outputs. */
export const pruned = (
  outputs: ReadonlyArray<Event.PrunedOutput>,
  options: Partial<Event.ToolOutputsPruned> = {},
): Event.ToolOutputsPruned => ({ _tag: "ToolOutputsPruned", compaction: "k1", outputs, ...options })

/** The cut of the only tool output of message `index`; by default all of it. */
export const cleared = (index: number, options: Partial<Event.PrunedOutput> = {}): Event.PrunedOutput => ({
  index,
  part: 0,
  method: "hard-clear",
  originalLength: 100,
  head: 0,
  tail: 0,
  note: "[cut]",
  tokens: 3,
  ...options,
})

/** The event that declares the summary at `version` invalid. */
export const invalidated = (
  version: number,
  options: Partial<Event.SummaryInvalidated> = {},
): Event.SummaryInvalidated => ({
  _tag: "SummaryInvalidated",
  version,
  summary: null,
  reason: "damaged",
  ...options,
})

/** The state of session `s` after these events. */
export const after = (...events: ReadonlyArray<EventCodec.AnyEvent>): Session.SessionState =>
  Session.fold(Session.empty("s"), recorded(events))

/**
 * The state after these messages of ten tokens each; a summary covers the messages before `coveredTo`.
 *
 * @param messages the messages of the session
 * @param coveredTo a message index, at most the number of messages; 0, the default, for no summary
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 * import { stateOf } from "@memfold/testing"
 *
 * const { uncovered } = stateOf([Message.user("one"), Message.user("two"), Message.user("three")], 1)
 * console.log(uncovered.length) // 2
 * ```
 */
export const stateOf = (messages: ReadonlyArray<Message.Message>, coveredTo = 0): Session.SessionState =>
  after(...appended(messages), ...(coveredTo === 0 ? [] : [started(coveredTo), committed(coveredTo)]))

/** Messages as they were appended, without the metadata that rendering adds. */
export const unmarked = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Message.Message> =>
  messages.map((message) => {
    const { metadata: { memfold: _memfold, ...metadata } = {}, ...rest } = message
    return Object.keys(metadata).length === 0 ? rest : { ...rest, metadata }
  })
