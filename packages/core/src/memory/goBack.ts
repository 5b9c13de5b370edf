/** Going back to an earlier summary, and copying a session as it was. */
import { Effect } from "effect"
import { type CannotFork, fork } from "../history/fork.js"
import { revert, type UnknownSummary } from "../history/revert.js"
import { note } from "../audit/Trail.js"
import { checkCount, checkSession, checkSummary } from "./input.js"
import type { MemoryParts } from "./MemoryParts.js"
import type { AtVersionOptions, MemoryError } from "./MemoryOptions.js"
import { readState } from "./readState.js"
import { unlessKept } from "../shell/Sessions.js"

/** Takes back the commits behind a summary; `null` takes back all of them. */
export const revertTo = (
  { sessions }: Pick<MemoryParts, "sessions">,
  session: string,
  {
    toSummary = null,
    pauseFor = 20,
  }: { readonly toSummary?: string | null; readonly pauseFor?: number } = {},
): Effect.Effect<number, MemoryError | UnknownSummary> =>
  Effect.gen(function* () {
    yield* readState(sessions, session)
    yield* checkCount(session, "pauseFor", pauseFor)
    if (toSummary !== null) yield* checkSummary(session, "toSummary", toSummary)
    return yield* revert(sessions, session, { toSummary, pauseFor, reason: "reverted" })
  })

/**
 * Copies a session, as it is or as it was at a version, to a session that does not exist yet. Returns the version of the copy. An owner who
 * has passed the session on has words in the copy: the trail of that owner names it first, so that an erasure finds it.
 */
export const forkTo = (
  { log, sessions }: Pick<MemoryParts, "log" | "sessions">,
  session: string,
  to: string,
  at: AtVersionOptions = {},
): Effect.Effect<number, MemoryError | CannotFork> =>
  Effect.gen(function* () {
    yield* readState(sessions, session, at)
    yield* checkSession(to)
    yield* unlessKept("append", to)
    return yield* fork(log, sessions, session, {
      to,
      atVersion: at.atVersion,
      ofOthers: (owners) =>
        log.erasure === undefined
          ? Effect.void
          : Effect.forEach(owners, (owner) => note(log, { act: "pass", owner, session: to }), {
              discard: true,
            }),
    })
  })
