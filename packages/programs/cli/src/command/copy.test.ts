import { EventLog, InMemoryEventLog, Message } from "@memfold/core"
import { Console, Effect, Exit, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { copyAll } from "./copy.js"
import { copySession, sourceOf } from "@memfold/archive"
import { memoryOver, filled, run } from "../../test/movedLogs.js"

describe("copying several sessions", () => {
  const all = (from: EventLog.Service, to: EventLog.Service, names: ReadonlyArray<string>, kept = true) =>
    Effect.gen(function* () {
      const printed: Array<Record<string, unknown>> = []
      const console = yield* Console.consoleWith(Effect.succeed)
      const listening: Console.Console = {
        ...console,
        log: (line: string) => Effect.sync(() => void printed.push(JSON.parse(line))),
      }
      const exit = yield* copyAll(Stream.fromIterable(names), sourceOf(from), to, { json: true, kept }).pipe(
        Effect.withConsole(listening),
        Effect.exit,
      )
      return { exit, printed }
    })

  it("goes on after a session that failed, and reports the failure in the end", () =>
    run(
      Effect.gen(function* () {
        const [from, to] = [yield* filled, yield* InMemoryEventLog.make]
        const broken: EventLog.Service = {
          ...to,
          append: (session, ...given) =>
            session === "one"
              ? new EventLog.LogError({ operation: "append", reason: "the disk is full" })
              : to.append(session, ...given),
        }
        const { exit, printed } = yield* all(from, broken, ["one", 'two\n"2"'])
        expect(exit).toEqual(Exit.fail(expect.objectContaining({ _tag: "Findings" })))
        expect(printed).toMatchObject([
          { type: "failed", session: "one", problem: expect.stringContaining("the disk is full") },
          { type: "copied", session: 'two\n"2"' },
          { type: "copy", sessions: 1, failed: 1, diverged: 0, kept: true },
        ])
      }),
    ))

  it("stops when nothing goes any more, and says so", () =>
    run(
      Effect.gen(function* () {
        const [from, to] = [yield* filled, yield* InMemoryEventLog.make]
        const gone = new EventLog.LogError({ operation: "head", reason: "it is gone" })
        const { exit, printed } = yield* all(from, { ...to, head: () => gone }, [
          "one",
          'two\n"2"',
          "one",
          'two\n"2"',
        ])
        expect(exit).toEqual(Exit.fail(expect.objectContaining({ _tag: "Findings" })))
        expect(printed.at(-1)).toMatchObject({ type: "copy", sessions: 0, failed: 3 })
      }),
    ))

  it("is done where some have gone on there, or were deleted since they were listed", () =>
    run(
      Effect.gen(function* () {
        const [from, to] = [yield* filled, yield* InMemoryEventLog.make]
        yield* copySession(sourceOf(from), to, "one")
        const events = yield* EventLog.versionOf(to, "one")
        yield* Effect.flatMap(memoryOver(to), (memory) => memory.append("one", Message.user("further")))
        const { exit, printed } = yield* all(from, to, ["one", "deleted"], false)
        expect(exit).toEqual(Exit.void)
        expect(printed).toMatchObject([
          { type: "ahead", session: "one", events, there: yield* EventLog.versionOf(to, "one") },
          { type: "copy", sessions: 0, events: 0, written: 0, ahead: 1, diverged: 0, failed: 0, kept: false },
        ])
      }),
    ))
})
