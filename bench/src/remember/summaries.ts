/**
 * What extractive summaries still say after many merges, against sentences chosen by TF-IDF and the newest text, each of the
 * same size.
 */
import {
  Keep,
  type Message,
  Search,
  Strategy,
  type Summarizer,
  SummaryMode,
  TokenCounter,
  Trigger,
} from "@memfold/core"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { type Conversation, recentMessages, type Report, run } from "@memfold/lab"
import { Effect } from "effect"
import type { Bound } from "./bounds.js"
import type { DataSet, DataSets } from "./dataSets.js"
import { progress } from "./progress.js"
import { prices } from "./strategies.js"

const { count } = TokenCounter.estimating

/** The tokens of a summary. */
const maxTokens = 800

const extractive = ExtractiveSummarizer.make({ maxTokens })

/** Compacts twelve messages at a time. Recent messages stay, so older needed identifiers can only be in the summary. */
const rolling = Strategy.make({
  name: "rolling",
  when: Trigger.backlog({ messages: recentMessages + 12 }),
  keep: Keep.lastMessages(recentMessages),
  summaryMode: SummaryMode.rolling,
})

/** Longer pieces are data. */
const mostCharacters = 400

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" })

const textsOf = ({ parts }: Message.Message): ReadonlyArray<string> =>
  parts.flatMap((part) =>
    part.type === "text"
      ? [part.text]
      : part.type === "tool-result"
        ? [part.output]
        : part.type === "tool-call"
          ? [part.arguments]
          : [],
  )

/** The sentences of a text, one line at a time. */
const sentencesOf = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .flatMap((line) => Array.from(segmenter.segment(line), ({ segment }) => segment.trim()))
    .filter((sentence) => sentence !== "")
    .map((sentence) => sentence.slice(0, mostCharacters))

/** The sentences with the most weight for their size, in the order in which they were said. */
const byWeight = (sentences: ReadonlyArray<string>, tokens: number): string => {
  const terms = sentences.map((sentence) => new Set(Search.termsOf(sentence)))
  const inSentences = new Map<string, number>()
  for (const one of terms) for (const term of one) inSentences.set(term, (inSentences.get(term) ?? 0) + 1)
  const weighed = sentences.map((sentence, at) => {
    const size = count(sentence) + 1
    const weight = [...terms[at]!].reduce(
      (sum, term) => sum + Math.log(sentences.length / inSentences.get(term)!),
      0,
    )
    return { at, size, density: weight / size }
  })
  const chosen = new Set<number>()
  const said = new Set<string>()
  let left = tokens
  for (const { at, size } of weighed.toSorted(
    (one, other) => other.density - one.density || one.at - other.at,
  )) {
    if (size > left || said.has(sentences[at]!)) continue
    left -= size
    chosen.add(at)
    said.add(sentences[at]!)
  }
  return sentences.filter((_, at) => chosen.has(at)).join("\n")
}

/** The end of the lines, at most `tokens` tokens. */
const newestOf = (lines: ReadonlyArray<string>, tokens: number): string => {
  let left = tokens
  let from = lines.length
  while (from > 0) {
    left -= count(lines[from - 1]!) + 1
    if (left < 0) break
    from--
  }
  return lines.slice(from).join("\n")
}

/** A summarizer that chooses among the sentences so far, as many tokens as the extractive one would take of them. */
const choosing = (
  name: string,
  choose: (sentences: ReadonlyArray<string>, tokens: number) => string,
): Summarizer.Service => ({
  name,
  summarize: (request) =>
    Effect.map(extractive.summarize(request), ({ text }) => {
      const before = request.previous === undefined ? [] : request.previous.split("\n")
      const sentences = [...before, ...request.messages.flatMap(textsOf).flatMap(sentencesOf)]
      return { text: choose(sentences, count(text)) }
    }),
})

const summarizers: ReadonlyArray<Summarizer.Service> = [
  extractive,
  choosing("TF-IDF", byWeight),
  choosing("newest text", newestOf),
]

/** Of what is needed or asked for, the share that is in summaries, in percent. */
const keptOf = ({ policies: [, policy] }: Report): number => {
  if (policy === undefined) return Number.NaN
  const { evidence, identifiers } = policy
  return evidence === null ? (100 * identifiers.there) / identifiers.needed : 100 * evidence.inSummaries
}

/** What the extractive summaries keep at least, and against which of the others they are held. */
interface Held {
  readonly dataSet: DataSet
  readonly of: string
  readonly least?: number
}

/** Measures, prints, and returns the bounds. */
export const summaries = async ({ locomo, cases, coding }: DataSets): Promise<ReadonlyArray<Bound>> => {
  console.log(`\nExtractive summaries of ${maxTokens} tokens after merges of 12 messages, in percent`)
  console.log(" ".repeat(52) + summarizers.map(({ name }) => name.padStart(14)).join(""))
  const held: ReadonlyArray<Held> = [
    { dataSet: coding, of: "needed identifiers", least: 31 },
    { dataSet: cases, of: "needed identifiers", least: 60 },
    { dataSet: locomo, of: "evidence" },
  ]
  const bounds: Array<Bound> = []
  for (const { dataSet, of, least } of held) {
    const conversations: ReadonlyArray<Conversation> = dataSet.conversations
    const kept: Array<number> = []
    for (const summarizer of summarizers)
      kept.push(
        keptOf(
          await run({
            conversations,
            policies: [{ name: rolling.name, strategy: rolling }],
            summarizer,
            prices: prices.slice(0, 1),
            onProgress: progress(`summaries of ${dataSet.name}, ${summarizer.name}`),
          }),
        ),
      )
    const [own = Number.NaN, ...others] = kept
    console.log(
      `  ${dataSet.name}, ${of}`.padEnd(52) + kept.map((share) => share.toFixed(1).padStart(14)).join(""),
    )
    const what = `${dataSet.name}: ${of} in summaries of ${maxTokens} tokens`
    if (least !== undefined) bounds.push({ what, measured: own, unit: "%", least })
    bounds.push({
      what: `${what}, of others against extractive`,
      measured: Math.max(...others) / own,
      unit: "×",
      below: 1,
    })
  }
  return bounds
}
