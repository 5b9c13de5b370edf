/** Opening and closing a memory while calls are under way. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { EventLog, InMemoryEventLog, Recall, VectorIndex } from "@memfold/core"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { inFolder } from "../conformance/talk.js"
import { type Closed, createMemory } from "./index.js"
import type { PromiseMemory } from "./promise/PromiseMemory.js"

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

const said = (index: number) => ({ role: "user", content: `message ${index}` }) as const

const contents = async (memory: PromiseMemory<"openai">, session = "s") =>
  (await memory.context(session)).messages.map(({ content }) => content)

describe("calls without waiting, on a memory that is just opening", () => {
  it("are in the log in their order", () =>
    inFolder(async (folder) => {
      for (const round of numbers(20)) {
        const memory = createMemory({
          store: `sqlite:${join(folder, `${round}.db`)}`,
          compaction: { mode: "off" },
        })
        // The first one has far more to decode than the others.
        const first = numbers(round % 2 === 0 ? 1 : 3_000).map(said)
        const sizes = [
          memory.append("s", first),
          memory.append("s", said(-1)),
          memory.append("s", said(-2), { idempotencyKey: "k" }),
          memory.append("s", said(-3)),
        ]
        const ranges = await Promise.all(sizes)
        expect(ranges.map(({ from }) => from - first.length)).toEqual([-first.length, 0, 1, 2])
        expect((await contents(memory)).slice(-3)).toEqual(["message -1", "message -2", "message -3"])
        await memory.close()
      }
    }))
})

describe("calls while a memory opens", () => {
  it("are in the log in their order, also calls made when it has just opened", () =>
    inFolder(async (folder) => {
      for (const store of ["memory:", `sqlite:${join(folder, "chats.db")}`]) {
        const memory = createMemory({ store, compaction: { mode: "off" } })
        const ranges: Array<Promise<{ readonly from: number }>> = []
        let opened = false
        // In each step that the opening takes, and in each of the first ones after it.
        for (let after = 0; after < 100; after += opened ? 1 : 0) {
          ranges.push(memory.append("s", said(ranges.length)))
          ranges[0]?.then(() => (opened = true))
          if (ranges.length % 50 === 0) await new Promise(setImmediate)
          else await Promise.resolve()
        }
        const found = (await Promise.all(ranges)).map(({ from }) => from)
        expect(found).toEqual(numbers(ranges.length))
        await memory.close()
      }
    }))
})

describe("close", () => {
  const outcome = (error: unknown) => (error as Closed)._tag

  it("lets appends under way finish, or rejects them with Closed; what was resolved is stored", () =>
    inFolder(async (folder) => {
      for (const round of numbers(8)) {
        const store = `sqlite:${join(folder, `${round}.db`)}`
        const memory = createMemory({ store })
        // Three cases: a memory that is opening, an open memory, a memory with waiting appends.
        if (round % 2 === 1) await memory.append("s", said(0))
        const appends = numbers(200).map((index) =>
          memory.append(`s`, said(index)).then(
            ({ from }) => from,
            (error: unknown) => outcome(error),
          ),
        )
        if (round >= 4) await Promise.race(appends)
        await memory.close()
        const outcomes = await Promise.all(appends)
        const stored = outcomes.filter((one) => typeof one === "number")
        expect(outcomes.filter((one) => typeof one !== "number").every((one) => one === "Closed")).toBe(true)
        if (!existsSync(store.slice("sqlite:".length))) {
          expect(stored).toEqual([])
          continue
        }
        const again = createMemory({ store, compaction: { mode: "off" } })
        expect((await again.state("s")).total).toBe(stored.length + (round % 2))
        await again.close()
        await expect(memory.append("s", said(1))).rejects.toMatchObject({ _tag: "Closed" })
      }
    }))

  it("resolves an append whose compactions it ends, and rejects other calls with Closed, at once", async () => {
    const never = () => new Promise<string>(() => {})
    const inline = createMemory({
      store: "memory:",
      strategy: "sliding-window",
      summarizer: never,
      compaction: { mode: "inline" },
    })
    const append = inline.append("s", numbers(60).map(said))
    const background = createMemory({
      store: "memory:",
      strategy: "sliding-window",
      summarizer: never,
      budget: { tokens: 10, timeout: "10 minutes" },
    })
    await background.append("s", numbers(60).map(said))
    const context = background.context("s").then(() => "answered", outcome)
    const compacting = background.compact("s").then(() => "answered", outcome)
    await new Promise((resolve) => setImmediate(resolve))
    const began = performance.now()
    await Promise.all([inline.close(), background.close()])
    expect(performance.now() - began).toBeLessThan(5_000)
    expect(await append).toMatchObject({ from: 0, to: 60 })
    expect(await context).toBe("Closed")
    expect(["answered", "Closed"]).toContain(await compacting)
  })

  it("ends an opening that is under way, and resolves when its store is closed", async () => {
    const seen: Array<string> = []
    const slow = Layer.scoped(
      EventLog.EventLog,
      Effect.acquireRelease(
        Effect.async<void>((resume) => {
          setTimeout(() => resume(Effect.void), 20)
        }).pipe(
          Effect.tap(() => Effect.sync(() => seen.push("opened"))),
          Effect.zipRight(InMemoryEventLog.make),
        ),
        () => Effect.sync(() => seen.push("closed")),
      ),
    )
    const memory = createMemory({ store: slow })
    const context = memory.context("s").then(() => "answered", outcome)
    await memory.close()
    seen.push("resolved")
    expect(await context).toBe("Closed")
    expect(seen).toEqual(["opened", "closed", "resolved"])
  })
})

it("layers of several parts that share one build it once", async () => {
  let built = 0
  const shared = Layer.scopedDiscard(Effect.sync(() => built++))
  const memory = createMemory({
    store: Layer.provide(InMemoryEventLog.layer, shared),
    recall: {
      vectorIndex: Layer.provide(Layer.sync(VectorIndex.VectorIndex, Recall.vectorsInProcess), shared),
    },
  })
  await memory.context("s")
  await memory.close()
  expect(built).toBe(1)
})
