/**
 * Law L17 over real transcripts: every context at every version, of every shipped strategy and format, passes the rules of
 * its provider. Each answer of an assistant carries reasoning that is signed for the request of that moment.
 */
import { InMemoryEventLog } from "@memfold/core"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Effect, Either } from "effect"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { deep, often } from "@memfold/harness/depth"
import { strategies } from "@memfold/catalog"
import { byRule, play } from "../test/provider/acting.js"
import { type Target, targets } from "../test/provider/targets.js"
import { otherConversations } from "./otherTranscripts.js"
import { corpus, settings } from "@memfold/harness/corpus"

const summarizer = ExtractiveSummarizer.make()

/** Every conversation of the folder, also of files that the command line does not read. */
const everything = corpus.flatMap(({ file, found }) =>
  found.length > 0
    ? found
    : otherConversations(join(process.env["MEMFOLD_CORPUS"]!, file)).map((messages, index) => ({
        name: `${file} #${index}`,
        messages,
      })),
)

/** A quick run plays the first messages of long conversations, and of a file with many, every tenth. */
const conversations = everything
  .filter(({ name }, index) => deep || !name.includes("tau-bench") || index % 10 === 0)
  .map(({ name, messages }) => ({ name, messages: messages.slice(0, often(40, messages.length)) }))
  .filter(({ messages }) => messages.length > 0)

/** The conversations of a strategy: all, or in a quick run a third of them, which differs from one strategy to the next. */
const playedBy = (strategy: number) =>
  [...conversations.entries()].filter(([at]) => deep || (at + strategy) % 3 === 0)

/**
 * The formats that a conversation is sent in: all, or in a quick run a third of them, which differs from one conversation to the
 * next. Reasoning is signed for the format "anthropic", which is always there.
 */
const formatsOf = (conversation: number): ReadonlyArray<Target> =>
  targets.filter(({ format }, at) => deep || format === "anthropic" || (at + conversation) % 3 === 0)

describe("what providers accept, over real transcripts", () => {
  for (const [place, [name, { resolve }]] of [...strategies].entries()) {
    it(`${name}: every context of every version, in every format`, async () => {
      const strategy = Either.getOrThrow(resolve({ request: settings[name] ?? {} }))
      const total = { contexts: 0, compactions: 0, signed: 0, sentBack: 0 }
      const mine = playedBy(place)
      for (const [at, conversation] of mine) {
        const played = await Effect.runPromise(
          play(
            { messages: conversation.messages, strategy, summarizer },
            "s",
            formatsOf(Math.floor(at / 3)),
          ).pipe(Effect.provide(InMemoryEventLog.layer)),
        )
        for (const key of ["contexts", "compactions", "signed", "sentBack"] as const)
          total[key] += played[key]
        expect({ of: conversation.name, refused: byRule(played.refused) }).toEqual({
          of: conversation.name,
          refused: [],
        })
      }
      console.log(
        `${name}: ${mine.length} conversations, ${total.contexts} contexts in ${targets.map(({ format }) => format).join(", ")}, ${total.compactions} compactions, ${total.signed} answers with reasoning, sent back ${total.sentBack} times, 0 refusals`,
      )
      expect(total.sentBack).toBeGreaterThan(0)
    })
  }
})
