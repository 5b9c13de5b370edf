/** What memory layers and automatic recall add to the tokens of all calls, and to what these cost. */
import { type Executor, type PolicyReport, run } from "@memfold/lab"
import type { Bound } from "./bounds.js"
import type { DataSet } from "./dataSets.js"
import { additions, plain } from "./policies.js"
import { progress } from "./progress.js"
import { prices } from "./strategies.js"

/** The bound: by the first prices, an added token costs at most this many times as much as a token of plain input. */
const mostTimes = 1.4

const sentBy = ({ replays }: PolicyReport): number =>
  replays.reduce((sum, { contexts }) => contexts.reduce((all, tokens) => all + tokens, sum), 0)

/** What an addition came to. */
interface Added {
  readonly name: string
  readonly kind: "layers" | "recall"
  /** The tokens of all calls with additions, as a multiple of the tokens without additions. */
  readonly tokens: number
  /** The cost, in the same way, by the first of the prices. */
  readonly cost: number
  /** What an added token costs, as a multiple of a token of plain input, for each of the prices; none was added: 0. */
  readonly times: ReadonlyArray<number>
}

const addedBy = (kind: Added["kind"], before: PolicyReport, after: PolicyReport): Added => {
  const dollars = ({ costs }: PolicyReport, price: number) => costs[price]?.dollars.total ?? Number.NaN
  return {
    name: after.name,
    kind,
    // Signed reasoning is bound to what was shown, and left out when that changes: all tokens together may become fewer.
    tokens: (sentBy(before) + after.added) / sentBy(before),
    cost: dollars(after, 0) / dollars(before, 0),
    times: prices.map(({ input }, price) =>
      after.added === 0
        ? 0
        : (dollars(after, price) - dollars(before, price)) / ((after.added * input) / 1e6),
    ),
  }
}

/** Automatic recall searches before every call, so the first conversations stand for all. */
const mostConversations = 2

/** Replays conversations with and without what is added, prints the table, and returns the bounds. */
export const addedTo = async (
  { name, conversations }: DataSet,
  executor: Executor,
): Promise<ReadonlyArray<Bound>> => {
  const { policies } = await run({
    // Only the cost is asked for.
    conversations: conversations
      .slice(0, mostConversations)
      .map((conversation) => ({ ...conversation, questions: [] })),
    policies: [...plain, ...additions.map(({ policy }) => policy)],
    prices,
    executor,
    onProgress: progress(`${name} with layers and recall`),
  })
  const named = (wanted: string) => policies.find((policy) => policy.name === wanted)!
  const rows = additions.map(({ to, kind, policy }) => addedBy(kind, named(to.name), named(policy.name)))
  console.log(`\n${name}: what layers and automatic recall add`)
  console.log(
    "                                           tokens     cost   an added token, as plain input costs 1",
  )
  console.log(
    `                                                   a tenth   ${prices.map(({ model }) => model.padStart(18)).join("")}`,
  )
  for (const { name: policy, tokens, cost, times } of rows)
    console.log(
      `  ${policy}`.padEnd(40) +
        `${tokens.toFixed(2)}×`.padStart(9) +
        `${cost.toFixed(2)}×`.padStart(9) +
        "   " +
        times.map((one) => one.toFixed(2).padStart(18)).join(""),
    )
  return (["recall", "layers"] as const).map((kind): Bound => {
    const dearest = rows
      .filter((row) => row.kind === kind)
      .map((row) => ({ policy: row.name, times: row.times[0] ?? Number.NaN }))
      .reduce((one, other) => (other.times > one.times ? other : one))
    return {
      what: `${name}: an added token against plain input, at most with ${dearest.policy}`,
      measured: dearest.times,
      unit: "×",
      most: mostTimes,
    }
  })
}
