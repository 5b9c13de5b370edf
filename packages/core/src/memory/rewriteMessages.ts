/**
 * Rewriting a conversation, for libraries that take messages back or replace them. The conversation goes on from the last
 * message that it keeps, in one batch; what was said behind it stays in the log, as a branch.
 */
import { Effect, Stream } from "effect"
import { edited } from "../engine/goBack.js"
import type { Event } from "../event/Event.js"
import { appendedMessage, batchIdOf, type RecordedEvent } from "../event/EventCodec.js"
import type { Guarded, GuardRefused } from "../guard/Guard.js"
import { makeId } from "../shell/id.js"
import { breathe, eventsBetween, inSteps, type Steps } from "@memfold/log/breathe"
import { type Message, type Origin, text as textOf } from "@memfold/message/Message"
import { lowest } from "@memfold/message/Origin"
import type { Strategy } from "../policy/Strategy.js"
import { retryTransient } from "../shell/retry.js"
import type { Answered, Committed, SessionError } from "../shell/Sessions.js"
import { type Gap, isOnBranch } from "../session/branches.js"
import type { SessionState } from "../session/SessionState.js"
import { gapsOf } from "../shell/replay.js"
import { IdempotencyKeyReused, isStored } from "./appendMessages.js"
import { counted, type Entrance, guarded } from "./entrance.js"
import { findSwitch } from "./branching.js"
import { checkCount, checkIdempotencyKey, checkMessages, type InvalidInput } from "./input.js"
import { type MessagePage, newestOf } from "./readMessages.js"

/**
 * Gets the messages of a conversation and returns the messages that it is to have; `null` changes nothing. It may run several
 * times, so it must be a pure function. With `last`, it may get the newest messages only, and what is before them stays; it gets
 * all messages if another writer was first, or to find out what it has done before.
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

export interface RewriteRequest {
  readonly strategy: Strategy
  readonly idempotencyKey?: string | undefined
  /** How many of the newest messages the rewrite gets; all by default. */
  readonly last?: number | undefined
}

type RewriteError = SessionError | InvalidInput | GuardRefused | IdempotencyKeyReused

/** A rewrite under way. The batch of a call is known again if only the answer of the store was lost. */
interface Call {
  readonly batchId: string
  readonly strategy: Strategy
  readonly wantedFrom: (
    messages: ReadonlyArray<Message>,
  ) => Effect.Effect<ReadonlyArray<Guarded> | null, SessionError | InvalidInput | GuardRefused>
}

/** The log of a session, and what was not on the branch that was in force with each event. */
interface ReadLog {
  readonly events: ReadonlyArray<RecordedEvent>
  readonly gaps: ReadonlyArray<ReadonlyArray<Gap>>
}

const conversationAt = ({ events, gaps }: ReadLog, version: number): ReadonlyArray<Message> =>
  events
    .slice(0, version)
    .filter((one) => isOnBranch(gaps[version - 1] ?? [], one.version))
    .flatMap(({ event }) => appendedMessage(event) ?? [])

const same = (one: Guarded, other: Message | undefined): boolean =>
  other !== undefined && isStored([one], [{ message: other }])

const saidBy = (message: Message): string => JSON.stringify([message.role, textOf(message) || message.parts])

/**
 * Messages that come back without their origin, with it: most formats have no place for it, and a document would come back as words of
 * the user.
 */
const withOrigins = (
  wanted: ReadonlyArray<Message>,
  messages: ReadonlyArray<Message>,
): ReadonlyArray<Message> => {
  const origins = new Map<string, Origin>()
  for (const one of messages) {
    if (one.origin === undefined) continue
    const key = saidBy(one)
    origins.set(key, lowest([one.origin, origins.get(key) ?? one.origin])!)
  }
  if (origins.size === 0) return wanted
  return wanted.map((one) => {
    const origin = one.origin ?? origins.get(saidBy(one))
    return origin === one.origin ? one : { ...one, origin: origin! }
  })
}

/** How many messages two conversations have in common, from the first one. */
function* inCommon(wanted: ReadonlyArray<Guarded>, messages: ReadonlyArray<Message>): Steps<number> {
  for (const [at, one] of wanted.entries()) {
    if (at % eventsBetween === 0) yield
    if (!same(one, messages[at])) return at
  }
  return wanted.length
}

/** Nobody says what a rewritten message was produced behind. */
const withoutHead = (event: Event): Event =>
  event._tag === "MessageAppended" && event.bound !== undefined
    ? { ...event, bound: { tokens: event.bound.tokens } }
    : event

/** Writes a rewrite of messages that a state has from an index on; `null` if another writer was first, or the batch is stored. */
const write = (
  { sessions, counter }: Entrance,
  state: SessionState,
  { batchId, strategy }: Call,
  wanted: ReadonlyArray<Guarded>,
  { from, messages }: Pick<MessagePage, "from" | "messages">,
): Effect.Effect<Answered<Rewritten> | null, RewriteError> =>
  Effect.gen(function* () {
    const same = yield* inSteps(() => inCommon(wanted, messages))
    const kept = from + same
    // The log has just shown the message.
    const goBack = yield* Effect.catchTag(
      findSwitch(sessions, state, kept, wanted.length === same),
      "UnknownMessage",
      Effect.die,
    )
    const added = yield* counted(counter, wanted.slice(same))
    const done: Committed<boolean> = yield* retryTransient(
      sessions.transact(
        state.session,
        (now, time) =>
          now.version === state.version
            ? {
                events: edited(now, goBack, { messages: added, strategy, time }).map(withoutHead),
                answer: true,
                ...(goBack === null ? {} : { states: goBack.states }),
              }
            : { events: [], answer: false },
        batchId,
      ),
    )
    if (!done.answer || done.appended?.duplicate === true) return null
    const answer = { applied: true, duplicate: false, kept, total: from + wanted.length }
    return { answer, state: done.state }
  })

const unchanged = (state: SessionState): Answered<Rewritten> => ({
  answer: { applied: false, duplicate: false, kept: state.total, total: state.total },
  state,
})

/** Rewrites a conversation with its whole log, where the batch is found if it was written before. */
const rewriteAll = (
  parts: Entrance,
  session: string,
  call: Call,
  triedBefore: boolean,
): Effect.Effect<Answered<Rewritten>, RewriteError> =>
  Effect.gen(function* () {
    const { sessions } = parts
    const { batchId, wantedFrom } = call
    let tried = triedBefore
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
        const kept = yield* inSteps(() => inCommon(wanted, before))
        return { answer: { applied: true, duplicate: !tried, kept, total: after.length }, state }
      }
      const messages = conversationAt(log, events.length)
      const wanted = yield* wantedFrom(messages)
      if (state.version !== events.length) continue
      if (wanted === null) return unchanged(state)
      tried = true
      const done = yield* write(parts, state, call, wanted, { from: 0, messages })
      if (done !== null) return done
    }
  })

/**
 * Rewrites a conversation, in one batch, at the version that was read: if another writer was first, `rewrite` runs on what is
 * there then. If messages only come at the end, they are appended; otherwise the conversation goes on behind the messages that
 * stay, with the newest summary that covers nothing else.
 *
 * With `last`, only the newest messages are read, and the whole log only if it has to tell whether the rewrite was written before.
 */
export const rewriteMessages = (
  parts: Entrance,
  session: string,
  rewrite: Rewrite,
  { strategy, idempotencyKey, last }: RewriteRequest,
): Effect.Effect<Answered<Rewritten>, RewriteError> =>
  Effect.gen(function* () {
    if (idempotencyKey !== undefined) yield* checkIdempotencyKey(session, idempotencyKey)
    const { sessions } = parts
    const call: Call = {
      batchId: idempotencyKey ?? (yield* makeId),
      strategy,
      wantedFrom: (messages) =>
        // Each step goes through the whole conversation.
        Effect.gen(function* () {
          yield* breathe
          const given = rewrite(messages)
          yield* breathe
          if (given === null) return null
          const wanted = withOrigins(yield* checkMessages(session, given), messages)
          const all = wanted.map((message) => ({ message }))
          const kept = yield* inSteps(() => inCommon(all, messages))
          // What stays as it is was seen by the guard when it was appended.
          const entered = yield* guarded(parts, session, wanted.slice(kept))
          yield* breathe
          return [...all.slice(0, kept), ...entered]
        }),
    }
    if (last === undefined) return yield* rewriteAll(parts, session, call, false)
    yield* checkCount(session, "last", last, 1)
    const state = yield* sessions.load(session)
    const page = yield* newestOf(sessions, state, last)
    const wanted = yield* call.wantedFrom(page.messages)
    if (wanted === null && idempotencyKey === undefined) return unchanged(state)
    const done = wanted === null ? null : yield* write(parts, state, call, wanted, page)
    // The log tells whether the batch is stored, or another writer was first.
    return done ?? (yield* rewriteAll(parts, session, call, idempotencyKey === undefined))
  })
