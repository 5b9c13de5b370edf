/** When a session is checked again without a message: at the time that its strategy names, and after failures of the store. */
import { Clock, Duration, Effect } from "effect"
import { pauseAfter } from "../engine/compaction.js"
import type { Due } from "../engine/look.js"
import { nextCheck } from "../policy/decide.js"
import type { Strategy } from "../policy/Strategy.js"
import { logFailures } from "./logBackgroundFailure.js"
import type { CompactionParts, CompactionRequest } from "./runCompaction.js"
import type { Scheduler } from "./Scheduler.js"

/**
 * After a run, the next timer is at least this far away, in milliseconds. A trigger whose time is always now would
 * otherwise be checked without end.
 */
const shortestPause = 1_000

export class NextChecks {
  private readonly failures = new Map<string, number>()

  /** @param checkAt sets the timer of a session */
  constructor(
    private readonly parts: Pick<
      CompactionParts,
      "sessions" | "settings" | "circumstances" | "leases" | "spend"
    >,
    private readonly checkAt: Scheduler<CompactionRequest>["checkAt"],
  ) {}

  /** Sets the timer for what comes due without a message; not before `earliest`, in milliseconds since the epoch. */
  afterLook(due: Due, strategy: Strategy, earliest = 0): Effect.Effect<void> {
    return due._tag === "Compact" || due.lookAgainAt === null
      ? Effect.void
      : this.checkAt(due.state.session, { strategy }, Math.max(due.lookAgainAt, earliest))
  }

  afterRun(due: Due, strategy: Strategy, now: number): Effect.Effect<void> {
    this.failures.delete(due.state.session)
    return this.afterLook(due, strategy, now + shortestPause)
  }

  /** Sets the timer after a run that left nothing due when it began: something may have come due since then. */
  afterIdleRun(session: string, strategy: Strategy, began: number): Effect.Effect<void> {
    const { sessions, circumstances, leases, spend } = this.parts
    return Effect.gen(this, function* () {
      this.failures.delete(session)
      const state = yield* sessions.load(session)
      const now = yield* Clock.currentTimeMillis
      const lockedUntil = leases.until(state, now)
      const time = nextCheck(strategy, state, { ...circumstances, now: began, lockedUntil })
      const waitsUntil = spend.waitsUntil(session)
      // The work that a cap holds up is due, and waits for the next day.
      if (waitsUntil > now) yield* this.checkAt(session, { strategy }, waitsUntil)
      else if (time !== null) yield* this.checkAt(session, { strategy }, Math.max(time, now + shortestPause))
    }).pipe(
      Effect.catchAll(() => this.afterFailure(session, strategy)),
      logFailures(session),
    )
  }

  /** Sets the timer after a run that could not be done. The store may be back later, and no append need come to find out. */
  afterFailure(session: string, strategy: Strategy): Effect.Effect<void> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const before = this.failures.get(session) ?? 0
      this.failures.set(session, before + 1)
      const pause = pauseAfter(Duration.toMillis(this.parts.settings.backOff), before)
      return this.checkAt(session, { strategy }, now + pause)
    })
  }

  forget(session: string): void {
    this.failures.delete(session)
  }
}
