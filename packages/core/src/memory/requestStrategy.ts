import type { Strategy } from "../policy/Strategy.js"
import type { Options, StrategyOptions } from "./MemoryService.js"

/** Resolves the strategy of a request: its own or the memory's, with the memory's wording where that has one. */
export const requestStrategy = ({ strategy, wording }: Pick<Options, "strategy" | "wording">) => {
  const worded = (given: Strategy): Strategy =>
    wording === undefined ? given : { ...given, context: { ...given.context, wording } }
  const own = worded(strategy)
  return (request: StrategyOptions = {}): Strategy =>
    request.strategy === undefined ? own : worded(request.strategy)
}
