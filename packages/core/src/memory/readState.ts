/** Reading a session as it is now, or as it was at a version. */
import { Effect, Option, Stream } from "effect"
import type { SessionError, Sessions } from "../shell/Sessions.js"
import type { SessionState } from "../session/SessionState.js"
import { checkCount, checkSession, refuse } from "./input.js"
import type { AtVersionOptions, MemoryError } from "./MemoryOptions.js"

/** The state now, or at a version. It fails for an invalid session id or version, and for a log that cannot be read. */
export const readState = (
  sessions: Sessions,
  session: string,
  { atVersion: at }: AtVersionOptions = {},
): Effect.Effect<SessionState, MemoryError> =>
  Effect.gen(function* () {
    yield* checkSession(session)
    if (at === undefined) return yield* sessions.load(session)
    yield* checkCount(session, "atVersion", at)
    const state = yield* sessions.stateAt(session, at)
    if (state.version >= at) return state
    return yield* refuse(session, `it has no version ${at} yet, it is at version ${state.version}`)
  })

/** When the event at a version was written, in milliseconds since the epoch; `undefined` without a version. */
export const timeOf = (
  sessions: Sessions,
  session: string,
  { atVersion: at }: AtVersionOptions,
): Effect.Effect<number | undefined, SessionError> =>
  at === undefined
    ? Effect.succeed(undefined)
    : sessions.events(session, { fromVersion: at, toVersion: at }).pipe(
        Stream.runHead,
        Effect.map((newest) => Option.getOrUndefined(Option.map(newest, (recorded) => recorded.time))),
      )
