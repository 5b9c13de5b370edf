/**
 * The tour on one screen: where a conversation was compacted and why, what the model gets now, and what each strategy
 * costs. Every number comes from the log or from a replay.
 */
import type { EventCodec, Message, Render } from "@memfold/core"
import type { Report } from "@memfold/lab"
import { meaning } from "../command/contextView.js"
import type { Sample } from "./samples.js"
import { type Cell, clean, color, count, percent, several, span, table } from "../terminal/terminal.js"

/** A compaction, read from the log. */
export interface LoggedCompaction {
  /** How many messages the session had when the compaction ended. */
  readonly messages: number
  /** How many of them the summary covers. */
  readonly covered: number
  readonly reason: string
  readonly tokensBefore: number
  readonly tokensAfter: number
}

/** The compactions in a session's events, oldest first. */
const compactionsIn = (events: ReadonlyArray<EventCodec.RecordedEvent>): ReadonlyArray<LoggedCompaction> => {
  const reasons = new Map<string, string>()
  const found: Array<LoggedCompaction> = []
  let messages = 0
  for (const { event } of events) {
    if (event._tag === "MessageAppended") messages = event.index + 1
    if (event._tag === "CompactionStarted") reasons.set(event.compaction, event.reason)
    if (event._tag === "SummaryCommitted") {
      const { compaction, coveredTo: covered, tokensBefore, tokensAfter } = event
      found.push({ messages, covered, reason: reasons.get(compaction) ?? "", tokensBefore, tokensAfter })
    }
  }
  return found
}

export interface TourData {
  readonly sample: Sample
  /** The path of the database file, for the commands on the screen. */
  readonly file: string
  readonly events: ReadonlyArray<EventCodec.RecordedEvent>
  readonly context: Render.Context
  /** The tokens of all messages together. */
  readonly allTokens: number
}

const title = (text: string): string => color.bold(color.cyan(clean(text)))

const indented = (text: string): ReadonlyArray<string> => text.split("\n").map((line) => `  ${line}`)

const messagesIn = (events: ReadonlyArray<EventCodec.RecordedEvent>): ReadonlyArray<Message.Message> =>
  events.flatMap(({ event }) => (event._tag === "MessageAppended" ? [event.message] : []))

const day = 24 * 60 * 60 * 1000

const days = (messages: ReadonlyArray<Message.Message>): string => {
  const times = messages.flatMap(({ time }) => time ?? [])
  return several(Math.ceil((Math.max(...times) - Math.min(...times)) / day), "day")
}

/** The marks of a bar for the parts of a conversation. */
const marks = [
  { mark: "▒", name: "in the summary", paint: color.cyan },
  { mark: "█", name: "verbatim", paint: color.green },
  { mark: "·", name: "to come", paint: color.dim },
] as const

const legend = marks.map(({ mark, name, paint }) => `${paint(mark)} ${name}`).join("   ")

const barWidth = 32

/** A bar with each mark in proportion to its share. A share above 0 gets at least one. */
const bar = (shares: ReadonlyArray<number>): Cell => {
  const sum = shares.reduce((total, share) => total + share, 0)
  const widths = shares.map((share) => (share === 0 ? 0 : Math.max(Math.round((share / sum) * barWidth), 1)))
  const widest = widths.indexOf(Math.max(...widths))
  const spare = barWidth - widths.reduce((total, width) => total + width, 0)
  const runs = marks.map(({ mark }, part) => mark.repeat((widths[part] ?? 0) + (part === widest ? spare : 0)))
  return {
    text: runs.join(""),
    paint: () => marks.map(({ paint }, part) => paint(runs[part] ?? "")).join(""),
  }
}

const compactionTable = (compactions: ReadonlyArray<LoggedCompaction>, messages: number): string =>
  table(
    ["messages", "covered", "why", "context tokens", "the conversation"],
    compactions.map((one) => [
      count(one.messages),
      count(one.covered),
      one.reason,
      `${count(one.tokensBefore)} → ${count(one.tokensAfter)}`,
      bar([one.covered, one.messages - one.covered, messages - one.messages]),
    ]),
    ["right", "right", "left", "right"],
  )

const layoutTable = ({ layout }: Render.Context): string =>
  table(
    ["part", "messages", "tokens", ""],
    layout.map((section) => [
      section.section,
      span(section),
      count(section.tokens),
      { text: meaning[section.section], paint: color.dim },
    ]),
    ["left", "left", "right"],
  )

/** Where the session was compacted and why, and what the model gets now. */
export const sessionLines = ({
  sample,
  file,
  events,
  context,
  allTokens,
}: TourData): ReadonlyArray<string> => {
  const messages = messagesIn(events)
  const compactions = compactionsIn(events)
  const reasons = [...new Set(compactions.map(({ reason }) => reason))]
  return [
    `${title("One conversation")}: ${sample.about}`,
    `  ${several(messages.length, "message")} in ${days(messages)}, replayed into ${clean(file)} (SQLite)`,
    `  as a log of ${several(events.length, "event")}, from which the next two parts are read`,
    "",
    `${title("When old messages became a summary")}: strategy ${sample.strategy.name}`,
    ...reasons.map((reason) => `  ${reason}: ${sample.reasons[reason] ?? "a reason of the strategy's own"}`),
    "",
    ...indented(compactionTable(compactions, messages.length)),
    `  ${legend}`,
    "",
    `${title("What the model gets now")}: ${count(context.tokens)} tokens instead of ${count(allTokens)}`,
    ...indented(layoutTable(context)),
  ]
}

/** What each strategy costs on the conversation, by the first prices of a report. */
export const costLines = ({ sample }: TourData, { prices, policies }: Report): ReadonlyArray<string> => {
  const calls = policies[0]?.replays[0]?.contexts.length ?? 0
  const needed = policies[0]?.identifiers.needed ?? 0
  const rows = policies.map(({ name, costs, compactions, meanContext, largestContext, identifiers }) => {
    const [cost] = costs
    const share = cost?.share ?? { total: 0, cached: 0, written: 0, newInput: 0, summarizerOutput: 0 }
    const numbers = [share.total, share.newInput + share.summarizerOutput]
    return [
      name === sample.strategy.name ? { text: name, paint: color.bold } : name,
      ...numbers.map((part) => part.toFixed(0)),
      percent(cost?.cached ?? 0, 0),
      count(compactions),
      count(Math.round(meanContext)),
      count(largestContext),
      identifiers.needed === 0 ? "" : percent(identifiers.there / identifiers.needed, 0),
    ] satisfies ReadonlyArray<Cell>
  })
  return [
    "",
    title("What each strategy costs here"),
    ...indented(
      table(["strategy", "cost", "summaries", "cached", "compactions", "mean", "largest", "kept"], rows, [
        "left",
        "right",
        "right",
        "right",
        "right",
        "right",
        "right",
        "right",
      ]),
    ),
    `  cost: ${several(calls, "call")}, full history = 100 (${prices[0]?.model ?? ""}); summaries: of it`,
    "  cached: what the provider's cache had of the prompts; mean, largest: contexts",
    `  kept: of ${several(needed, "identifier")} that an answer needed again, those in its context`,
  ]
}

/** The commands to try next; `tours` are the options of other tours. */
export const nextLines = (
  session: string,
  file: string,
  tours: ReadonlyArray<string>,
): ReadonlyArray<string> => [
  title("Next"),
  "  Read the summary and the messages, or check the stored log:",
  `    npx memfold context ${session} --store sqlite:${file}`,
  `    npx memfold verify --store sqlite:${file}`,
  "  Replay a conversation of yours, or try policies on it:",
  "    npx memfold replay my-chat.json --strategy rounds",
  "    npx memfold lab my-chat.json",
  "  Take another tour: every step, or another sample:",
  ...tours.map((options) => `    npx memfold tour ${options}`.trimEnd()),
]
