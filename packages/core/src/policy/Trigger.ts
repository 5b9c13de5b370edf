/**
 * Triggers: when a compaction is due. What stays and how much goes are decided by `Keep` and `BatchSize`.
 */
import { Duration, Schema } from "effect"
import {
  amount as amountOption,
  checkArguments,
  duration as durationOption,
  exactly,
  option,
} from "../options/OptionGroup.js"
import { triggers as triggersOption } from "./parts.js"
import type { PolicyInput } from "./PolicyInput.js"

/** The input of a trigger. The backlog is the messages `[coveredTo, tailFrom)`. */
export interface TriggerInput extends PolicyInput {
  /** The message index where the tail starts. */
  readonly tailFrom: number
}

/**
 * The trigger of a strategy: one of this module, or your own.
 *
 * @example
 * ```ts
 * import type { Trigger } from "@memfold/core"
 *
 * // Due when no tool call is open and the backlog has 10 messages.
 * export const mine: Trigger.Trigger = {
 *   due: ({ openCalls, tailFrom, coveredTo }) => (openCalls === 0 && tailFrom - coveredTo >= 10 ? "mine" : null),
 * }
 * ```
 */
export interface Trigger {
  /** Returns the reason to compact now, which is recorded with the compaction, or `null` if it is not due. */
  readonly due: (input: TriggerInput) => string | null
  /**
   * Returns when the trigger becomes due if no message comes before, in milliseconds since the epoch; `null` if it
   * never becomes due by time alone. The result must not depend on `now`, or the time would never come. A memory that
   * compacts in the background checks the session again at that time. Without `dueTime`, only appends and `compact`
   * find the trigger due.
   */
  readonly dueTime?: (input: TriggerInput) => number | null
  /**
   * Returns whether compactions that take this many tokens of messages gain too little: the trigger would be due again at once,
   * and nearly nothing would be saved. They wait then until there is more to take. Asked only while the trigger is due;
   * without it, every compaction gains enough.
   */
  readonly gainsTooLittle?: (input: TriggerInput, taken: number) => boolean
}

/** An amount of messages, tokens or complete turns. If several are given, reaching one of them is enough. */
export interface Amount {
  readonly messages?: number
  readonly tokens?: number
  readonly turns?: number
}

const one = Schema.optional(amountOption)

const reachable = option(
  exactly({ messages: one, tokens: one, turns: one }),
  "an object like { messages: 20 }, with messages, tokens or turns, each a number, 0 or more",
)

const reached = (amount: Amount, input: PolicyInput, to: number): boolean =>
  to - input.coveredTo >= (amount.messages ?? Number.POSITIVE_INFINITY) ||
  input.tokens(input.coveredTo, to) >= (amount.tokens ?? Number.POSITIVE_INFINITY) ||
  input.completeTurnsTo(to) >= (amount.turns ?? Number.POSITIVE_INFINITY)

/**
 * Due when the backlog has reached the amount. The backlog is the messages that are neither covered nor in the tail.
 *
 * @param amount - How much has to be in the backlog.
 * @param reason - The reason that is recorded with the compaction.
 * @throws InvalidOption: an argument is missing, or not allowed
 *
 * @example
 * ```ts
 * import { Trigger } from "@memfold/core"
 *
 * export const when = Trigger.backlog({ messages: 20, tokens: 4_000 })
 * ```
 */
export const backlog = (amount: Amount, reason = "backlog"): Trigger => {
  checkArguments("Trigger.backlog", { amount: reachable }, { amount })
  return { due: (input) => (reached(amount, input, input.tailFrom) ? reason : null) }
}

/**
 * Due when all uncovered messages, including the tail, have reached the amount.
 *
 * @param amount - How much has to be uncovered.
 * @param reason - The reason that is recorded with the compaction.
 * @throws InvalidOption: an argument is missing, or not allowed
 *
 * @example
 * ```ts
 * import { Trigger } from "@memfold/core"
 *
 * export const when = Trigger.uncovered({ turns: 7 })
 * ```
 */
export const uncovered = (amount: Amount, reason = "uncovered"): Trigger => {
  checkArguments("Trigger.uncovered", { amount: reachable }, { amount })
  return { due: (input) => (reached(amount, input, input.total) ? reason : null) }
}

/** The part of the limit that a compaction takes at the least if the context stays above the limit. */
const leastGain = 1 / 16

/**
 * Due when the next context takes more than this many tokens. Where no compaction can bring the context below them, because tools,
 * instructions, pinned messages or the tail take the room, it waits until there is a sixteenth of them to take.
 *
 * @param tokens - The largest context that is not due. Use the model's window less the room for its answer.
 * @param reason - The reason that is recorded with the compaction.
 * @throws InvalidOption: an argument is missing, or not allowed
 *
 * @example
 * ```ts
 * import { Trigger } from "@memfold/core"
 *
 * export const when = Trigger.contextAbove(100_000)
 * ```
 */
export const contextAbove = (tokens: number, reason = "context"): Trigger => {
  checkArguments("Trigger.contextAbove", { tokens: amountOption }, { tokens })
  return {
    due: (input) => (input.contextTokens > tokens ? reason : null),
    gainsTooLittle: (input, taken) => input.contextTokens - taken > tokens && taken < tokens * leastGain,
  }
}

/** Due when the backlog is not empty and a duration has passed since a time. */
const passed = (
  part: string,
  duration: Duration.DurationInput,
  reason: string,
  since: (input: PolicyInput) => number,
): Trigger => {
  checkArguments(part, { duration: durationOption() }, { duration })
  const millis = Duration.toMillis(duration)
  return {
    due: (input) => (input.tailFrom > input.coveredTo && input.now - since(input) >= millis ? reason : null),
    dueTime: (input) => (input.tailFrom > input.coveredTo ? since(input) + millis : null),
  }
}

/**
 * Due when the backlog is not empty and this much time has passed since the last successful compaction. Before the
 * first one, the time counts from the first message.
 *
 * @param duration - Milliseconds, or a duration such as `"15 minutes"`.
 * @param reason - The reason that is recorded with the compaction.
 * @throws InvalidOption: an argument is missing, or not allowed
 *
 * @example
 * ```ts
 * import { Trigger } from "@memfold/core"
 *
 * export const when = Trigger.any(Trigger.backlog({ messages: 12 }), Trigger.cooldown("15 minutes"))
 * ```
 */
export const cooldown = (duration: Duration.DurationInput, reason = "cooldown"): Trigger =>
  passed("Trigger.cooldown", duration, reason, ({ lastCompactionTime }) => lastCompactionTime)

/**
 * Due when the backlog is not empty and no message has come for this long.
 *
 * A memory that compacts in the background sets a timer for each session that it has written to. For the sessions of a
 * stopped process, call `compact` with `which: "due"` regularly, for instance from a nightly job.
 *
 * @param duration - Milliseconds, or a duration such as `"8 hours"`.
 * @param reason - The reason that is recorded with the compaction.
 * @throws InvalidOption: an argument is missing, or not allowed
 *
 * @example
 * ```ts
 * import { Trigger } from "@memfold/core"
 *
 * export const when = Trigger.idle("8 hours")
 * ```
 */
export const idle = (duration: Duration.DurationInput, reason = "idle"): Trigger =>
  passed("Trigger.idle", duration, reason, ({ lastMessageTime }) => lastMessageTime)

/**
 * Due when every tool call has its result. Combine it with {@link all}, so another trigger does not fire between a
 * call and its result.
 *
 * @example
 * ```ts
 * import { Trigger } from "@memfold/core"
 *
 * export const when = Trigger.all(Trigger.contextAbove(100_000), Trigger.callsAnswered)
 * ```
 */
export const callsAnswered: Trigger = { due: ({ openCalls }) => (openCalls === 0 ? "calls-answered" : null) }

/**
 * Due when at least one of the triggers is. The first trigger that is due gives the reason.
 *
 * @throws InvalidOption: an argument is not allowed
 *
 * @example
 * ```ts
 * import { Trigger } from "@memfold/core"
 *
 * export const when = Trigger.any(Trigger.backlog({ messages: 200 }), Trigger.idle("8 hours"))
 * ```
 */
export const any = (...triggers: ReadonlyArray<Trigger>): Trigger => {
  checkArguments("Trigger.any", { triggers: triggersOption }, { triggers })
  return {
    due: (input) => {
      for (const trigger of triggers) {
        const reason = trigger.due(input)
        if (reason !== null) return reason
      }
      return null
    },
    dueTime: (input) => {
      const times = triggers.flatMap((trigger) => trigger.dueTime?.(input) ?? [])
      const later = times.filter((time) => time > input.now)
      return later.length === 0 ? null : Math.min(...later)
    },
    gainsTooLittle: (input, taken) =>
      triggers
        .filter((trigger) => trigger.due(input) !== null)
        .every((trigger) => trigger.gainsTooLittle?.(input, taken) === true),
  }
}

/**
 * Due when all of the triggers are; never due without triggers. The reasons are joined with `+`.
 *
 * @throws InvalidOption: an argument is not allowed
 *
 * @example
 * ```ts
 * import { Trigger } from "@memfold/core"
 *
 * export const when = Trigger.all(Trigger.backlog({ messages: 20 }), Trigger.idle("10 minutes"))
 * ```
 */
export const all = (...triggers: ReadonlyArray<Trigger>): Trigger => {
  checkArguments("Trigger.all", { triggers: triggersOption }, { triggers })
  return {
    due: (input) => {
      const reasons = triggers.map((trigger) => trigger.due(input))
      return reasons.every((reason) => reason !== null) && reasons.length > 0 ? reasons.join("+") : null
    },
    dueTime: (input) => {
      const waitsFor = triggers.filter((trigger) => trigger.due(input) === null)
      const times = waitsFor.flatMap((trigger) => trigger.dueTime?.(input) ?? [])
      return times.length === 0 || times.length < waitsFor.length ? null : Math.max(...times)
    },
    gainsTooLittle: (input, taken) =>
      triggers.some((trigger) => trigger.gainsTooLittle?.(input, taken) === true),
  }
}

/** Never due. `compact` still compacts on demand. */
export const never: Trigger = { due: () => null }
