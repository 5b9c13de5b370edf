/** Writes that name a version: another version refuses them, whoever wrote it, and a retry is answered as the first write. */
import { describe, expect, it } from "@effect/vitest"
import { pairs, said, withMemory } from "@memfold/harness/engine"
import { Effect } from "effect"
import { EchoSummarizer, EventLog, InMemoryEventLog, Memory, Summarizer } from "../index.js"

const live = withMemory({ strategy: pairs, compaction: { mode: "manual" } })
const [one, two, three] = said(3)

const mismatch = (expected: number, version: number) => ({
  _tag: "VersionMismatch",
  session: "s",
  expected,
  version,
})

describe("a write with ifVersion", () => {
  it.effect("is refused at another version, and writes nothing", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      expect(yield* memory.append("s", one!, { ifVersion: 0 })).toMatchObject({ version: 1 })
      const refused: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
        memory.append("s", two!, { ifVersion: 0 }),
        memory.append("s", two!, { ifVersion: 0, idempotencyKey: "k" }),
        memory.append("s", [], { ifVersion: 0 }),
        memory.edit("s", 0, two!, { ifVersion: 0 }),
        memory.edit("s", 0, two!, { ifVersion: 0, idempotencyKey: "k" }),
        memory.regenerate("s", { ifVersion: 0 }),
      ]
      for (const write of refused) expect(yield* Effect.flip(write)).toMatchObject(mismatch(0, 1))
      expect(yield* Effect.flip(memory.append("s", two!, { ifVersion: 2 }))).toMatchObject(mismatch(2, 1))
      expect(yield* memory.state("s")).toMatchObject({ version: 1, total: 1 })
      expect(yield* Effect.flip(memory.append("s", two!, { ifVersion: -1 }))).toMatchObject({
        _tag: "InvalidInput",
      })
    }).pipe(Effect.provide(live)),
  )

  it.effect("is answered as before when it is tried again, whatever came behind it", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const first = memory.append("s", [one!, two!], { ifVersion: 0, idempotencyKey: "k" })
      expect(yield* first).toMatchObject({ from: 0, to: 2, duplicate: false })
      yield* memory.append("s", three!)
      expect(yield* first).toMatchObject({ from: 0, to: 2, version: 2, duplicate: true })
      const edit = memory.edit("s", 1, three!, { ifVersion: 3, idempotencyKey: "e" })
      const edited = yield* edit
      expect(edited).toMatchObject({ from: 1, to: 2, duplicate: false })
      expect(yield* edit).toEqual({ ...edited, duplicate: true })
      expect(
        yield* Effect.flip(memory.append("s", three!, { ifVersion: 0, idempotencyKey: "k" })),
      ).toMatchObject({ _tag: "IdempotencyKeyReused" })
    }).pipe(Effect.provide(live)),
  )

  it.effect("sees what another process has written, and of many writers one wins", () =>
    Effect.gen(function* () {
      const log = yield* EventLog.EventLog
      const open = Memory.make({ strategy: pairs }).pipe(
        Effect.provideService(EventLog.EventLog, log),
        Effect.provideService(Summarizer.Summarizer, EchoSummarizer.make()),
      )
      const [here, there] = [yield* open, yield* open]
      yield* here.append("s", one!)
      yield* there.append("s", two!)
      // This one has version 1 in its cache.
      expect(yield* Effect.flip(here.append("s", three!, { ifVersion: 1 }))).toMatchObject(mismatch(1, 2))
      const results = yield* Effect.all(
        Array.from({ length: 20 }, (_, n) =>
          Effect.either((n % 2 === 0 ? here : there).append("s", three!, { ifVersion: 2 })),
        ),
        { concurrency: "unbounded" },
      )
      expect(results.filter(({ _tag }) => _tag === "Right")).toHaveLength(1)
      expect((yield* here.state("s")).total).toBe(3)
    }).pipe(Effect.scoped, Effect.provide(InMemoryEventLog.layer)),
  )
})
