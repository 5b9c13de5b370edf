/**
 * What a conversation costs under each strategy, and what of the evidence stands in its contexts. Costs are those of all
 * calls at a provider that caches prompts, summaries paid, as a share of what they cost with the full history.
 */
import { Keep, Prices, Strategy, SummaryMode, Trigger } from "@memfold/core"
import {
  type Conversation,
  costOf,
  evidenceOf,
  fullHistory,
  prepare,
  type Prepared,
  replay,
  type Replayed,
} from "@memfold/lab"
import { BreakEven } from "@memfold/strategy-break-even"
import { RollingBuffer, SummaryBuffer, TokenBuffer, Window } from "@memfold/strategy-rolling-buffer"
import { Rounds } from "@memfold/strategy-rounds"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { SplitTurn } from "@memfold/strategy-split-turn"

/** The prices of the table; the first ones are those that the benchmark holds the strategies to. */
const prices = [
  Prices.presets["claude-sonnet-5"],
  Prices.presets["claude-sonnet-5.5"],
  Prices.presets["gemini-3.8-flash"],
]

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

/** A conversation, what every strategy is measured with on it, and the replay of its full history. */
interface Subject {
  readonly conversation: Conversation
  readonly prepared: Prepared
  readonly full: Replayed
}

/** The tokens of all calls. */
const sentIn = (replays: ReadonlyArray<Replayed>): number =>
  replays.flatMap(({ contexts }) => contexts).reduce((sum, tokens) => sum + tokens, 0)

const measure = async (all: ReadonlyArray<Subject>, strategy: Strategy.Strategy): Promise<Measured> => {
  const plain: Array<Replayed> = []
  const automatic: Array<Replayed> = []
  for (const [position, { conversation, prepared }] of all.entries()) {
    progress(`  ${strategy.name}: conversation ${position + 1} of ${all.length}`)
    plain.push(await replay(conversation, strategy, { prices, prepared }))
    if (withAutomatic.has(strategy))
      automatic.push(await replay(conversation, strategy, { prices, automatic: recalled }))
  }
  progress("")
  const full = all.map((subject) => subject.full)
  /** Each conversation counts the same, however long it is. */
  const costAt = (replays: ReadonlyArray<Replayed>, at: number): number =>
    costOf(replays, full, prices[at]!, at).share?.total ?? Number.NaN
  const { tokens, raw, inSummaries, newest, withRecall } = evidenceOf(plain)!
  return {
    name: strategy.name,
    tokens,
    said: 100 * (raw + inSummaries),
    newest: 100 * newest,
    found: 100 * withRecall,
    costs: prices.map((_, at) => costAt(plain, at)),
    automatic:
      automatic.length === 0
        ? null
        : { cost: costAt(automatic, 0), tokens: sentIn(automatic) / sentIn(plain) },
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
    const prepared = await prepare(conversation, { recallTokens: recalled })
    const full = await replay(conversation, fullHistory, { prices, prepared })
    subjects.push({ conversation, prepared, full })
  }
  progress("")
  const { asked: questions, tokens } = evidenceOf(subjects.map(({ full }) => full))!
  console.log(
    `\nCost: ${all.length} conversations, summaries paid, full history = 100; ${questions} questions asked on the way`,
  )
  console.log(
    "                                  tokens   said  newest   + recall     cost   cost    cost   cost with recall",
  )
  console.log(
    "                                                   say   on demand  a tenth   5.5  Gemini   in each context",
  )
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
