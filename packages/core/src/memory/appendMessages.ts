/** Appending a batch of messages, and the answer to the caller. */
import { Effect, Metric, Option, Stream } from "effect"
import type { Message } from "../message/Message.js"
import { ofMessage, type Service as TokenCounter } from "../message/TokenCounter.js"
import * as metrics from "../observe/metrics.js"
import { entering } from "../policy/entering.js"
import type { Strategy } from "../policy/Strategy.js"
import type { Committed, SessionError, Sessions } from "../session/Sessions.js"
import type { Appended } from "./MemoryService.js"

/** The message indexes `[from, to)`. */
type Range = Pick<Appended, "from" | "to">

/** Counts messages and appends them, all or none. With an idempotency key that was used before, nothing is written. */
export const appendMessages = (
  { sessions, counter }: { readonly sessions: Sessions; readonly counter: TokenCounter },
  session: string,
  messages: ReadonlyArray<Message>,
  { strategy, commit }: { readonly strategy: Strategy; readonly commit: string | undefined },
): Effect.Effect<Committed<Range>, SessionError> => {
  const counted = messages.map((message) => ({ message, tokens: ofMessage(counter, message) }))
  return sessions.transact(
    session,
    (before) => ({
      events: entering(strategy, before, counted),
      answer: { from: before.total, to: before.total + counted.length },
    }),
    { commit },
  )
}

/** Where the messages stand: for a duplicate, where the first batch with the same key does. Counts the append. */
export const describeAppend = (
  sessions: Sessions,
  { answer, appended, state }: Committed<Range>,
): Effect.Effect<Appended, SessionError> =>
  Effect.gen(function* () {
    if (appended?.duplicate === true) {
      const range = yield* messagesBetween(sessions, state.session, appended.from, appended.version)
      yield* metrics.count(metrics.duplicateAppends)
      return { ...range, version: appended.version, duplicate: true }
    }
    yield* Metric.incrementBy(metrics.messagesAppended, answer.to - answer.from)
    return { ...answer, version: appended?.version ?? state.version, duplicate: false }
  })

/** The indexes of the messages that were appended between two versions, both included. */
const messagesBetween = (
  sessions: Sessions,
  session: string,
  from: number,
  to: number,
): Effect.Effect<Range, SessionError> =>
  sessions.events(session, { from, to }).pipe(
    Stream.filterMap(({ event }) =>
      event._tag === "MessageAppended" ? Option.some(event.index) : Option.none(),
    ),
    Stream.runFold({ from: Number.POSITIVE_INFINITY, to: 0 }, (range, index) => ({
      from: Math.min(range.from, index),
      to: Math.max(range.to, index + 1),
    })),
  )
