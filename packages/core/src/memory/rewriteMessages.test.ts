import { Effect, Either, Stream } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { Keep, Memory, Message, Strategy, SummaryMode, Trigger, Verify, EventLog } from "../index.js"
import { withMemory } from "@memfold/harness/engine"

const strategy = Strategy.make({
  name: "short",
  when: Trigger.backlog({ messages: 4 }),
  keep: Keep.lastMessages(4),
  summaryMode: SummaryMode.rolling,
})

const text = (message: Message.Message | undefined) => (message === undefined ? "" : Message.text(message))
const long = (word: string) => `${word} `.repeat(40)

const turns = (count: number) =>
  Array.from({ length: count }, (_, n) => [
    Message.user(long(`q${n}`)),
    Message.assistant(long(`a${n}`)),
  ]).flat()

/** Runs a program with a memory that compacts within each append. */
const run = <A, E>(program: Effect.Effect<A, E, Memory.Memory | EventLog.EventLog>) =>
  Effect.runPromise(Effect.provide(program, withMemory({ strategy, compaction: { mode: "inline" } })))

describe("a rewrite", () => {
  it("takes the newest messages back, in one batch that the log can show", () =>
    run(
      Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", turns(8))
        const before = yield* memory.state("s")
        expect(before.summary).not.toBeNull()
        const done = yield* memory.rewrite("s", (messages) => messages.slice(0, -1))
        expect(done).toEqual({ applied: true, duplicate: false, kept: 15, total: 15 })
        const { messages } = yield* memory.messages("s", { limit: 50 })
        expect(messages).toEqual(turns(8).slice(0, -1))
        const context = yield* memory.context("s")
        expect(context.messages.map(text).join(" ")).not.toContain("a7")
        // What was said is in the log, and a context of the past shows it.
        const past = yield* memory.context("s", { atVersion: before.version })
        expect(past.messages.map(text).join(" ")).toContain("a7")
        const events = Array.from(
          yield* Stream.runCollect(memory.events("s", { fromVersion: before.version + 1 })),
        )
        expect(events[0]?.event._tag).toBe("BranchSwitched")
        const found = yield* memory.recall("s", "a7")
        expect(found.text).not.toContain("a7")
        expect(yield* Verify.session(yield* EventLog.EventLog, "s")).toEqual([])
      }),
    ))

  it("appends what only comes at the end, and keeps the summary", () =>
    run(
      Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", turns(8))
        const { summary } = yield* memory.state("s")
        yield* memory.rewrite("s", (messages) => [...messages, Message.user("one more")])
        const after = yield* memory.state("s")
        expect([after.summary?.id, after.clears, after.total]).toEqual([summary?.id, 0, 17])
      }),
    ))

  it("changes nothing if it returns null", () =>
    run(
      Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", turns(1))
        const { version } = yield* memory.state("s")
        const done = yield* memory.rewrite("s", () => null, { idempotencyKey: "k" })
        expect(done).toEqual({ applied: false, duplicate: false, kept: 2, total: 2 })
        expect((yield* memory.state("s")).version).toBe(version)
      }),
    ))

  it("is applied once with the same key, and is an error for another rewrite", () =>
    run(
      Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", turns(3))
        const change: Memory.Rewrite = (messages) =>
          text(messages.at(-1)) === text(turns(3).at(-1))
            ? [...messages.slice(0, -1), Message.assistant("replaced")]
            : null
        const options = { idempotencyKey: "k" }
        expect(yield* memory.rewrite("s", change, options)).toMatchObject({ applied: true, duplicate: false })
        yield* memory.append("s", Message.user("after"))
        const { version } = yield* memory.state("s")
        expect(yield* memory.rewrite("s", change, options)).toMatchObject({ applied: true, duplicate: true })
        const other = yield* Effect.either(memory.rewrite("s", (messages) => messages.slice(0, 1), options))
        expect(Either.isLeft(other) && other.left._tag).toBe("IdempotencyKeyReused")
        expect((yield* memory.state("s")).version).toBe(version)
      }),
    ))

  it("runs again on what another writer has appended meanwhile", () =>
    run(
      Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", turns(2))
        const seen: Array<number> = []
        const rewrite = memory.rewrite("s", (messages) => {
          seen.push(messages.length)
          if (seen.length === 1) Effect.runFork(memory.append("s", Message.user("meanwhile")))
          return messages.slice(1)
        })
        yield* rewrite
        const { messages } = yield* memory.messages("s")
        expect(messages.map(text)).toEqual([...turns(2).slice(1).map(text), "meanwhile"])
        expect(seen).toEqual([4, 5])
      }),
    ))

  it("of the newest messages leaves what is before them, and reads nothing else", () =>
    run(
      Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", turns(8))
        const seen: Array<number> = []
        const done = yield* memory.rewrite(
          "s",
          (messages) => {
            seen.push(messages.length)
            return [...messages.slice(0, -2), Message.assistant("replaced")]
          },
          { last: 3 },
        )
        expect([done, seen]).toEqual([{ applied: true, duplicate: false, kept: 14, total: 15 }, [3]])
        const { messages } = yield* memory.messages("s", { limit: 50 })
        expect(messages.map(text)).toEqual([...turns(8).slice(0, 14).map(text), "replaced"])
        const nothing = yield* memory.rewrite("s", () => null, { last: 3 })
        expect(nothing).toEqual({ applied: false, duplicate: false, kept: 15, total: 15 })
        const wrong = yield* Effect.either(memory.rewrite("s", () => null, { last: 0 }))
        expect(Either.isLeft(wrong) && wrong.left._tag).toBe("InvalidInput")
        expect(yield* Verify.session(yield* EventLog.EventLog, "s")).toEqual([])
      }),
    ))

  it("of the newest messages is applied once with the same key, also if its place is gone", () =>
    run(
      Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", turns(3))
        const last = text(turns(3).at(-1))
        const change: Memory.Rewrite = (messages) =>
          text(messages.at(-1)) === last ? messages.slice(0, -1) : null
        const options = { idempotencyKey: "k", last: 2 }
        expect(yield* memory.rewrite("s", change, options)).toMatchObject({ applied: true, duplicate: false })
        yield* memory.append("s", Message.user("after"))
        expect(yield* memory.rewrite("s", change, options)).toMatchObject({ applied: true, duplicate: true })
        yield* memory.append("s", Message.assistant(last))
        expect(yield* memory.rewrite("s", change, options)).toMatchObject({ applied: true, duplicate: true })
        expect((yield* memory.state("s")).total).toBe(7)
      }),
    ))

  it("of the newest messages runs again on what another writer has appended meanwhile", () =>
    run(
      Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", turns(2))
        let times = 0
        yield* memory.rewrite(
          "s",
          (messages) => {
            if (times++ === 0) Effect.runFork(memory.append("s", Message.user("meanwhile")))
            return messages.filter((message) => text(message) !== text(turns(2).at(-1)))
          },
          { last: 1 },
        )
        const { messages } = yield* memory.messages("s")
        expect(messages.map(text)).toEqual([...turns(2).slice(0, 3).map(text), "meanwhile"])
      }),
    ))

  it("gives the messages it was asked for, whatever they were", async () => {
    const message = fc
      .nat({ max: 5 })
      .map((n) => (n % 2 === 0 ? Message.user(`m${n}`) : Message.assistant(`m${n}`)))
    const list = fc.array(message, { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(list, list, (before, after) =>
        run(
          Effect.gen(function* () {
            const memory = yield* Memory.Memory
            if (before.length > 0) yield* memory.append("s", before)
            yield* memory.rewrite("s", () => after)
            expect((yield* memory.messages("s")).messages).toEqual(after)
          }),
        ),
      ),
      { numRuns: often(15, 50) },
    )
  })
})
