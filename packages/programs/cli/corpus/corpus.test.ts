/**
 * Every strategy over real transcripts: each file of the folder whose format the command line reads is replayed,
 * and the laws are checked on what came of it. The folder is named by MEMFOLD_CORPUS; see `npm run test:corpus`.
 */
import { EchoSummarizer, EventLog, InMemoryEventLog, orphans, Verify } from "@memfold/core"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Effect, Either, Option, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { strategies } from "@memfold/catalog"
import { type EndStep, replay } from "../src/replay/replay.js"
import { deep } from "@memfold/harness/depth"
import { type Conversation, corpus as files, settings } from "@memfold/harness/corpus"

/** In a quick run, every fifth conversation of a file that has many. */
const corpus = files.map(({ file, found }) => ({
  file,
  found: found.filter((_, at) => deep || found.length < 20 || at % 5 === 0),
}))

/** Replays and checks one conversation under one strategy; answers with its totals. */
const check = ({ messages }: Conversation, strategyName: string, summarizer = EchoSummarizer.make()) =>
  Effect.gen(function* () {
    const definition = strategies.get(strategyName)!
    const strategy = Either.getOrThrow(definition.resolve({ request: settings[strategyName] ?? {} }))
    const end = yield* replay({ session: "s", source: "", messages, strategy, summarizer }).pipe(
      Stream.runLast,
    )
    const { context, state, totals } = Option.getOrThrow(end) as EndStep
    expect(totals.messages).toBe(messages.length)
    expect(state.coveredTo + state.uncovered.length).toBe(messages.length)
    expect(orphans(context.messages)).toEqual([])
    expect(yield* Verify.session(yield* EventLog.EventLog, "s")).toEqual([])
    return totals
  }).pipe(Effect.provide(InMemoryEventLog.layer))

it("has transcripts that can be read", () => {
  for (const { file, found } of corpus) {
    if (found.length === 0) console.log(`left out, no format of a conversation: ${file}`)
  }
  expect(corpus.some(({ found }) => found.length > 0)).toBe(true)
})

for (const { file, found } of corpus.filter((one) => one.found.length > 0)) {
  describe(file, () => {
    for (const name of strategies.keys()) {
      it(`replays under ${name} and verifies clean`, () =>
        Effect.runPromise(
          Effect.gen(function* () {
            const totals = yield* Effect.forEach(found, (conversation) => check(conversation, name))
            const sum = (of: "messages" | "compactions") => totals.reduce((all, one) => all + one[of], 0)
            console.log(
              `${name}: ${found.length} × ${sum("messages")} messages, ${sum("compactions")} compactions`,
            )
          }),
        ))
    }

    it("can be summarized by the extractive summarizer", () =>
      Effect.runPromise(check(found[0]!, "rolling-buffer", ExtractiveSummarizer.make())))
  })
}
