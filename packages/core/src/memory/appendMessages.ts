/** Appending a batch of messages, and the answer to the caller. */
import { Effect, Exit, Schema, Stream } from "effect"
import type { MessageAppended } from "../event/Event.js"
import { batchIdOf } from "../event/EventCodec.js"
import type { Guarded, GuardRefused } from "../guard/Guard.js"
import { withoutText } from "../history/redact.js"
import { sameText } from "../layers/inTime.js"
import type { AppendResult } from "@memfold/log/EventLog"
import type { Message, Origin } from "@memfold/message/Message"
import { appended } from "../engine/append.js"
import { headOf } from "../render/Render.js"
import type { Strategy } from "../policy/Strategy.js"
import { changesOwner, type DescriptionChange } from "../session/description.js"
import type { Prefix } from "../session/prefix.js"
import type { SessionState } from "../session/SessionState.js"
import { counted, type Entrance, guarded, guardedTitle } from "./entrance.js"
import type { MemoryParts } from "./MemoryParts.js"
import type { Answered, Decide, SessionError, Sessions } from "../shell/Sessions.js"
import {
  checkCount,
  checkDescription,
  checkIdempotencyKey,
  copyMessages,
  checkOrigin,
  checkPrefix,
  type InvalidInput,
} from "./input.js"
import type { AppendedMessages } from "./MemoryOptions.js"

/** The idempotency key was used before for other messages. Nothing was appended. */
export class IdempotencyKeyReused extends Schema.TaggedError<IdempotencyKeyReused>()("IdempotencyKeyReused", {
  session: Schema.String,
}) {
  override get message(): string {
    return `Session "${this.session}": the idempotency key was used before for other messages; nothing was appended. Use a new key for each append`
  }
}

/**
 * An append names an owner, and the session belongs to another one. This append wrote nothing. Only `describe` changes the owner
 * of a session that has one.
 */
export class OwnerMismatch extends Schema.TaggedError<OwnerMismatch>()("OwnerMismatch", {
  session: Schema.String,
}) {
  /** The session and what to do, in words. The owner is not named: the caller may be somebody else. */
  override get message(): string {
    return `Session "${this.session}" belongs to another owner; this append wrote nothing. Leave out "owner", or change it with describe first`
  }
}

/**
 * A write names a version, and the session is at another one: somebody else has written, or a compaction has. Nothing was written.
 */
export class VersionMismatch extends Schema.TaggedError<VersionMismatch>()("VersionMismatch", {
  session: Schema.String,
  version: Schema.Number,
  expected: Schema.Number,
}) {
  override get message(): string {
    return `Session "${this.session}" is at version ${this.version}, not ${this.expected}; nothing was written. Read it again, and decide again`
  }
}

/** The mismatch between a state and the version that a write names; `null` without one. */
export const mismatchOf = (
  { session, version }: Pick<SessionState, "session" | "version">,
  expected: number | undefined,
): VersionMismatch | null =>
  expected === undefined || expected === version ? null : new VersionMismatch({ session, version, expected })

/** The arguments of an append besides the messages, as the caller gave them. */
export interface AppendArguments extends DescriptionChange {
  readonly idempotencyKey?: string | undefined
  readonly prefix?: Prefix | undefined
  readonly ifVersion?: number | undefined
  /** Who stands behind the words of messages that do not say it themselves. */
  readonly origin?: Origin | undefined
}

/** Checks the arguments of an append, and copies its messages; the effect that it gives checks these, in steps. */
export const checkAppend = (
  session: string,
  given: unknown,
  options: AppendArguments,
): Exit.Exit<Effect.Effect<ReadonlyArray<Message>, InvalidInput>, InvalidInput> => {
  const wrong = [
    options.idempotencyKey === undefined ? Exit.void : checkIdempotencyKey(session, options.idempotencyKey),
    options.prefix === undefined ? Exit.void : checkPrefix(session, options.prefix),
    options.ifVersion === undefined ? Exit.void : checkCount(session, "ifVersion", options.ifVersion),
    checkDescription(session, options),
    options.origin === undefined ? Exit.void : checkOrigin(session, options.origin),
  ].find(Exit.isFailure)
  if (wrong !== undefined) return Exit.failCause(wrong.cause)
  const { origin } = options
  return origin === undefined
    ? copyMessages(session, given)
    : Exit.map(
        copyMessages(session, given),
        Effect.map((messages) => messages.map((one) => ({ ...one, origin: one.origin ?? origin }))),
      )
}

/** The messages `[from, to)` of a conversation. */
type Range = Pick<AppendedMessages, "from" | "to">

/**
 * Checks and counts messages, and appends them, all or none. With an idempotency key that was used before, nothing is written, and the
 * answer is the range of the first append. It fails with {@link IdempotencyKeyReused} if that append had other messages, with
 * {@link OwnerMismatch} if it names another owner than the session has, and with {@link VersionMismatch} if it names another version.
 *
 * What the messages answer comes from the caller, as the prefix of a context, or from the log: then it is the context without
 * anything that was recalled.
 */
export const appendMessages = (
  parts: Entrance & Pick<MemoryParts, "layers" | "styleOf">,
  session: string,
  given: unknown,
  request: AppendArguments & { readonly strategy: Strategy },
): Effect.Effect<
  Answered<AppendedMessages>,
  SessionError | InvalidInput | GuardRefused | IdempotencyKeyReused | OwnerMismatch | VersionMismatch
> =>
  Effect.gen(function* () {
    const { sessions, counter, layers, styleOf } = parts
    const checked = yield* checkAppend(session, given, request)
    const { strategy, idempotencyKey, prefix, ifVersion, origin: _origin, ...described } = request
    const description = yield* guardedTitle(parts, session, described)
    let messages: ReadonlyArray<Guarded> = []
    for (;;) {
      const done = yield* sessions.transact(
        session,
        // In its turn: while a long list is checked, guarded and counted, no later append of the session overtakes it.
        checked.pipe(
          Effect.flatMap((list) => guarded(parts, session, list, description.owner)),
          Effect.tap((list) => Effect.sync(() => void (messages = list))),
          Effect.flatMap((list) => counted(counter, list)),
          Effect.map((added): Decide<Range | OwnerMismatch | VersionMismatch> => (before, now) => {
            // Without events, the state is read from the store first: a cached one may not know the owner or the version of now.
            if (changesOwner(before.description, description))
              return { events: [], answer: new OwnerMismatch({ session }) }
            const mismatch = mismatchOf(before, ifVersion)
            if (mismatch !== null) return { events: [], answer: mismatch }
            return {
              events: appended(before, added, {
                strategy,
                description,
                origin: () => ({
                  prefix,
                  // Which facts were recalled, only the context knows.
                  head: layers === null ? headOf(before, styleOf(strategy, before, now)) : undefined,
                }),
              }),
              answer: { from: before.total, to: before.total + added.length },
            }
          }),
        ),
        idempotencyKey,
      )
      const { answer, state } = done
      // Without a key, a duplicate only says that the answer of the store had been lost: this append wrote the batch.
      if (idempotencyKey === undefined || (!(answer instanceof Error) && done.appended?.duplicate !== true)) {
        if (answer instanceof Error) return yield* answer
        return {
          answer: { ...answer, version: done.appended?.version ?? state.version, duplicate: false },
          state,
        }
      }
      // A retry is answered as the first append, whoever the session belongs to since, and whatever came behind it.
      const stored =
        answer instanceof Error
          ? ((yield* batchOf(sessions, session, idempotencyKey, ifVersion)) ?? (yield* answer))
          : done.appended!
      const first = yield* appendedBy(sessions, session, idempotencyKey, stored)
      // The session was deleted in between, and the first append with it: now this one is the first.
      if (first === null) continue
      if (!isStored(messages, first)) return yield* new IdempotencyKeyReused({ session })
      const from = first[0]?.index ?? 0
      const { version: written, duplicate } = stored
      return { answer: { from, to: from + first.length, version: written, duplicate }, state }
    }
  })

/** Where a batch is in the log; `null` if it is not. The log is read from its end, and no further than behind a version. */
export const batchOf = (
  sessions: Sessions,
  session: string,
  batchId: string,
  behind = 0,
): Effect.Effect<AppendResult | null, SessionError> =>
  sessions.events(session, { fromVersion: behind + 1, reverse: true }).pipe(
    Stream.dropWhile((recorded) => batchIdOf(recorded) !== batchId),
    Stream.takeWhile((recorded) => batchIdOf(recorded) === batchId),
    Stream.runFold(null as AppendResult | null, (found, { version }) => ({
      fromVersion: version,
      version: found?.version ?? version,
      duplicate: true,
    })),
  )

/** The messages that a batch appended, with their indexes; `null` if the batch is not in the log. */
export const appendedBy = (
  sessions: Sessions,
  session: string,
  batchId: string,
  { fromVersion, version }: Pick<AppendResult, "fromVersion" | "version">,
): Effect.Effect<ReadonlyArray<Pick<MessageAppended, "index" | "message">> | null, SessionError> =>
  sessions.events(session, { fromVersion, toVersion: version }).pipe(
    Stream.filter((recorded) => batchIdOf(recorded) === batchId),
    Stream.runCollect,
    Effect.map((recorded) =>
      recorded.length === 0
        ? null
        : Array.from(recorded).flatMap(({ event }) => (event._tag === "MessageAppended" ? [event] : [])),
    ),
  )

/** A message as text, whatever the order of its fields. Pins are left out: the strategy may have pinned the stored message. */
const written = ({ pinned: _pinned, ...message }: Message): string => sameText(message)

/** Whether messages equal the stored ones. A stored message may have been redacted since. */
export const isStored = (
  given: ReadonlyArray<Guarded>,
  stored: ReadonlyArray<Pick<MessageAppended, "message">>,
): boolean =>
  given.length === stored.length &&
  given.every(({ message }, position) => {
    const there = written(stored[position]!.message)
    return there === written(message) || there === written(withoutText(message))
  })
