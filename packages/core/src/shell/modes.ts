/** The modes of compaction: who runs what is due, at a write and when an operation asks for it. */
import { Clock, Effect } from "effect"
import type { Due } from "../engine/look.js"
import type { Strategy } from "../policy/Strategy.js"
import type { SessionState } from "../session/SessionState.js"
import type { CompactionOutcome } from "./CompactionOutcome.js"
import { isGivenUp } from "./dispatch.js"
import type { NextChecks } from "./NextChecks.js"
import type { Outbox } from "./Outbox.js"
import type { CompactionRequest } from "./runCompaction.js"
import type { Scheduler } from "./Scheduler.js"
import type { SessionError, Sessions } from "./Sessions.js"

/** Who runs the compactions that are due: a background fiber, another process, the writing call, only explicit calls, or none. */
export type CompactionMode = "background" | "dispatch" | "inline" | "manual" | "off"

export interface Looked {
  readonly due: Due
  readonly isDue: boolean
  readonly strategy: Strategy
  readonly now: number
}

/** Runs the work that an operation asks for. */
type Worked<A> = (
  work: Effect.Effect<A, SessionError>,
  session: string,
  strategy: Strategy,
) => Effect.Effect<A, SessionError>

export interface Mode {
  /** Whether compactions start by themselves, here or in another process. */
  readonly isAutomatic: boolean
  /** Whether they run behind the call that makes them due, in this process. */
  readonly isInBackground?: true
  /** Starts what is due after a write, or sets the timer for it. */
  readonly written: (looked: Looked) => Effect.Effect<unknown, SessionError>
  readonly due: Worked<ReadonlyArray<CompactionOutcome>>
  /** One compaction. More may have come due meanwhile (law L11): it is checked afterwards. */
  readonly one: Worked<CompactionOutcome>
}

/** What modes work with. `work` runs all that is due, `check` looks at a session as after a write. */
export interface ModeParts {
  readonly sessions: Sessions
  readonly scheduler: Scheduler<CompactionRequest>
  readonly outbox: Outbox | null
  readonly nextChecks: NextChecks
  readonly work: (session: string, strategy: Strategy) => Effect.Effect<unknown, SessionError>
  readonly check: (session: string, strategy: Strategy) => Effect.Effect<void>
  readonly fill: (state: SessionState, strategy: Strategy) => number
}

const off: Mode = {
  isAutomatic: false,
  written: () => Effect.void,
  due: () => Effect.succeed([]),
  one: () => Effect.succeed({ _tag: "Idle", reason: "off" }),
}

const manual = ({ check }: ModeParts): Mode => ({
  ...off,
  due: (work) => work,
  one: (work, session, strategy) => Effect.zipLeft(work, check(session, strategy)),
})

const inline = (parts: ModeParts): Mode => ({
  ...manual(parts),
  isAutomatic: true,
  written: ({ due: { state }, isDue, strategy }) =>
    isDue ? parts.work(state.session, strategy) : Effect.void,
})

/** Sets the timer for what comes due later, unless the session is left. */
const withTimer =
  ({ nextChecks }: ModeParts, isLeft: (session: string) => boolean): Mode["due"] =>
  (work, session, strategy) =>
    Effect.flatMap(Clock.currentTimeMillis, (began) =>
      Effect.tap(work, () =>
        isLeft(session) ? Effect.void : nextChecks.afterIdleRun(session, strategy, began),
      ),
    )

const background = (parts: ModeParts): Mode => ({
  isAutomatic: true,
  isInBackground: true,
  written: ({ due, isDue, strategy }) =>
    // While a compaction runs, the check is passed on too: the scheduler repeats it when that ends.
    isDue || (due._tag === "Nothing" && due.reason === "running")
      ? parts.scheduler.checkSoon(due.state.session, {
          strategy,
          due: due._tag === "Compact" ? due : undefined,
        })
      : parts.nextChecks.afterLook(due, strategy),
  due: withTimer(parts, () => false),
  // Whatever becomes of this compaction.
  one: (work, session, strategy) => Effect.ensuring(work, parts.scheduler.checkNow(session, { strategy })),
})

const dispatch = (parts: ModeParts): Mode => {
  const { outbox, nextChecks, sessions, fill } = parts
  if (outbox === null) return manual(parts)
  const allDue = withTimer(parts, (session) => isGivenUp(sessions.cached(session)))
  return {
    ...manual(parts),
    isAutomatic: true,
    written: ({ due, isDue, strategy, now: time }) =>
      isDue
        ? outbox.send({ session: due.state.session, time, fill: fill(due.state, strategy) })
        : nextChecks.afterLook(due, strategy),
    // A worker's look is done when the queue has the next one: this process may be killed.
    due: (work, session, strategy) =>
      Effect.zipLeft(allDue(work, session, strategy), outbox.delivered(session)),
  }
}

/** The modes by their names. */
export const modes: Readonly<Record<CompactionMode, (parts: ModeParts) => Mode>> = {
  background,
  dispatch,
  inline,
  manual,
  off: () => off,
}
