/**
 * Keep rules: they say where the tail starts. The tail is never compacted (law L2). The engine moves its start back to
 * the nearest group boundary, so a tail can be longer than the rule asks for, but never shorter.
 */
import { amount, checkArguments, countFrom } from "../options/OptionGroup.js"
import { keeps as keepsOption } from "./parts.js"
import type { PolicyInput } from "./PolicyInput.js"

/** The keep rule of a strategy: one of this module, or your own. */
export interface Keep {
  /** The rule in words, for people. */
  readonly describe: string
  /** Returns the message index where the tail starts. Below `coveredTo`, the tail has every uncovered message. */
  readonly from: (input: PolicyInput) => number
}

/**
 * Keeps the newest `count` messages.
 *
 * @param count - A number of messages, 0 or more.
 * @throws InvalidOption: an argument is missing, or not allowed
 *
 * @example
 * ```ts
 * import { Keep } from "@memfold/core"
 *
 * export const keep = Keep.lastMessages(20)
 * ```
 */
export const lastMessages = (count: number): Keep => {
  checkArguments("Keep.lastMessages", { count: countFrom(0) }, { count })
  return { describe: `the last ${count} messages`, from: (input) => input.total - count }
}

/**
 * Keeps the newest messages that together take at most `tokens` tokens.
 *
 * @param tokens - A number of tokens, 0 or more.
 * @throws InvalidOption: an argument is missing, or not allowed
 *
 * @example
 * ```ts
 * import { Keep } from "@memfold/core"
 *
 * export const keep = Keep.lastTokens(4_000)
 * ```
 */
export const lastTokens = (tokens: number): Keep => {
  checkArguments("Keep.lastTokens", { tokens: amount }, { tokens })
  return { describe: `the last ${tokens} tokens`, from: (input) => input.startOfLastTokens(tokens) }
}

/**
 * Keeps the newest `count` complete turns and the turn that is not complete yet. While there are fewer, it keeps
 * every uncovered message.
 *
 * @param count - A number of turns, 0 or more.
 * @throws InvalidOption: an argument is missing, or not allowed
 *
 * @example
 * ```ts
 * import { Keep } from "@memfold/core"
 *
 * export const keep = Keep.lastTurns(2)
 * ```
 */
export const lastTurns = (count: number): Keep => {
  checkArguments("Keep.lastTurns", { count: countFrom(0) }, { count })
  return {
    describe: `the last ${count} rounds`,
    from: (input) => Math.min(input.turnStart(input.completeTurns - count), input.openTurn),
  }
}

/** Keeps the newest turn, from its user message on. If a summary covers its start, it keeps the rest of the turn. */
export const currentTurn: Keep = {
  describe: "the current round",
  from: (input) => input.currentTurn,
}

/**
 * Keeps every message that at least one of the rules keeps.
 *
 * @throws InvalidOption: an argument is not allowed
 *
 * @example
 * ```ts
 * import { Keep } from "@memfold/core"
 *
 * export const keep = Keep.all(Keep.currentTurn, Keep.lastTokens(4_000))
 * ```
 */
export const all = (...keeps: ReadonlyArray<Keep>): Keep => {
  checkArguments("Keep.all", { keeps: keepsOption }, { keeps })
  return {
    describe: keeps.map((keep) => keep.describe).join(" and "),
    from: (input) => Math.min(input.total, ...keeps.map((keep) => keep.from(input))),
  }
}
