/**
 * The margin of safety of a token counter, in front of a strategy: it sees every count with the margin. So a limit that
 * the strategy guards holds even if the texts take more tokens than were counted.
 */
import type { PolicyInput } from "./PolicyInput.js"
import type { Strategy } from "./Strategy.js"
import type { TriggerInput } from "./Trigger.js"

/**
 * The input with counts times the margin. What a provider reported is exact. Each decision makes two of them, and to name
 * each field takes a tenth of the time of a copy with some fields replaced.
 */
const enlarged = (input: PolicyInput, margin: number): PolicyInput => ({
  total: input.total,
  coveredTo: input.coveredTo,
  now: input.now,
  lastCompactionTime: input.lastCompactionTime,
  lastMessageTime: input.lastMessageTime,
  modelCalls: input.modelCalls,
  lastModelCallTime: input.lastModelCallTime,
  appendedTokens: input.appendedTokens,
  contextTokens: Math.ceil(input.reportedTokens + (input.contextTokens - input.reportedTokens) * margin),
  reportedTokens: input.reportedTokens,
  tokens: (from: number, to: number) => Math.ceil(input.tokens(from, to) * margin),
  startOfLastTokens: (tokens: number) => input.startOfLastTokens(tokens / margin),
  completeTurns: input.completeTurns,
  completeTurnsTo: input.completeTurnsTo,
  turnStart: input.turnStart,
  currentTurn: input.currentTurn,
  openTurn: input.openTurn,
  openCalls: input.openCalls,
  asksInContext: input.asksInContext,
})

const enlargedForTrigger = (input: TriggerInput, margin: number): TriggerInput =>
  Object.assign(enlarged(input, margin), { tailFrom: input.tailFrom })

/**
 * The strategy behind the margin of a counter; the given strategy itself if the margin is 1. A memory puts its strategies behind
 * the margin of its counter by itself: call `withMargin` before you ask `Policy.decide` and `Policy.nextCheck` what a memory would do.
 *
 * @example
 * ```ts
 * import { type Strategy, TokenCounter, withMargin } from "@memfold/core"
 *
 * const asInMemory = (strategy: Strategy.Strategy) =>
 *   withMargin(strategy, TokenCounter.marginOf(TokenCounter.estimating))
 * ```
 */
export const withMargin = (strategy: Strategy, margin: number): Strategy => {
  if (margin === 1) return strategy
  const { when, keep, batchSize, split, prune } = strategy
  const { dueTime, gainsTooLittle } = when
  const kept = (rule: Strategy["keep"]): Strategy["keep"] => ({
    ...rule,
    from: (input) => rule.from(enlarged(input, margin)),
  })
  return {
    ...strategy,
    when: {
      due: (input) => when.due(enlargedForTrigger(input, margin)),
      ...(dueTime === undefined ? {} : { dueTime: (input) => dueTime(enlargedForTrigger(input, margin)) }),
      ...(gainsTooLittle === undefined
        ? {}
        : {
            gainsTooLittle: (input, taken) =>
              gainsTooLittle(enlargedForTrigger(input, margin), Math.ceil(taken * margin)),
          }),
    },
    keep: kept(keep),
    batchSize: { ...batchSize, to: (input, tailFrom) => batchSize.to(enlarged(input, margin), tailFrom) },
    ...(split === undefined
      ? {}
      : {
          split: {
            above: split.above / margin,
            prefix: ({ messages, tokens }) =>
              split.prefix({ messages, tokens: Math.ceil(tokens * margin) }) / margin,
          },
        }),
    ...(prune === undefined ? {} : { prune: prune.map((rule) => ({ ...rule, keep: kept(rule.keep) })) }),
  }
}
