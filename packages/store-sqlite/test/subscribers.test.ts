/** Subscribers of one file: they hear of everything, and cost next to nothing while nothing happens. */
import { Message } from "@memfold/core"
import { memoryOver, pairs } from "@memfold/harness/engine"
import { Effect, Fiber, Stream } from "effect"
import { join } from "node:path"
import { setTimeout as measured } from "node:timers/promises"
import { expect, it } from "vitest"
import { make } from "../src/index.js"
import { eventually, folder } from "./support.js"

const memoryOf = (filename: string) =>
  Effect.flatMap(make({ filename }), (log) =>
    memoryOver(log, { strategy: pairs, compaction: { mode: "off" } }),
  )

it("1,000 of them take less than a tenth of a processor while nothing happens", () =>
  Effect.gen(function* () {
    const filename = join(folder(), "chats.db")
    const here = yield* memoryOf(filename)
    const elsewhere = yield* memoryOf(filename)
    yield* here.append("one", Message.user("hello"))
    let heard = 0
    for (let count = 0; count < 1_000; count++) {
      yield* Effect.forkScoped(Stream.runForEach(here.subscribe("one"), () => Effect.sync(() => heard++)))
    }
    yield* Effect.promise(() => eventually("all have heard of the first message", () => heard === 1_000))
    // What is left of the beginning, such as a garbage collection, is in the first of these seconds.
    const used = yield* Effect.promise(async () => {
      let least = Infinity
      for (let second = 0; second < 3; second++) {
        const before = process.cpuUsage()
        await measured(1_000)
        const { user, system } = process.cpuUsage(before)
        least = Math.min(least, (user + system) / 1e6)
      }
      return least
    })
    expect(used).toBeLessThan(0.1)
    yield* elsewhere.append("one", Message.user("and from elsewhere"))
    yield* Effect.promise(() => eventually("all have heard of the second one", () => heard === 2_000))
  }).pipe(Effect.scoped, Effect.runPromise))

it("hear of what other connections write, delete and begin anew, each of its own session", () =>
  Effect.gen(function* () {
    const filename = join(folder(), "chats.db")
    const here = yield* memoryOf(filename)
    const elsewhere = yield* memoryOf(filename)
    yield* elsewhere.append("one", [Message.user("1"), Message.user("2")])
    const heard: Array<string> = []
    const subscribed = (session: string) =>
      here.subscribe(session).pipe(
        Stream.runForEach(({ event, version }) =>
          Effect.sync(() => {
            const said = event._tag === "MessageAppended" ? Message.text(event.message) : event._tag
            heard.push(`${session} ${version} ${said}`)
          }),
        ),
        Effect.forkScoped,
      )
    const one = yield* subscribed("one")
    yield* subscribed("two")
    const hears = (...lines: ReadonlyArray<string>) =>
      Effect.promise(() =>
        eventually(`${lines.join(", ")} is heard`, () => lines.every((line) => heard.includes(line))),
      )
    yield* hears("one 2 2")
    yield* elsewhere.append("two", Message.user("3"))
    yield* hears("two 1 3")
    // As long as before, and another session nevertheless.
    yield* elsewhere.delete("one")
    yield* elsewhere.append("one", [Message.user("4"), Message.user("5")])
    yield* hears("one 1 4", "one 2 5")
    yield* Fiber.interrupt(one)
    yield* elsewhere.append("two", Message.user("6"))
    yield* hears("two 2 6")
    expect(heard).toHaveLength(6)
  }).pipe(Effect.scoped, Effect.runPromise))
