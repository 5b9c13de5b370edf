import { expect, it } from "@effect/vitest"
import { Effect, Logger, LogLevel, TestClock, TestContext } from "effect"
import * as fc from "fast-check"
import { often } from "@memfold/harness/depth"
import { withMemory } from "@memfold/harness/engine"
import { conversation, pruningStrategy, strategy as anyStrategy } from "@memfold/testing/arbitrary"
import { Memory, type Render, type Session, Summarizer } from "../index.js"

/** Writes a text of its own for each range. Some ranges have none, so that compactions fail as well. */
const summarizer: Summarizer.Service = {
  name: "ranges",
  summarize: ({ previous = "", from, to, messages, session }) =>
    (from + to) % 7 === 3
      ? new Summarizer.SummarizerError({ session, reason: "unavailable", detail: "no range of this kind" })
      : Effect.succeed({ text: `${previous.slice(-20)} [${from},${to}) ${messages.length}` }),
}

/** A context without what no two summaries share. */
const shown = ({ messages, sources, layout, tokens, prefix }: Render.Context) => ({
  messages: messages.map(({ metadata: _metadata, ...message }) => message),
  sources,
  layout,
  tokens,
  prefix: { total: prefix.total, head: prefix.head },
})

const known = ({ total, coveredTo, failures, running, uncovered }: Session.SessionState) => ({
  total,
  coveredTo,
  failures,
  isRunning: running !== null,
  entries: uncovered.slice(coveredTo, total).map(({ message, time, tokens, pinned, group, bound }) => ({
    message,
    time,
    tokens,
    pinned,
    group,
    bound,
  })),
})

it("a rehearsal has the states, outcomes and contexts of a memory", () =>
  fc.assert(
    fc.asyncProperty(
      conversation,
      fc.oneof(anyStrategy, pruningStrategy),
      fc.infiniteStream(fc.constantFrom(0, 20, 400_000)),
      async (messages, strategy, pauses) => {
        const options = { strategy, compaction: { mode: "manual", summarizerRetries: 0 } } as const
        const program = Effect.gen(function* () {
          const memory = yield* Memory.Memory
          const rehearsal = yield* Memory.rehearse("s", options)
          for (const message of messages) {
            yield* TestClock.adjust(pauses.next().value ?? 0)
            const context = yield* memory.context("s")
            const rehearsed = yield* rehearsal.context
            expect(shown(rehearsed)).toEqual(shown(context))
            const isAnswer = message.role === "assistant"
            yield* memory.append("s", message, isAnswer ? { prefix: context.prefix } : {})
            yield* rehearsal.append(message, isAnswer ? rehearsed.prefix : undefined)
            const outcomes = yield* memory.compact("s", { which: "due" })
            const ends = yield* rehearsal.compactDue
            expect(ends.map(({ _tag }) => _tag)).toEqual(outcomes.map(({ _tag }) => _tag))
            expect(known(yield* rehearsal.state)).toEqual(known(yield* memory.state("s")))
          }
        })
        const quiet = Logger.withMinimumLogLevel(Effect.scoped(program), LogLevel.None)
        const provided = Effect.provideService(
          Effect.provide(quiet, withMemory(options, summarizer)),
          Summarizer.Summarizer,
          summarizer,
        )
        await Effect.runPromise(Effect.provide(provided, TestContext.TestContext))
      },
    ),
    { numRuns: often(15, 200) },
  ))
