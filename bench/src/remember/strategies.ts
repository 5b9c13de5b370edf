/** What a conversation costs under each strategy, and what of what is needed stands in its contexts. */
import { Prices } from "@memfold/prices"
import { type Executor, type PolicyReport, type Report, run } from "@memfold/lab"
import type { Bound } from "./bounds.js"
import type { DataSet, DataSets } from "./dataSets.js"
import { own, plain, recallTokens, withRecall } from "./policies.js"
import { progress } from "./progress.js"

/** The prices of the tables; the bounds are checked with the first prices. */
export const prices = [
  Prices.presets["claude-sonnet-5"],
  Prices.presets["claude-sonnet-5.5"],
  Prices.presets["gemini-3.8-flash"],
]

/** What a policy costs in percent of the full history, by one of the prices. */
const shareOf = ({ costs }: PolicyReport, price = 0): number => costs[price]?.share?.total ?? Number.NaN

/** What is kept, in percent: of the evidence where there are questions, and of needed identifiers otherwise. */
const keptOf = ({ evidence, identifiers }: PolicyReport): number =>
  evidence === null
    ? (100 * identifiers.there) / identifiers.needed
    : 100 * (evidence.raw + evidence.inSummaries + evidence.recalled)

const cell = (value: number, width: number): string => value.toFixed(0).padStart(width)

const nameWidth = 38

const print = ({ name, conversations }: DataSet, { policies }: Report): void => {
  const [full] = policies
  const asked = full?.evidence?.asked ?? 0
  const costTitles = `${"cost".padStart(9)}${"cost".padStart(7)}${"cost".padStart(8)}`
  const costUnits = `${"a tenth".padStart(9)}${"5.5".padStart(7)}${"Gemini".padStart(8)}`
  const costCells = (policy: PolicyReport) =>
    [9, 7, 8].map((width, price) => cell(shareOf(policy, price), width)).join("")
  const what =
    asked === 0
      ? `${full?.identifiers.needed ?? 0} identifiers needed`
      : `${asked} questions asked on the way`
  const subject = conversations.length === 1 ? "1 conversation" : `${conversations.length} conversations`
  console.log(`\n${name}: ${subject}, ${what}; full history = 100`)
  if (asked === 0) {
    console.log(" ".repeat(nameWidth) + `  tokens   ids there${costTitles}`)
    console.log(" ".repeat(nameWidth) + `                    ${costUnits}`)
    for (const policy of policies)
      console.log(
        `  ${policy.name}`.padEnd(nameWidth) +
          cell(policy.meanContext, 8) +
          cell(keptOf(policy), 12) +
          costCells(policy),
      )
    return
  }
  console.log(" ".repeat(nameWidth) + `  tokens   raw  summaries  recalled  + demand  newest${costTitles}`)
  console.log(" ".repeat(nameWidth) + `                                                  ${costUnits}`)
  for (const policy of policies) {
    const { evidence } = policy
    if (evidence === null) continue
    console.log(
      `  ${policy.name}`.padEnd(nameWidth) +
        cell(evidence.tokens, 8) +
        cell(100 * evidence.raw, 6) +
        cell(100 * evidence.inSummaries, 11) +
        cell(100 * evidence.recalled, 10) +
        cell(100 * evidence.withRecall, 10) +
        cell(100 * evidence.newest, 8) +
        costCells(policy),
    )
  }
}

/** What the columns of the tables mean. */
const legend = `
  cost: of all calls, summaries paid, in percent of the full history. "a tenth": a cached token costs a tenth of a new one
  (${prices[0]?.model}), "5.5": a twentieth (${prices[1]?.model}).
  raw, summaries, recalled: sentences of the evidence in the messages of the context, only in its summaries, only in what it
  recalled by itself, in percent. + demand: and in ${recallTokens} tokens found for the question; a search is one more call, and is not in
  the cost. newest: in the newest messages of that size. ids there: needed identifiers in the context, in percent.`

/** With recall on demand, the default costs at most this share of full history and says at least this much. */
const mostCost = 50
const leastFound = 75

/** The replays of a policy, as far as they tell whether it did anything. */
const sameContexts = (one: PolicyReport, other: PolicyReport): boolean =>
  one.replays.every(({ contexts }, at) => {
    const others = other.replays[at]?.contexts ?? []
    return contexts.length === others.length && contexts.every((tokens, call) => tokens === others[call])
  })

/** Whether the default costs less than every strategy that keeps no less. One with the same contexts is the same here. */
const cheapest = (name: string, policies: ReadonlyArray<PolicyReport>): Bound => {
  const mine = policies.find((policy) => policy.name === own.name)!
  const rivals = policies.filter(
    (other) => other !== mine && keptOf(other) >= keptOf(mine) && !sameContexts(other, mine),
  )
  const ratios = rivals.map((other) => ({ name: other.name, ratio: shareOf(mine) / shareOf(other) }))
  const nearest = ratios.toSorted((one, other) => other.ratio - one.ratio)[0]
  return {
    what: `${name}: ${own.name}, cost against ${nearest?.name ?? "any"}, among the strategies that keep no less`,
    // Where no other one keeps as much, nothing costs less at no less.
    measured: nearest?.ratio ?? 0,
    unit: "×",
    below: 1,
  }
}

/** Runs all strategies on all data sets, prints a table of each, and returns the bounds. */
export const strategies = async (
  { locomo, longMemEval, support, cases, coding }: DataSets,
  executor: Executor,
): Promise<ReadonlyArray<Bound>> => {
  const bounds: Array<Bound> = []
  for (const dataSet of [locomo, longMemEval, support, cases, coding]) {
    const { name, conversations } = dataSet
    const hasQuestions = conversations.some(({ questions }) => questions.length > 0)
    const policies = hasQuestions ? [...plain, withRecall(own)] : plain
    const report = await run({
      conversations,
      policies,
      prices,
      recallTokens,
      executor,
      onProgress: progress(name),
    })
    print(dataSet, report)
    const alone = report.policies.slice(0, 1 + plain.length)
    bounds.push(cheapest(name, alone))
    if (dataSet !== locomo) continue
    const mine = report.policies.find((policy) => policy.name === own.name)!
    bounds.push(
      {
        what: `${name}: ${own.name}, cost against the full history`,
        measured: shareOf(mine),
        unit: "%",
        most: mostCost,
      },
      {
        what: `${name}: ${own.name}, evidence said with ${recallTokens} tokens on demand`,
        measured: 100 * (mine.evidence?.withRecall ?? Number.NaN),
        unit: "%",
        least: leastFound,
      },
    )
  }
  console.log(legend)
  return bounds
}
