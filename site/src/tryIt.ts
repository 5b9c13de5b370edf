/** What the first page shows: the sample conversation under a strategy of two numbers, and what it costs beside the full history. */
import { Keep, type Message, Strategy, SummaryMode, Trigger } from "@memfold/core"
import { fullHistory } from "@memfold/lab"
import { Prices } from "@memfold/prices"
import { type Call, replay } from "./replay.js"
import { data } from "./sample.data.js"

const prices = Prices.presets["claude-sonnet-5.5"]

/** What prices are counted with, in words. */
export const priced = `${prices.model}, prices of ${prices.asOf}`

/** The two numbers of the strategy, in tokens. */
export interface Numbers {
  /** Contexts above it are compacted. */
  readonly trigger: number
  /** The newest messages that stay word for word. */
  readonly keep: number
}

/** Replays the sample with these numbers. */
export const replayWith = ({ trigger, keep }: Numbers): Promise<ReadonlyArray<Call>> =>
  replay(
    data,
    Strategy.make({
      name: "yours",
      when: Trigger.contextAbove(trigger),
      keep: Keep.lastTokens(keep),
      summaryMode: SummaryMode.rolling,
    }),
    prices,
  )

/** Replays the sample without any compaction. */
export const replayInFull = (): Promise<ReadonlyArray<Call>> => replay(data, fullHistory, prices)

/** The longest text of a message that is shown, in characters. */
const most = 600

const textOf = (part: Message.Part): string => {
  switch (part.type) {
    case "tool-call":
      return `→ ${part.name} ${part.arguments}`
    case "tool-result":
      return `← ${part.output}`
    case "text":
    case "reasoning":
      return part.text
    default:
      return part.type
  }
}

/** A message as the page shows it. `kind` says how: what a summary stands for is faded. */
export interface Shown {
  readonly place: string
  readonly text: string
  readonly kind: "summary" | "covered" | ""
}

const shown = ({ role, parts }: Message.Message, place: string, kind: Shown["kind"]): Shown => {
  const text = parts.map(textOf).join("\n")
  return {
    place: `${role} ${place}`,
    text: text.length > most && kind !== "summary" ? `${text.slice(0, most)}…` : text,
    kind,
  }
}

/** What was said until a call, and what the model got in that call. */
export const panesOf = ({
  index,
  context: { messages, sources },
}: Call): { readonly said: ReadonlyArray<Shown>; readonly got: ReadonlyArray<Shown> } => {
  const there = new Set(sources)
  return {
    said: data.slice(0, index).map((message, at) => shown(message, `#${at}`, there.has(at) ? "" : "covered")),
    got: messages.map((message, at) => {
      const source = sources[at] ?? null
      if (source !== null) return shown(message, `#${source}`, "")
      // What is not of the conversation is the summary, or a result in the place of one that never came.
      const isSummary = message.parts[0]?.type === "text"
      return shown(message, isSummary ? "– the summary" : "– added", isSummary ? "summary" : "")
    }),
  }
}
