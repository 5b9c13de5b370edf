/** What of the messages that answer a question recall finds, against the newest messages of the same size. */
import { InMemoryEventLog, Memory, Message, TokenCounter } from "@memfold/core"
import { type Conversation, fullHistory } from "@memfold/lab"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Effect, Layer } from "effect"
import type { Bound } from "./bounds.js"

/** The newest messages that fit into a budget, as recall counts them. */
const newest = (messages: ReadonlyArray<Message.Message>, budget: number): string => {
  const lines: Array<string> = []
  let left = budget
  for (let index = messages.length - 1; index >= 0; index--) {
    const line = `[${index}] ${messages[index]!.name}: ${Message.text(messages[index]!)}`
    left -= TokenCounter.estimating.count(line) + 1
    if (left < 0) break
    lines.unshift(line)
  }
  return lines.join("\n")
}

/** Shares of evidence, by what was shown. */
class Tally {
  questions = 0
  private all = 0
  private parts = 0
  private size = 0

  add(shown: string, tokens: number, evidence: ReadonlyArray<string>): void {
    const said = evidence.filter((text) => shown.includes(text)).length
    this.questions++
    if (said === evidence.length) this.all++
    this.parts += said / evidence.length
    this.size += tokens
  }
  get said(): number {
    return (100 * this.parts) / this.questions
  }
  get allSaid(): number {
    return (100 * this.all) / this.questions
  }
  get tokens(): number {
    return this.size / this.questions
  }
}

/** The least share of the evidence that recall of this many tokens says, in percent. */
const targets = [
  { tokens: 1_000, least: 72 },
  { tokens: 2_000, least: 80 },
]

/** Asks all questions at the end of their conversations, prints what was found, and returns the bounds. */
export const recallOf = async (conversations: ReadonlyArray<Conversation>): Promise<ReadonlyArray<Bound>> => {
  const tallies = targets.map(({ tokens }) => ({ tokens, recalled: new Tally(), newest: new Tally() }))
  let searches = 0
  let took = 0
  for (const { messages, questions } of conversations) {
    const program = Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", messages)
      for (const { text, evidence } of questions) {
        const said = evidence.map((index) => Message.text(messages[index]!))
        for (const { tokens, recalled, newest: last } of tallies) {
          const before = performance.now()
          const found = yield* memory.recall("s", text, { tokens })
          took += performance.now() - before
          searches++
          recalled.add(found.text, found.tokens, said)
          const shown = newest(messages, tokens)
          last.add(shown, TokenCounter.estimating.count(shown), said)
        }
      }
    })
    const live = Memory.layer({ strategy: fullHistory, compaction: { mode: "off" } }).pipe(
      Layer.provide(ExtractiveSummarizer.layer()),
      Layer.provide(InMemoryEventLog.layer),
    )
    await Effect.runPromise(program.pipe(Effect.provide(live)))
  }
  const percent = (share: number) => `${share.toFixed(1)} %`.padStart(8)
  console.log(
    `\nRemember: ${tallies[0]!.recalled.questions} questions of LoCoMo, asked at the end of the conversation`,
  )
  console.log(
    "                                     tokens   evidence said   all of it said   newest messages say",
  )
  for (const { tokens, recalled, newest: last } of tallies)
    console.log(
      `  recall of ${tokens} tokens`.padEnd(36) +
        `${recalled.tokens.toFixed(0)}`.padStart(7) +
        `${percent(recalled.said)}`.padStart(16) +
        `${percent(recalled.allSaid)}`.padStart(17) +
        `${percent(last.said)}`.padStart(22),
    )
  console.log(`  a search takes ${(took / searches).toFixed(1)} ms`)
  return targets.map(({ tokens, least }, position) => ({
    what: `LoCoMo: evidence said by a recall of ${tokens} tokens`,
    measured: tallies[position]!.recalled.said,
    unit: "%",
    least,
  }))
}
