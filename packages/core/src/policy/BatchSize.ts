/**
 * The batch size: how much of the backlog one compaction takes, from the oldest message on.
 */
import { checkArguments, countFrom } from "../options/OptionGroup.js"
import type { PolicyInput } from "./PolicyInput.js"

/** The batch size of a strategy: {@link all}, {@link messages}, {@link turns}, or your own. */
export interface BatchSize {
  /**
   * Returns the message index where a compaction ends; `input.coveredTo` or less means that nothing is compacted.
   * `tailFrom` is the index where the tail starts. A larger result is cut to it, because the tail is never compacted.
   */
  readonly to: (input: PolicyInput, tailFrom: number) => number
}

/** The whole backlog. This is the default. */
export const all: BatchSize = { to: (_input, tailFrom) => tailFrom }

/**
 * At most the oldest `count` messages of the backlog.
 *
 * @param count - A number of messages, 1 or more.
 * @throws InvalidOption: an argument is missing, or not allowed
 *
 * @example
 * ```ts
 * import { BatchSize } from "@memfold/core"
 *
 * export const batchSize = BatchSize.messages(20)
 * ```
 */
export const messages = (count: number): BatchSize => {
  checkArguments("BatchSize.messages", { count: countFrom(1) }, { count })
  return { to: (input, tailFrom) => Math.min(tailFrom, input.coveredTo + count) }
}

/**
 * Exactly the oldest `count` complete turns of the backlog, or nothing while there are fewer.
 *
 * @param count - A number of turns, 1 or more.
 * @throws InvalidOption: an argument is missing, or not allowed
 *
 * @example
 * ```ts
 * import { BatchSize } from "@memfold/core"
 *
 * export const batchSize = BatchSize.turns(3)
 * ```
 */
export const turns = (count: number): BatchSize => {
  checkArguments("BatchSize.turns", { count: countFrom(1) }, { count })
  return {
    to: (input, tailFrom) => {
      const to = input.completeTurns >= count ? input.turnStart(count) : input.coveredTo
      return to <= tailFrom ? to : input.coveredTo
    },
  }
}
