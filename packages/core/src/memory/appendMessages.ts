/** Appending a batch of messages, and the answer to the caller. */
import { Effect, Metric, Option, Stream } from "effect"
import { commitOf } from "../event/EventCodec.js"
import { makeId } from "../event/id.js"
import type { Appended as AppendResult } from "../log/EventLog.js"
import type { Message } from "../message/Message.js"
import { ofMessage, type Service as TokenCounter } from "../message/TokenCounter.js"
import * as metrics from "../observe/metrics.js"
import { entering } from "../policy/entering.js"
import type { Strategy } from "../policy/Strategy.js"
import type { Committed, SessionError, Sessions } from "../session/Sessions.js"
import type { Appended } from "./MemoryService.js"

/** The message indexes `[from, to)`. */
type Range = Pick<Appended, "from" | "to">

/**
 * Counts messages and appends them, all or none. With an idempotency key that was used before, nothing is written, and
 * the answer is the range of the first append.
 */
export const appendMessages = (
  { sessions, counter }: { readonly sessions: Sessions; readonly counter: TokenCounter },
  session: string,
  messages: ReadonlyArray<Message>,
  { strategy, commit: key }: { readonly strategy: Strategy; readonly commit: string | undefined },
): Effect.Effect<Committed<Range>, SessionError> =>
  Effect.gen(function* () {
    const commit = key ?? (yield* makeId)
    const counted = messages.map((message) => ({ message, tokens: ofMessage(counter, message) }))
    for (;;) {
      const done = yield* sessions.transact(
        session,
        (before) => ({
          events: entering(strategy, before, counted),
          answer: { from: before.total, to: before.total + counted.length },
        }),
        { commit },
      )
      if (done.appended?.duplicate !== true) return done
      const range = yield* rangeOf(sessions, session, commit, done.appended)
      if (range !== null) return { ...done, answer: range }
      // The session was deleted in between, and the first append with it: now this one is the first.
    }
  })

/** The answer to the caller. Counts the append. */
export const describeAppend = ({ answer, appended, state }: Committed<Range>): Effect.Effect<Appended> => {
  const { version, duplicate } = appended ?? { version: state.version, duplicate: false }
  return Effect.as(
    duplicate
      ? metrics.count(metrics.duplicateAppends)
      : Metric.incrementBy(metrics.messagesAppended, answer.to - answer.from),
    { ...answer, version, duplicate },
  )
}

/** The indexes of the messages that a batch appended; `null` if the batch is not in the log. */
const rangeOf = (
  sessions: Sessions,
  session: string,
  commit: string,
  { from, version }: Pick<AppendResult, "from" | "version">,
): Effect.Effect<Range | null, SessionError> =>
  sessions.events(session, { from, to: version }).pipe(
    Stream.filter((recorded) => commitOf(recorded) === commit),
    Stream.filterMap(({ event }) =>
      event._tag === "MessageAppended" ? Option.some(event.index) : Option.none(),
    ),
    Stream.runFold(null as Range | null, (range, index) => ({
      from: Math.min(range?.from ?? index, index),
      to: Math.max(range?.to ?? 0, index + 1),
    })),
  )
