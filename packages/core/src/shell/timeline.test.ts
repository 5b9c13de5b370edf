import { Effect, Logger, LogLevel } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { memoryOver, pairs, said } from "@memfold/harness/engine"
import { conversation, strategy } from "@memfold/testing/arbitrary"
import { EventLog, InMemoryEventLog, Memory, Session, Summarizer } from "../index.js"

describe("a timeline", () => {
  it("has every version as it was, and every compaction with what became of it", () =>
    fc.assert(
      fc.asyncProperty(conversation, strategy, fc.boolean(), async (messages, strategy, isReverted) => {
        const program = Effect.gen(function* () {
          const memory = yield* memoryOver(yield* InMemoryEventLog.make, {
            strategy,
            compaction: { mode: "manual" },
          })
          const committed: Array<string> = []
          for (const message of messages) {
            yield* memory.append("s", message)
            for (const outcome of yield* memory.compact("s", { which: "due" }))
              if (outcome._tag === "Committed") committed.push(outcome.committed.summary)
          }
          if (isReverted) yield* memory.revert("s")
          const { version, versions, compactions } = yield* memory.timeline("s")
          expect(versions.map((one) => one.version)).toEqual(
            Array.from({ length: version }, (_, at) => at + 1),
          )
          for (const one of versions) {
            const state = yield* memory.state("s", { atVersion: one.version })
            expect(one).toMatchObject({
              total: state.total,
              coveredTo: state.coveredTo,
              branch: state.branch.id,
              tokens: Session.contextTokens({ ...state, reported: null }),
            })
          }
          expect(compactions.flatMap(({ summary }) => summary ?? [])).toEqual(committed)
          const summaries = yield* memory.summaries("s")
          expect(
            compactions.flatMap(({ summary, status }) => (summary === null ? [] : [{ id: summary, status }])),
          ).toEqual(summaries.map(({ id, status }) => ({ id, status })))
        })
        await Effect.runPromise(Effect.scoped(program))
      }),
      { numRuns: often(30, 300) },
    ))

  it("says how a compaction failed", () =>
    Effect.gen(function* () {
      const refused = new Summarizer.SummarizerError({ session: "s", reason: "refused", detail: "no" })
      const refusing = { name: "refusing", summarize: () => Effect.fail(refused) }
      const memory = yield* Memory.make({ strategy: pairs, compaction: { mode: "manual" } }).pipe(
        Effect.provideService(EventLog.EventLog, yield* InMemoryEventLog.make),
        Effect.provideService(Summarizer.Summarizer, refusing),
      )
      yield* memory.append("s", said(8))
      yield* memory.compact("s")
      expect((yield* memory.timeline("s")).compactions).toMatchObject([
        { outcome: "failed", failure: "refused", startedAt: 9, endedAt: 10, summary: null, status: null },
      ])
    }).pipe(Logger.withMinimumLogLevel(LogLevel.None), Effect.scoped, Effect.runPromise))
})
