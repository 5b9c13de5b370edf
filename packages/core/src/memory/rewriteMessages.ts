/**
 * Rewriting a conversation, for libraries that take messages back or replace them. The conversation goes on from the last
 * message that it keeps, in one batch; what was said behind it stays in the log, as a branch.
 */
import { Effect, Stream } from "effect"
import { edited } from "../engine/goBack.js"
import type { Event } from "../event/Event.js"
import { batchIdOf, type RecordedEvent, unreadable } from "../event/EventCodec.js"
import { makeId } from "../shell/id.js"
import type { Message } from "../message/Message.js"
import type { Service as TokenCounter } from "../message/TokenCounter.js"
import type { Strategy } from "../policy/Strategy.js"
import { retryTransient } from "../shell/retry.js"
import type { Committed, SessionError, Sessions } from "../shell/Sessions.js"
import { type Gap, isOnBranch } from "../session/branches.js"
import type { SessionState } from "../session/SessionState.js"
import { gapsOf } from "../shell/replay.js"
import { counted, IdempotencyKeyReused, isStored } from "./appendMessages.js"
import { findSwitch } from "./branching.js"
import { checkMessages, type InvalidInput } from "./input.js"

/**
 * Gets the messages of a conversation and returns the messages that it is to have; `null` changes nothing. It may run several
 * times, so it must be a pure function.
 */
export type Rewrite = (messages: ReadonlyArray<Message>) => ReadonlyArray<Message> | null

/** What became of a rewrite. */
export interface Rewritten {
  /** Whether the conversation is as asked for: `false` if the rewrite returned `null`. */
  readonly applied: boolean
  /** Whether the idempotency key had been used before for the same rewrite; nothing was written then. */
  readonly duplicate: boolean
  /** How many messages the conversation had in common before and after, from the first one. */
  readonly kept: number
  /** How many messages it has. */
  readonly total: number
}

/** How a conversation is rewritten. */
export interface RewriteRequest {
  readonly strategy: Strategy
  readonly idempotencyKey: string | undefined
}

/** The log of a session, and what was not on the branch that was in force with each event. */
interface ReadLog {
  readonly events: ReadonlyArray<RecordedEvent>
  readonly gaps: ReadonlyArray<ReadonlyArray<Gap>>
}

/** The messages of the conversation at a version. */
const conversationAt = ({ events, gaps }: ReadLog, version: number): ReadonlyArray<Message> =>
  events
    .slice(0, version)
    .filter((one) => isOnBranch(gaps[version - 1] ?? [], one.version))
    .flatMap(({ event }) => {
      if (event._tag === "DamagedMessage") return [unreadable]
      return event._tag === "MessageAppended" ? [event.message] : []
    })

const same = (one: Message | undefined, other: Message | undefined): boolean =>
  one !== undefined && other !== undefined && isStored([one], [{ message: other }])

/** How many messages two conversations have in common, from the first one. */
const inCommon = (wanted: ReadonlyArray<Message>, messages: ReadonlyArray<Message>): number => {
  const end = wanted.findIndex((message, at) => !same(message, messages[at]))
  return end === -1 ? wanted.length : end
}

/** Nobody says what a rewritten message was produced behind. */
const withoutHead = (event: Event): Event =>
  event._tag === "MessageAppended" && event.bound !== undefined
    ? { ...event, bound: { tokens: event.bound.tokens } }
    : event

/**
 * Rewrites a conversation, in one batch, at the version that was read: if another writer was first, `rewrite` runs on what is
 * there then. It reads the whole log. If messages only come at the end, they are appended; otherwise the conversation goes on
 * behind the messages that stay, with the newest summary that covers nothing else.
 */
export const rewriteMessages = (
  { sessions, counter }: { readonly sessions: Sessions; readonly counter: TokenCounter },
  session: string,
  rewrite: Rewrite,
  { strategy, idempotencyKey }: RewriteRequest,
): Effect.Effect<
  { readonly rewritten: Rewritten; readonly state: SessionState },
  SessionError | InvalidInput | IdempotencyKeyReused
> =>
  Effect.gen(function* () {
    const wantedFrom = (messages: ReadonlyArray<Message>) =>
      Effect.flatMap(
        Effect.sync(() => rewrite(messages)),
        (wanted) => (wanted === null ? Effect.succeed(null) : checkMessages(session, wanted)),
      )
    // A batch of this call is known again if only the answer of the store was lost.
    const batchId = idempotencyKey ?? (yield* makeId)
    let tried = false
    for (;;) {
      const events = Array.from(yield* Stream.runCollect(sessions.events(session)))
      const log = { events, gaps: yield* gapsOf(session, events) }
      const state = yield* sessions.load(session)
      const own = events.filter((recorded) => batchIdOf(recorded) === batchId)
      const [first] = own
      const last = own.at(-1)
      if (first !== undefined && last !== undefined) {
        const before = conversationAt(log, first.version - 1)
        const after = conversationAt(log, last.version)
        const wanted = yield* wantedFrom(before)
        const stored = after.map((message) => ({ message }))
        if (wanted === null || !isStored(wanted, stored)) return yield* new IdempotencyKeyReused({ session })
        const kept = inCommon(wanted, before)
        return { rewritten: { applied: true, duplicate: !tried, kept, total: after.length }, state }
      }
      const messages = conversationAt(log, events.length)
      const wanted = yield* wantedFrom(messages)
      if (wanted === null) {
        const total = messages.length
        return { rewritten: { applied: false, duplicate: false, kept: total, total }, state }
      }
      const kept = inCommon(wanted, messages)
      if (state.version !== events.length) continue
      // The log has just shown the message.
      const goBack = yield* Effect.catchTag(findSwitch(sessions, state, kept), "UnknownMessage", Effect.die)
      const added = wanted.slice(kept).map((message) => counted(counter, message))
      tried = true
      const done: Committed<boolean> = yield* retryTransient(
        sessions.transact(
          session,
          (now, time) =>
            now.version === events.length
              ? {
                  events: edited(now, goBack, { messages: added, strategy, time }).map(withoutHead),
                  answer: true,
                  ...(goBack === null ? {} : { states: goBack.states }),
                }
              : { events: [], answer: false },
          batchId,
        ),
      )
      // Another writer was first, or an earlier try was stored and only its answer was lost: look again.
      if (!done.answer || done.appended?.duplicate === true) continue
      const rewritten = { applied: true, duplicate: false, kept, total: wanted.length }
      return { rewritten, state: done.state }
    }
  })
