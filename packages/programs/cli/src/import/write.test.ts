import { createHash } from "node:crypto"
import * as fc from "fast-check"
import { EventCodec, EventLog, InMemoryEventLog, TokenCounter } from "@memfold/core"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { chat } from "@memfold/testing/arbitrary"
import { eventsOf } from "./events.js"
import { commitOf, importedBefore, write } from "./write.js"

const { events } = eventsOf(
  { messages: chat(4), summaries: [] },
  { session: "s", now: 0, counter: TokenCounter.estimating },
)

const onLog = <A, E>(use: (log: EventLog.Service) => Effect.Effect<A, E>): Promise<A> =>
  Effect.runPromise(Effect.flatMap(EventLog.EventLog, use).pipe(Effect.provide(InMemoryEventLog.layer)))

describe("an import", () => {
  it("is one batch, and done once (L12)", () =>
    onLog((log) =>
      Effect.gen(function* () {
        expect(yield* importedBefore(log, "s", "c")).toBe(false)
        expect(yield* write(log, "s", "c", events)).toBe(true)
        expect(yield* importedBefore(log, "s", "c")).toBe(true)
        expect(yield* write(log, "s", "c", events)).toBe(false)
        expect(yield* EventLog.versionOf(log, "s")).toBe(events.length)
        const next = { time: 1, ...EventCodec.encode({ _tag: "SessionCleared" }) }
        yield* log.append("s", [next], { expectedVersion: events.length, batchId: "later" })
        // The session has gone on since.
        expect(yield* importedBefore(log, "s", "c")).toBe(true)
      }),
    ))

  it("goes into no session that has other content, and leaves it as it was", () =>
    onLog((log) =>
      Effect.gen(function* () {
        yield* write(log, "s", "c", events)
        const before = yield* Effect.flip(importedBefore(log, "s", "other"))
        expect(before).toMatchObject({ _tag: "SessionTaken", session: "s", events: events.length })
        // Somebody else was faster.
        const raced = yield* Effect.flip(write(log, "s", "other", events))
        expect(raced).toMatchObject({ _tag: "SessionTaken" })
        expect(yield* EventLog.versionOf(log, "s")).toBe(events.length)
      }),
    ))

  it("is named after what it brings", () => {
    expect(commitOf({ a: 1 })).toBe(commitOf({ a: 1 }))
    expect(commitOf({ a: 1 })).not.toBe(commitOf({ a: 2 }))
  })

  it("is the hash of its JSON, of which no more than a message is made at once", () =>
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.anything()), (content) => {
        let json: string
        try {
          json = JSON.stringify(content)
        } catch {
          return
        }
        expect(commitOf(content)).toBe(
          `import-${createHash("sha256").update(json).digest("hex").slice(0, 20)}`,
        )
      }),
    ))
})
