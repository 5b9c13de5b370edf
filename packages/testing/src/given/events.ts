/** Sessions written by hand: events one after another, and the states they fold to. */
import { type Event, type EventCodec, type Message, Session, Wording } from "@memfold/core"
import { recorded } from "../arbitrary/event.js"

/** The messages from an index on, each of so many tokens. */
export const appended = (
  messages: ReadonlyArray<Message.Message>,
  { tokens = 10, from = 0 } = {},
): ReadonlyArray<Event.MessageAppended> =>
  messages.map((message, position) => ({ _tag: "MessageAppended", index: from + position, message, tokens }))

/** A compaction of `[from, to)`, called `k1` unless said otherwise, that takes the lock for ten minutes. */
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

/** The summary `s1` of compaction `k1`: seven tokens for everything before `coveredTo`. */
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

/** The failure of a compaction, to be tried again at time 5 or with 9 messages. */
export const failed = (options: Partial<Event.CompactionFailed> = {}): Event.CompactionFailed => ({
  _tag: "CompactionFailed",
  compaction: "k1",
  reason: "timeout",
  detail: "",
  retryTime: 5,
  retryMessages: 9,
  ...options,
})

/** What compaction `k1` cut out of tool outputs. */
export const pruned = (
  outputs: ReadonlyArray<Event.PrunedOutput>,
  options: Partial<Event.ToolOutputsPruned> = {},
): Event.ToolOutputsPruned => ({ _tag: "ToolOutputsPruned", compaction: "k1", outputs, ...options })

/** What is cut out of the only output of message `index`: all of it, unless said otherwise. */
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

/** The declaration that the event at `version` is an unusable summary. */
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

/** The state after these messages of ten tokens each, of which those before `coveredTo` are in a summary. */
export const stateOf = (messages: ReadonlyArray<Message.Message>, coveredTo = 0): Session.SessionState =>
  after(...appended(messages), ...(coveredTo === 0 ? [] : [started(coveredTo), committed(coveredTo)]))

/** Messages without what rendering notes on them: as they were appended. */
export const unmarked = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Message.Message> =>
  messages.map((message) => {
    const { metadata: { memfold: _memfold, ...metadata } = {}, ...rest } = message
    return Object.keys(metadata).length === 0 ? rest : { ...rest, metadata }
  })
