/**
 * Rewriting a conversation, for libraries that take messages back or replace them. The log keeps what was said: a rewrite
 * starts the session over with the messages that it is to have, in one batch.
 */
import { Effect, Stream } from "effect"
import type { MessageAppended } from "../event/Event.js"
import { batchIdOf, type RecordedEvent } from "../event/EventCodec.js"
import { makeId } from "../shell/id.js"
import type { Message } from "../message/Message.js"
import type { Service as TokenCounter } from "../message/TokenCounter.js"
import { messageEvents } from "../engine/append.js"
import type { Strategy } from "../policy/Strategy.js"
import { retryTransient } from "../shell/retry.js"
import type { SessionError, Sessions } from "../shell/Sessions.js"
import { empty, type SessionState } from "../session/SessionState.js"
import { counted, IdempotencyKeyReused, isStored } from "./appendMessages.js"
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

/** The messages since the last clear before a version. */
const conversationBefore = (
  events: ReadonlyArray<RecordedEvent>,
  version: number,
): ReadonlyArray<Message> => {
  const before = events.slice(0, version - 1)
  const start = before.findLastIndex(({ event }) => event._tag === "SessionCleared") + 1
  return before.slice(start).flatMap(({ event }) => (event._tag === "MessageAppended" ? [event.message] : []))
}

const same = (one: Message | undefined, other: Message | undefined): boolean =>
  one !== undefined && other !== undefined && isStored([one], [{ message: other }])

/** How many messages two conversations have in common, from the first one. */
const inCommon = (wanted: ReadonlyArray<Message>, messages: ReadonlyArray<Message>): number => {
  const end = wanted.findIndex((message, at) => !same(message, messages[at]))
  return end === -1 ? wanted.length : end
}

/** The events that make the conversation equal to a list of messages. If the list drops or changes a message, it starts over. */
const eventsOf = (
  { counter, strategy }: { readonly counter: TokenCounter; readonly strategy: Strategy },
  state: SessionState,
  wanted: ReadonlyArray<Message>,
  kept: number,
) => {
  const appends = kept === state.total
  const messages = wanted.slice(appends ? kept : 0).map((message) => counted(counter, message))
  const before = appends ? state : empty(state.session)
  // What a repeated message was produced behind may have been a summary that is gone.
  const added = messageEvents(strategy, before, messages).map(({ bound, ...event }): MessageAppended =>
    bound === undefined ? event : { ...event, bound: { tokens: bound.tokens } },
  )
  return appends ? added : [{ _tag: "SessionCleared" } as const, ...added]
}

/**
 * Rewrites a conversation, in one batch, at the version that was read: if another writer was first, `rewrite` runs on what is
 * there then. It reads the whole log. If messages only come at the end, they are appended; otherwise the session starts over
 * with all of its messages, and what summaries covered is compacted again.
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
      const state = yield* sessions.load(session)
      const own = events.filter((recorded) => batchIdOf(recorded) === batchId)
      const [first] = own
      const last = own.at(-1)
      if (first !== undefined && last !== undefined) {
        const before = conversationBefore(events, first.version)
        const after = conversationBefore(events, last.version + 1)
        const wanted = yield* wantedFrom(before)
        const stored = after.map((message) => ({ message }))
        if (wanted === null || !isStored(wanted, stored)) return yield* new IdempotencyKeyReused({ session })
        const kept = inCommon(wanted, before)
        return { rewritten: { applied: true, duplicate: !tried, kept, total: after.length }, state }
      }
      const messages = conversationBefore(events, events.length + 1)
      const wanted = yield* wantedFrom(messages)
      if (wanted === null) {
        const total = messages.length
        return { rewritten: { applied: false, duplicate: false, kept: total, total }, state }
      }
      const kept = inCommon(wanted, messages)
      tried = true
      const done = yield* retryTransient(
        sessions.transact(
          session,
          (now) =>
            now.version === events.length
              ? { events: eventsOf({ counter, strategy }, now, wanted, kept), answer: true }
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
