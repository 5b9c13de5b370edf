/** A session of an agent, with and without the proxy, and what its requests cost. */
import { Prices } from "@memfold/prices"
import { serve } from "@memfold/server"
import { providerServer, type Received } from "@memfold/strict-providers"
import { type Agent, model } from "./agents.js"
import { type Charged, tokensOf } from "./promptCache.js"

/** What a session has cost. */
export interface Cost extends Charged {
  readonly requests: number
  readonly summaries: number
  readonly output: number
  readonly dollars: number
  /** What was spent up to the end of each turn. */
  readonly after: ReadonlyArray<number>
  readonly refused: number
  /** The bodies that went upstream for the agent, in their order, without the questions for summaries. */
  readonly sent: ReadonlyArray<Readonly<Record<string, unknown>>>
}

const isSummary = ({ body }: Received): boolean => body["stream"] !== true

/**
 * Runs a session.
 *
 * @param agent - the agent
 * @param turns - how many requests it sends
 * @param throughProxy - whether they go through `memfold serve`, with its defaults
 * @param mode - when compactions run: inline, so that each run is the same, or in the background, as by default
 */
export const run = async (
  agent: Agent,
  turns: number,
  throughProxy: boolean,
  mode: "inline" | "background" = "inline",
): Promise<Cost> => {
  const said: Array<number> = []
  const answer = model()
  const provider = await providerServer({
    answer: async (asked) => {
      const given = await answer(asked)
      said.push(tokensOf(JSON.stringify(given)))
      return given
    },
  })
  const service = throughProxy
    ? await serve({
        store: "memory:",
        port: 0,
        log: "none",
        upstream: provider.anthropicURL,
        settings: { prices: agent.prices },
        compaction: { mode },
      })
    : null
  try {
    const { turn } = agent.start(service?.url ?? provider.anthropicURL)
    const ends: Array<number> = []
    for (let index = 0; index < turns; index++) {
      await turn(index)
      ends.push(provider.received.length)
    }
    const prices = Prices.presets[agent.prices]
    const charge = agent.cache()
    let [fresh, cached, written, output, dollars, summaries] = [0, 0, 0, 0, 0, 0]
    const spent = provider.received.map((received, at) => {
      const one = charge(received.body)
      fresh += one.fresh
      cached += one.cached
      written += one.written
      output += said[at]!
      if (isSummary(received)) summaries++
      dollars +=
        (one.fresh * prices.input +
          one.cached * prices.cached +
          one.written * prices.cacheWrite +
          said[at]! * prices.output) /
        1e6
      return dollars
    })
    return {
      requests: provider.received.length,
      summaries,
      fresh,
      cached,
      written,
      output,
      dollars,
      after: ends.map((end) => spent[end - 1]!),
      refused: provider.refused.length,
      sent: provider.received.filter((one) => !isSummary(one)).map(({ body }) => body),
    }
  } finally {
    await service?.close()
    await provider.close()
  }
}
