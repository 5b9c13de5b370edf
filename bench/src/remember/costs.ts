/**
 * What a conversation costs under each strategy, and what of the evidence stands in its contexts. Costs are those of all
 * calls at a provider that caches prompts, summaries paid, as a share of what they cost with the full history.
 */
import { Cost, Keep, Prices, Strategy, SummaryMode, Trigger } from "@memfold/core"
import { BreakEven } from "@memfold/strategy-break-even"
import { RollingBuffer, SummaryBuffer, TokenBuffer, Window } from "@memfold/strategy-rolling-buffer"
import { Rounds } from "@memfold/strategy-rounds"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { SplitTurn } from "@memfold/strategy-split-turn"
import type { Conversation } from "./locomo.js"
import { foundIn } from "./recall.js"
import { replay, type Replayed, type ReplayOptions } from "./replay.js"

/** The prices of the table; the first ones are those that the benchmark holds the strategies to. */
const prices = [
  Prices.presets["claude-sonnet-5"],
  Prices.presets["claude-sonnet-5.5"],
  Prices.presets["gemini-3.8-flash"],
]

const fullHistory = Strategy.make({
  name: "full history",
  when: Trigger.never,
  keep: Keep.lastMessages(1),
  summaryMode: SummaryMode.drop,
})

/** As the summarization of other libraries: above 4,000 tokens, all but 20 messages into one summary. */
const summarization = Strategy.make({
  name: "rolling, 4,000 tokens, keep 20",
  when: Trigger.contextAbove(4_000),
  keep: Keep.lastMessages(20),
  summaryMode: SummaryMode.rolling,
})

const breakEven = BreakEven()

const strategies: ReadonlyArray<Strategy.Strategy> = [
  SlidingWindow(),
  Rounds(),
  SplitTurn(),
  RollingBuffer(),
  Window(),
  TokenBuffer(),
  SummaryBuffer(),
  summarization,
  breakEven,
]

/** Automatic recall searches before every call, so it is measured for some only. */
const withAutomatic: ReadonlySet<Strategy.Strategy> = new Set([summarization, breakEven])

/** The tokens of a recall, on demand or by itself. */
const recalled = 1_000

/** The questions are asked at the end of each of so many days on which they talked, and at the end. */
const everyDays = 10

const askedIn = ({ ends }: Conversation): ReadonlyArray<number> =>
  ends.filter((_, day) => (day + 1) % everyDays === 0 || day === ends.length - 1)

const sumOf = (replays: ReadonlyArray<Replayed>, of: (one: Replayed) => number): number =>
  replays.reduce((sum, one) => sum + of(one), 0)

/** A strategy, measured on all conversations. Costs and shares are in percent. */
interface Measured {
  readonly name: string
  readonly tokens: number
  readonly said: number
  readonly newest: number
  readonly found: number
  readonly costs: ReadonlyArray<number>
  /** With automatic recall: the cost, and how many times the tokens are sent. */
  readonly automatic: { readonly cost: number; readonly tokens: number } | null
}

const progress = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`)
}

/** A conversation, when its questions are asked, what a search finds for them, and the replay of its full history. */
interface Subject {
  readonly conversation: Conversation
  readonly asked: ReadonlyArray<number>
  readonly found: ReplayOptions["found"]
  readonly full: Replayed
}

const measure = async (all: ReadonlyArray<Subject>, strategy: Strategy.Strategy): Promise<Measured> => {
  const plain: Array<Replayed> = []
  const automatic: Array<Replayed> = []
  for (const [position, { conversation, asked, found }] of all.entries()) {
    progress(`  ${strategy.name}: conversation ${position + 1} of ${all.length}`)
    plain.push(
      await replay(conversation, strategy, prices, {
        asked,
        automatic: 0,
        ...(found === undefined ? {} : { found }),
      }),
    )
    if (withAutomatic.has(strategy))
      automatic.push(await replay(conversation, strategy, prices, { asked: [], automatic: recalled }))
  }
  progress("")
  /** Each conversation counts the same, however long it is. */
  const costOf = (replays: ReadonlyArray<Replayed>, at: number): number =>
    replays.reduce((sum, { spent }, position) => {
      const dollars = (one: Replayed["spent"]) => Cost.total(one[at]!, prices[at]!).total
      return sum + (100 * dollars(spent)) / dollars(all[position]!.full.spent)
    }, 0) / replays.length
  const questions = sumOf(plain, (one) => one.questions)
  return {
    name: strategy.name,
    tokens: sumOf(plain, (one) => one.tokens) / questions,
    said: (100 * sumOf(plain, (one) => one.said)) / questions,
    newest: (100 * sumOf(plain, (one) => one.newest)) / questions,
    found: (100 * sumOf(plain, (one) => one.found)) / questions,
    costs: prices.map((_, at) => costOf(plain, at)),
    automatic:
      automatic.length === 0
        ? null
        : {
            cost: costOf(automatic, 0),
            tokens: sumOf(automatic, (one) => one.sent) / sumOf(plain, (one) => one.sent),
          },
  }
}

const cell = (value: number, width: number, digits = 0): string => value.toFixed(digits).padStart(width)

/** With recall on demand, the default costs at most this share of full history and says at least this much. */
const mostCost = 50
const leastFound = 75

/** Measures the strategies and prints the table. Returns whether the break-even strategy holds what it promises. */
export const costs = async (all: ReadonlyArray<Conversation>): Promise<boolean> => {
  const subjects: Array<Subject> = []
  for (const [position, conversation] of all.entries()) {
    progress(`  full history: conversation ${position + 1} of ${all.length}`)
    const asked = askedIn(conversation)
    const full = await replay(conversation, fullHistory, prices, { asked, automatic: 0 })
    subjects.push({ conversation, asked, found: await foundIn(conversation, asked, recalled), full })
  }
  progress("")
  const full = subjects.map((subject) => subject.full)
  const questions = sumOf(full, (one) => one.questions)
  console.log(
    `\nCost: ${all.length} conversations, summaries paid, full history = 100; ${questions} questions asked on the way`,
  )
  console.log(
    "                                  tokens   said  newest   + recall     cost   cost    cost   cost with recall",
  )
  console.log(
    "                                                   say   on demand  a tenth   5.5  Gemini   in each context",
  )
  const tokens = sumOf(full, (one) => one.tokens) / questions
  console.log(
    `  full history                    ${cell(tokens, 6)}    100     100         100      100    100     100`,
  )
  const rows: Array<Measured> = []
  for (const strategy of strategies) {
    const row = await measure(subjects, strategy)
    rows.push(row)
    const [tenth = 0, sonnet = 0, gemini = 0] = row.costs
    console.log(
      `  ${row.name.padEnd(32)}${cell(row.tokens, 6)}${cell(row.said, 7)}${cell(row.newest, 8)}${cell(row.found, 12)}` +
        `${cell(tenth, 9)}${cell(sonnet, 7)}${cell(gemini, 8)}` +
        (row.automatic === null
          ? ""
          : `${cell(row.automatic.cost, 8)}  (${row.automatic.tokens.toFixed(2)} times the tokens)`),
    )
  }
  console.log(
    `  "a tenth": a cached token costs a tenth of a new one (${prices[0]?.model}), "5.5": a twentieth (${prices[1]?.model}).\n` +
      `  said: sentences of the evidence in the context, in percent. newest say: in the newest messages of that size.\n` +
      `  + recall on demand: and in ${recalled} tokens found for the question; a search is one more call, and is not in the cost.`,
  )
  const own = rows.at(-1)!
  const cheaper = rows.filter(({ name, said, costs: [cost = 0] }) => {
    return name !== own.name && said >= own.said && cost <= (own.costs[0] ?? 0)
  })
  for (const { name } of cheaper) console.log(`  ${name} says no less and costs no more than ${own.name}`)
  return cheaper.length === 0 && (own.costs[0] ?? 0) <= mostCost && own.found >= leastFound
}
