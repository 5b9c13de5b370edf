/** Many sessions are asked for at once: what is read of each is held by a few at a time, whatever is asked (law L19). */
import { describe, expect, it } from "@effect/vitest"
import { echoing, pairs, said } from "@memfold/harness/engine"
import { Effect, Layer } from "effect"
import { EventLog, InMemoryEventLog, Memory } from "../index.js"

const names = Array.from({ length: 80 }, (_, at) => `s${at}`)

const memoryOver = (log: EventLog.Service) =>
  Memory.make({ strategy: pairs, compaction: { mode: "manual" } }).pipe(
    Effect.provide(Layer.merge(echoing, Layer.succeed(EventLog.EventLog, log))),
  )

/** A store that notes of which sessions something was read. */
const noting = (real: EventLog.Service, begun: Set<string>): EventLog.Service => ({
  ...real,
  read: (session, page) =>
    Effect.zipRight(
      Effect.sync(() => begun.add(session)),
      Effect.zipLeft(real.read(session, page), Effect.yieldNow()),
    ),
})

const call = (name: string, args: unknown) => ({
  type: "tool-call" as const,
  id: "c1",
  name,
  arguments: JSON.stringify(args),
})

const operations: Readonly<
  Record<string, (memory: Memory.Service, session: string) => Effect.Effect<unknown, unknown>>
> = {
  recall: (memory, session) => memory.recall(session, "message 3"),
  answerToolCall: (memory, session) =>
    memory.answerToolCall(session, call("search_memory", { query: "message 3" })),
  trace: (memory, session) => memory.trace(session, "It was message 3."),
  traceMessage: (memory, session) => memory.traceMessage(session, 1),
  summaries: (memory, session) => memory.summaries(session),
  timeline: (memory, session) => memory.timeline(session),
  preview: (memory, session) => memory.preview(session),
}

describe("sessions that are asked for at once", () => {
  it.scoped.each(Object.entries(operations))("are read a few at a time by %s", ([, operation]) =>
    Effect.gen(function* () {
      const real = yield* InMemoryEventLog.make
      const writer = yield* memoryOver(real)
      for (const name of names) yield* writer.append(name, said(6, 0))
      const begun = new Set<string>()
      const memory = yield* memoryOver(noting(real, begun))
      let most = 0
      yield* Effect.forEach(
        names,
        (name) =>
          Effect.tap(operation(memory, name), () => {
            most = Math.max(most, begun.size)
            begun.delete(name)
          }),
        { concurrency: "unbounded", discard: true },
      )
      expect(most).toBeGreaterThan(1)
      expect(most).toBeLessThanOrEqual(32)
    }),
  )
})
