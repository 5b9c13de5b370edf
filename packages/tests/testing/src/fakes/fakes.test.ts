import { EventLog, InMemoryEventLog, type Summarizer } from "@memfold/core"
import { Deferred, Effect, Exit, Fiber, TestClock, TestContext } from "effect"
import { describe, expect, it } from "vitest"
import { numbered } from "../arbitrary/record.js"
import * as Fakes from "./index.js"

const request: Summarizer.Request = {
  session: "s",
  kind: "history",
  from: 0,
  to: 4,
  previous: undefined,
  messages: [],
  messagesFrom: 0,
  replacesTokens: 20,
  instructions: undefined,
}
const ask = (summarizer: Summarizer.Service) => summarizer.summarize(request)

describe("a faulty log", () => {
  const versionIn = (log: EventLog.Service) => Effect.map(log.head("s"), (head) => head?.version ?? 0)
  const write = (log: EventLog.Service) => log.append("s", numbered(2), { expectedVersion: 0, batchId: "a" })

  it("loses requests and answers, as its script has it", async () => {
    const program = Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const faulty = Fakes.faultyLog(log, [{ lost: "request" }, { lost: "answer" }])
      const found = []
      for (let call = 0; call < 3; call++) {
        const exit = yield* Effect.exit(write(faulty))
        found.push([Exit.isSuccess(exit) ? exit.value.duplicate : "failed", yield* versionIn(log)])
      }
      return found
    })
    expect(await Effect.runPromise(program)).toEqual([
      ["failed", 0],
      ["failed", 2],
      [true, 2],
    ])
  })

  it("keeps a fault of one operation for it", async () => {
    const program = Effect.gen(function* () {
      const faulty = Fakes.faultyLog(yield* InMemoryEventLog.make, [{ on: "append", lost: "answer" }])
      expect(yield* versionIn(faulty)).toBe(0)
      expect(yield* Effect.flip(write(faulty))).toBeInstanceOf(EventLog.LogError)
      expect(yield* versionIn(faulty)).toBe(2)
    })
    await Effect.runPromise(program)
  })

  it("is slow by Effect's clock, on the way there and back", async () => {
    const program = Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const fiber = yield* Effect.fork(write(Fakes.faultyLog(log, [{ there: 100, back: 50 }])))
      const seen = []
      for (const millis of [99, 1, 49, 1]) {
        yield* TestClock.adjust(millis)
        const done = (yield* Fiber.poll(fiber))._tag === "Some"
        seen.push([yield* versionIn(log), done])
      }
      return seen
    })
    expect(await Effect.runPromise(Effect.provide(program, TestContext.TestContext))).toEqual([
      [0, false],
      [2, false],
      [2, false],
      [2, true],
    ])
  })
})

describe("a fake summarizer", () => {
  it("does what its name says", async () => {
    expect(await Effect.runPromise(ask(Fakes.echo()))).toEqual({ text: "[0,4)" })
    expect(await Effect.runPromise(ask(Fakes.truncating()))).toMatchObject({ finish: "length" })
    const { text } = await Effect.runPromise(ask(Fakes.inflating(3)))
    expect(text.length).toBeGreaterThan(3 * request.replacesTokens)
    expect(Exit.isFailure(await Effect.runPromiseExit(ask(Fakes.dying())))).toBe(true)
  })

  it("fails as often as it is told", async () => {
    const failing = Fakes.failing({ times: 2, reason: "timeout" })
    const asked = await Effect.runPromise(Effect.all([1, 2, 3].map(() => Effect.either(ask(failing)))))
    expect(asked.map(({ _tag }) => _tag)).toEqual(["Left", "Left", "Right"])
    expect(await Effect.runPromise(Effect.flip(ask(Fakes.failing())))).toMatchObject({
      reason: "unavailable",
    })
  })

  it("keeps what it was asked, and waits where it is told to", async () => {
    const { summarizer, requests } = Fakes.recording()
    await Effect.runPromise(ask(summarizer))
    expect(requests).toEqual([request])
    const waiting = Effect.gen(function* () {
      const { entered, gate, summarizer } = yield* Fakes.gated
      const fiber = yield* Effect.fork(ask(summarizer))
      yield* Deferred.await(entered)
      expect((yield* Fiber.poll(fiber))._tag).toBe("None")
      yield* Deferred.succeed(gate, undefined)
      return yield* Fiber.join(fiber)
    })
    expect(await Effect.runPromise(waiting)).toEqual({ text: "[0,4)" })
  })
})
