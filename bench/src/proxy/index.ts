/**
 * What 300 turns of a coding agent cost with the proxy and without it: tokens read from the prompt cache, written to it, new, and
 * answered, with all calls for summaries, at the prices of `@memfold/prices`. The provider is the strict server; its cache is a model
 * of the documented ones, and no pause is longer than the cache lives. The agent sends the same in both runs, word for word.
 */
import { agents } from "./agents.js"
import { type Cost, run } from "./session.js"

const turns = 300

const thousands = (tokens: number): string => `${Math.round(tokens / 1_000).toLocaleString("en")}k`

const row = (name: string, { requests, summaries, cached, written, fresh, output, dollars }: Cost): string =>
  [
    name.padEnd(10),
    String(requests).padStart(8),
    String(summaries).padStart(9),
    thousands(cached).padStart(9),
    thousands(written).padStart(9),
    thousands(fresh).padStart(7),
    thousands(output).padStart(8),
    `$${dollars.toFixed(2)}`.padStart(9),
  ].join("  ")

/** The turn at which the proxy is dearest beside none, and by how much. */
const worst = (without: Cost, through: Cost) =>
  through.after
    .map((dollars, at) => ({ turn: at + 1, dollars: dollars - without.after[at]! }))
    .reduce((most, one) => (one.dollars > most.dollars ? one : most), { turn: 0, dollars: 0 })

/** Measures and prints. Returns whether the proxy cost less in all sessions, and nothing was refused. */
export const proxy = async (): Promise<boolean> => {
  let good = true
  for (const agent of agents) {
    const without = await run(agent, turns, false)
    const through = await run(agent, turns, true)
    const dearest = worst(without, through)
    console.log(`\n${turns} turns of an agent in ${agent.name}, ${agent.prices}`)
    console.log("            requests  summaries     cached    written    fresh    output      money")
    console.log(row("without", without))
    console.log(row("with", through))
    console.log(
      `the proxy saves ${Math.round(100 * (1 - through.dollars / without.dollars))} %; at most it was behind by $${dearest.dollars.toFixed(3)}, after turn ${dearest.turn}; refused: ${through.refused}`,
    )
    good &&= through.dollars <= without.dollars && through.refused === 0 && without.refused === 0
  }
  return good
}
