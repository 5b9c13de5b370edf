/** What every policy is measured with on a conversation, found once: what recall finds, and the identifiers needed. */
import { InMemoryEventLog, Keep, Memory, Strategy, SummaryMode, Trigger } from "@memfold/core"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Effect, Layer } from "effect"
import { askedIn, type Conversation, isAnswered } from "./Conversation.js"
import { answerWords, shownText, wantedOf, wordsIn } from "./evidence.js"
import { neededIn } from "./identifiers.js"

/** What every policy is measured with on a conversation. It is plain data, so it can be sent to another thread. */
export interface Prepared {
  /** The questions are asked after each of these numbers of messages, if their evidence has been said. */
  readonly asked: ReadonlyArray<number>
  /**
   * For each of these times and each question, which sentences of its evidence a search finds; `null` for a question
   * whose evidence has not been said.
   */
  readonly found: ReadonlyArray<ReadonlyArray<ReadonlyArray<boolean> | null>>
  /** For each of these times and each question: which words of its answer a search finds, and the tokens of what it finds. */
  readonly answers: ReadonlyArray<ReadonlyArray<FoundWords | null>>
  /** For each message, the identifiers that it needs. */
  readonly needed: ReadonlyArray<ReadonlyArray<string>>
}

/** What a search finds of an answer. */
export interface FoundWords {
  readonly words: ReadonlyArray<boolean>
  readonly tokens: number
}

/** The strategy of the full history, the reference: nothing is ever compacted. */
export const fullHistory: Strategy.Strategy = Strategy.make({
  name: "full history",
  when: Trigger.never,
  keep: Keep.lastMessages(1),
  summaryMode: SummaryMode.drop,
})

/**
 * Asks the questions of a conversation to recall, and finds the identifiers that are needed later.
 *
 * @param conversation - The conversation.
 * @param options - `recallTokens`: how many tokens a search may find, from 1.
 */
export const prepare = async (
  conversation: Conversation,
  { recallTokens }: { readonly recallTokens: number },
): Promise<Prepared> => {
  const { messages, questions } = conversation
  const asked = askedIn(conversation)
  const program = Effect.gen(function* () {
    const memory = yield* Memory.Memory
    const found: Array<ReadonlyArray<ReadonlyArray<boolean> | null>> = []
    const answers: Array<ReadonlyArray<FoundWords | null>> = []
    let said = 0
    for (const total of asked) {
      yield* memory.append("s", messages.slice(said, total))
      said = total
      const now: Array<ReadonlyArray<boolean> | null> = []
      const answered: Array<FoundWords | null> = []
      for (const question of questions) {
        if (!isAnswered(question, total)) {
          now.push(null)
          answered.push(null)
          continue
        }
        const { text } = yield* memory.recall("s", question.text, { tokens: recallTokens })
        now.push(wantedOf(conversation, question).map((sentence) => text.includes(sentence)))
        const shown = shownText(text)
        answered.push({ words: wordsIn(answerWords(question), shown), tokens: shown.tokens })
      }
      found.push(now)
      answers.push(answered)
    }
    return { found, answers }
  })
  const live = Memory.layer({ strategy: fullHistory, compaction: { mode: "off" } }).pipe(
    Layer.provide(ExtractiveSummarizer.layer()),
    Layer.provide(InMemoryEventLog.layer),
  )
  return {
    asked,
    ...(await Effect.runPromise(program.pipe(Effect.provide(live)))),
    needed: neededIn(messages),
  }
}
