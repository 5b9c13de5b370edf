import { Exit } from "effect"
import { withMargin } from "../policy/withMargin.js"
import type { Strategy } from "../policy/Strategy.js"
import { type InvalidInput, refuse } from "./input.js"
import type { Options, StrategyOptions } from "./MemoryOptions.js"
import { isStrategy } from "./options.js"

/**
 * Resolves the strategy of a request: its own or the memory's, with the memory's wording and trust where that has them, and
 * behind the margin of the memory's token counter.
 */
export const requestStrategy = (
  options: Pick<Options, "strategy" | "wording" | "trust" | "minimumOrigin">,
  margin: number,
) => {
  const { strategy, wording, trust, minimumOrigin } = options
  const own = {
    ...(wording === undefined ? {} : { wording }),
    ...(trust === undefined ? {} : { trust }),
    ...(minimumOrigin === undefined ? {} : { minimumOrigin }),
  }
  const resolved = (given: Strategy): Strategy =>
    withMargin({ ...given, context: { ...given.context, ...own } }, margin)
  const usual = Exit.succeed(resolved(strategy))
  // Most requests with a strategy of their own have the same one: it is checked once.
  const known = new WeakMap<Strategy, Exit.Exit<Strategy>>()
  return (session: string, request: StrategyOptions = {}): Exit.Exit<Strategy, InvalidInput> => {
    if (request.strategy === undefined) return usual
    const found = known.get(request.strategy)
    if (found !== undefined) return found
    if (isStrategy(request.strategy)) {
      const checked = Exit.succeed(resolved(request.strategy))
      known.set(request.strategy, checked)
      return checked
    }
    return refuse(
      typeof session === "string" ? session : "",
      '"strategy" must be a strategy, such as the result of Strategy.make',
    )
  }
}
