/** Appending a batch of messages, and the answer to the caller. */
import { Effect, Metric, Option, Stream } from "effect"
import { batchIdOf } from "../event/EventCodec.js"
import { makeId } from "../event/id.js"
import type { AppendResult } from "../log/EventLog.js"
import type { Message } from "../message/Message.js"
import { ofMessage, type Service as TokenCounter } from "../message/TokenCounter.js"
import * as metrics from "../observe/metrics.js"
import { messageEvents } from "../policy/messageEvents.js"
import type { Strategy } from "../policy/Strategy.js"
import type { Committed, SessionError, Sessions } from "../session/Sessions.js"
import type { AppendedMessages } from "./MemoryService.js"

/** The message indexes `[from, to)`. */
type Range = Pick<AppendedMessages, "from" | "to">

/**
 * Counts messages and appends them, all or none. With an idempotency key that was used before, nothing is written, and
 * the answer is the range of the first append.
 */
export const appendMessages = (
  { sessions, counter }: { readonly sessions: Sessions; readonly counter: TokenCounter },
  session: string,
  messages: ReadonlyArray<Message>,
  { strategy, idempotencyKey }: { readonly strategy: Strategy; readonly idempotencyKey: string | undefined },
): Effect.Effect<Committed<Range>, SessionError> =>
  Effect.gen(function* () {
    const batchId = idempotencyKey ?? (yield* makeId)
    const counted = messages.map((message) => ({ message, tokens: ofMessage(counter, message) }))
    for (;;) {
      const done = yield* sessions.transact(
        session,
        (before) => ({
          events: messageEvents(strategy, before, counted),
          answer: { from: before.total, to: before.total + counted.length },
        }),
        { batchId },
      )
      if (done.appended?.duplicate !== true) return done
      const range = yield* rangeOf(sessions, session, batchId, done.appended)
      if (range !== null) return { ...done, answer: range }
      // The session was deleted in between, and the first append with it: now this one is the first.
    }
  })

/** The answer to the caller. Counts the append. */
export const describeAppend = ({
  answer,
  appended,
  state,
}: Committed<Range>): Effect.Effect<AppendedMessages> => {
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
  batchId: string,
  { fromVersion, version }: Pick<AppendResult, "fromVersion" | "version">,
): Effect.Effect<Range | null, SessionError> =>
  sessions.events(session, { fromVersion, toVersion: version }).pipe(
    Stream.filter((recorded) => batchIdOf(recorded) === batchId),
    Stream.filterMap(({ event }) =>
      event._tag === "MessageAppended" ? Option.some(event.index) : Option.none(),
    ),
    Stream.runFold(null as Range | null, (range, index) => ({
      from: Math.min(range?.from ?? index, index),
      to: Math.max(range?.to ?? 0, index + 1),
    })),
  )
