/**
 * When to compact. A trigger only says *whether*; what stays and how much goes are separate questions.
 */
import { Duration } from "effect"
import type { PolicyInput } from "./PolicyInput.js"

/** What a trigger sees: the session, and where its tail begins. Between `coveredTo` and there lies the backlog. */
export interface TriggerInput extends PolicyInput {
  readonly tailFrom: number
}

export interface Trigger {
  /** Answers with the reason to compact now, or `null`. */
  readonly due: (view: TriggerInput) => string | null
  /**
   * From when on it is due if nobody says anything until then, in milliseconds since the epoch; `null` if time brings
   * nothing about. It is a time of the session's, and does not move with `now`. A memory that compacts in the background
   * looks at the session again at that time. A trigger without it is found due by appends and by `compactDue` alone.
   */
  readonly dueTime?: (view: TriggerInput) => number | null
}

/** An amount of messages, tokens or complete rounds. Of several, any one reached is enough. */
export interface Amount {
  readonly messages?: number
  readonly tokens?: number
  readonly turns?: number
}

const reached = (amount: Amount, view: PolicyInput, to: number): boolean =>
  to - view.coveredTo >= (amount.messages ?? Number.POSITIVE_INFINITY) ||
  view.tokens(view.coveredTo, to) >= (amount.tokens ?? Number.POSITIVE_INFINITY) ||
  view.completeTurnsTo(to) >= (amount.turns ?? Number.POSITIVE_INFINITY)

/** The backlog (neither covered nor in the tail) has reached the amount. */
export const backlog = (amount: Amount, reason = "backlog"): Trigger => ({
  due: (view) => (reached(amount, view, view.tailFrom) ? reason : null),
})

/** All raw messages together, the tail included, have reached the amount. */
export const uncovered = (amount: Amount, reason = "uncovered"): Trigger => ({
  due: (view) => (reached(amount, view, view.total) ? reason : null),
})

/** The next context takes more than this many tokens. */
export const contextAbove = (tokens: number, reason = "context"): Trigger => ({
  due: (view) => (view.contextTokens > tokens ? reason : null),
})

/**
 * Something is in the backlog, and so much time has passed since the last compaction ended (before the first:
 * since the first message).
 */
export const cooldown = (duration: Duration.DurationInput, reason = "cooldown"): Trigger => {
  const millis = Duration.toMillis(duration)
  return {
    due: (view) =>
      view.tailFrom > view.coveredTo && view.now - view.lastCompactionTime >= millis ? reason : null,
    dueTime: (view) => (view.tailFrom > view.coveredTo ? view.lastCompactionTime + millis : null),
  }
}

/**
 * Something is in the backlog, and nobody has said anything for so long.
 *
 * No message brings this about. A memory that compacts in the background keeps the time for the sessions it has
 * written to; for those that a stopped process left behind, call `compactDue` now and then, from a nightly job.
 */
export const idle = (duration: Duration.DurationInput, reason = "idle"): Trigger => {
  const millis = Duration.toMillis(duration)
  return {
    due: (view) =>
      view.tailFrom > view.coveredTo && view.now - view.lastMessageTime >= millis ? reason : null,
    dueTime: (view) => (view.tailFrom > view.coveredTo ? view.lastMessageTime + millis : null),
  }
}

/** No tool call waits for its result. With {@link all}, it keeps another trigger from going off within one. */
export const callsAnswered: Trigger = { due: ({ openCalls }) => (openCalls === 0 ? "calls-answered" : null) }

/** The first of them that is due gives the reason. */
export const any = (...triggers: ReadonlyArray<Trigger>): Trigger => ({
  due: (view) => {
    for (const trigger of triggers) {
      const reason = trigger.due(view)
      if (reason !== null) return reason
    }
    return null
  },
  dueTime: (view) => {
    const times = triggers.flatMap((trigger) => trigger.dueTime?.(view) ?? [])
    const later = times.filter((time) => time > view.now)
    return later.length === 0 ? null : Math.min(...later)
  },
})

/** Due when every one of them is. The reasons are joined with `+`. */
export const all = (...triggers: ReadonlyArray<Trigger>): Trigger => ({
  due: (view) => {
    const reasons = triggers.map((trigger) => trigger.due(view))
    return reasons.every((reason) => reason !== null) && reasons.length > 0 ? reasons.join("+") : null
  },
  dueTime: (view) => {
    const waitsFor = triggers.filter((trigger) => trigger.due(view) === null)
    const times = waitsFor.flatMap((trigger) => trigger.dueTime?.(view) ?? [])
    return times.length === 0 || times.length < waitsFor.length ? null : Math.max(...times)
  },
})

/** Never by itself; compaction on demand still works. */
export const never: Trigger = { due: () => null }
