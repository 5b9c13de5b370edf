/**
 * `npm run bench -- extractive`: how many of the identifiers that were said are in the extractive summary after many
 * merges, against the newest text cut to the same size. The conversations are the files in the folder that MEMFOLD_CORPUS
 * names, or the shipped samples.
 *
 * The patterns of `@memfold/lab` find the identifiers, not the summarizer's own patterns.
 */
import { Message, TokenCounter } from "@memfold/core"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { identifiersIn } from "@memfold/lab"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { corpus } from "@memfold/harness/corpus"

const { count } = TokenCounter.estimating

/** How many messages a compaction takes, and the sizes of summaries. */
const batch = 12
const sizes = [400, 800]

/** What a person or a model said; outputs of tools are read, not said. */
const said = (message: Message.Message): string =>
  message.role === "tool" || message.role === "system"
    ? ""
    : message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")

/** The summary of a conversation, merged batch by batch as a rolling strategy does. */
const summarize = async (messages: ReadonlyArray<Message.Message>, maxTokens: number): Promise<string> => {
  const summarizer = ExtractiveSummarizer.make({ maxTokens })
  let previous: string | undefined
  for (let from = 0; from < messages.length; from += batch) {
    const taken = messages.slice(from, from + batch)
    const fresh = taken.reduce((sum, one) => sum + TokenCounter.ofMessage(TokenCounter.estimating, one), 0)
    const { text } = await Effect.runPromise(
      summarizer
        .summarize({
          session: "s",
          kind: "history",
          from: 0,
          to: from + taken.length,
          previous,
          messages: taken,
          messagesFrom: from,
          replacesTokens: fresh + (previous === undefined ? 0 : count(previous)),
          instructions: undefined,
        })
        .pipe(Effect.orElseSucceed(() => ({ text: previous ?? "" }))),
    )
    previous = text
  }
  return previous ?? ""
}

/** The newest text of a conversation, at most `tokens` tokens. */
const truncated = (messages: ReadonlyArray<Message.Message>, tokens: number): string => {
  const text = messages.map((message) => `${message.role}: ${Message.text(message)}`).join("\n")
  let [low, high] = [0, text.length]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (count(text.slice(-middle)) <= tokens) low = middle
    else high = middle
  }
  return text.slice(-low)
}

it("keeps more of the identifiers that were said than the newest text of the same size", async () => {
  const groups = new Map<
    string,
    { said: number; kept: number; cut: number; later: number; keptLater: number; cutLater: number }
  >()
  for (const maxTokens of sizes) {
    for (const { file, found } of corpus) {
      for (const { messages } of found) {
        const summary = await summarize(messages, maxTokens)
        const rest = truncated(messages, Math.max(count(summary), 1))
        const key = `${file.split("/")[0] ?? file}, ${maxTokens} tokens`
        const sum = groups.get(key) ?? { said: 0, kept: 0, cut: 0, later: 0, keptLater: 0, cutLater: 0 }
        const times = new Map<string, number>()
        for (const message of messages) {
          for (const one of identifiersIn(said(message))) times.set(one, (times.get(one) ?? 0) + 1)
        }
        for (const [identifier, uses] of times) {
          const [kept, cut] = [summary.includes(identifier), rest.includes(identifier)].map(Number) as [
            number,
            number,
          ]
          sum.said++
          sum.kept += kept
          sum.cut += cut
          if (uses < 2) continue
          sum.later++
          sum.keptLater += kept
          sum.cutLater += cut
        }
        groups.set(key, sum)
      }
    }
  }
  const percent = (part: number, whole: number) =>
    whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)} %`
  const rows = [...groups].map(([name, { said, kept, cut, later, keptLater, cutLater }]) => ({
    conversations: name,
    identifiers: said,
    "in the summary": percent(kept, said),
    "in the newest text": percent(cut, said),
    "used again": later,
    "of these in the summary": percent(keptLater, later),
    "of these in the newest text": percent(cutLater, later),
  }))
  console.table(rows)
  const all = [...groups.values()]
  const total = (of: "said" | "kept" | "cut") => all.reduce((sum, one) => sum + one[of], 0)
  expect(total("said")).toBeGreaterThan(0)
  expect(total("kept")).toBeGreaterThan(total("cut"))
})
