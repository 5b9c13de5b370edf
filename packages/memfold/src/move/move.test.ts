import {
  CurrentSummarizer,
  EchoSummarizer,
  EventLog,
  Fold,
  InMemoryEventLog,
  Keep,
  Memory,
  Message,
  Strategy,
  Trigger,
  Verify,
} from "@memfold/core"
import { Effect, type Scope, Stream } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { copySession } from "./copy.js"
import { exportLines, openExport } from "./exported.js"

const folder = mkdtempSync(join(tmpdir(), "memfold-move-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const pairs = Strategy.make({
  name: "pairs",
  when: Trigger.backlog({ messages: 4 }),
  keep: Keep.lastMessages(2),
  fold: Fold.rolling,
})

const memoryOver = (log: EventLog.Service) =>
  Memory.make({ strategy: pairs, compaction: "inline" }).pipe(
    Effect.provideService(EventLog.EventLog, log),
    Effect.provideService(CurrentSummarizer, EchoSummarizer.make()),
  )

const words = "𝕊 你好 \ud800 \u2028 \u0000"

/** A log with two sessions that have been compacted, one of them with a message that was redacted. */
const filled = Effect.gen(function* () {
  const log = yield* InMemoryEventLog.make
  const memory = yield* memoryOver(log)
  for (const session of ["one", 'two\n"2"']) {
    for (let turn = 0; turn < 6; turn++) {
      yield* memory.append(session, [Message.user(`${words} ${turn}`), Message.assistant(`said ${turn}`)])
    }
  }
  yield* memory.redact("one", 1)
  return log
})

const read = (log: EventLog.Service, session: string) =>
  Effect.map(Stream.runCollect(log.read(session)), (records) => [...records])

const run = <A, E>(program: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Effect.scoped(program))

describe("copying a session", () => {
  it("brings every record, the snapshot, and what is appended next has its place", () =>
    run(
      Effect.gen(function* () {
        const [from, to] = [yield* filled, yield* InMemoryEventLog.make]
        const copied = yield* copySession(from, to, "one")
        expect(copied).toMatchObject({ session: "one", written: copied.events })
        expect(yield* read(to, "one")).toEqual(yield* read(from, "one"))
        expect(yield* to.loadSnapshot("one")).toEqual(yield* from.loadSnapshot("one"))
        expect(yield* Verify.session(to, "one")).toEqual([])
        const [there, here] = [yield* memoryOver(to), yield* memoryOver(from)]
        expect(yield* there.context("one")).toEqual(yield* here.context("one"))
        expect(yield* there.append("one", Message.user("and on"))).toMatchObject({ from: 12 })
      }),
    ))

  it("goes on where it broke off, and writes nothing twice", () =>
    run(
      Effect.gen(function* () {
        const [from, to] = [yield* filled, yield* InMemoryEventLog.make]
        let left = 5
        const breaking: EventLog.Service = {
          ...to,
          append: (...given) =>
            left-- > 0
              ? to.append(...given)
              : new EventLog.LogError({ operation: "append", reason: "the cable is out" }),
        }
        expect(yield* Effect.flip(copySession(from, breaking, "one"))).toMatchObject({ _tag: "LogError" })
        const there = yield* to.version("one")
        expect(there).toBeGreaterThan(0)
        const { events, written } = yield* copySession(from, to, "one")
        expect(written).toBe(events - there)
        expect(yield* copySession(from, to, "one")).toMatchObject({ events, written: 0 })
        expect(yield* read(to, "one")).toEqual(yield* read(from, "one"))
      }),
    ))

  it("leaves another session of that name alone, and says where it differs", () =>
    run(
      Effect.gen(function* () {
        const [from, to] = [yield* filled, yield* filled]
        const other = yield* memoryOver(to)
        yield* other.append("one", Message.user("only here"))
        const before = yield* read(to, "one")
        const failed = yield* Effect.flip(copySession(from, to, "one"))
        expect(failed).toMatchObject({ _tag: "Diverged", session: "one" })
        expect(failed.message).not.toContain("only here")
        expect(yield* read(to, "one")).toEqual(before)
      }),
    ))
})

describe("an export", () => {
  const exported = (log: EventLog.Service) =>
    Effect.map(
      Stream.runCollect(
        exportLines(
          log,
          Stream.map(log.sessions, ({ session }) => session),
        ),
      ),
      (lines) => [...lines],
    )

  let files = 0
  const fileOf = (lines: ReadonlyArray<string>) => {
    const path = join(folder, `${files++}.jsonl`)
    writeFileSync(path, lines.map((line) => `${line}\n`).join(""))
    return path
  }

  it("has everything, and a store made of it is the same", () =>
    run(
      Effect.gen(function* () {
        const [from, to] = [yield* filled, yield* InMemoryEventLog.make]
        const file = yield* openExport(fileOf(yield* exported(from)))
        expect(file.sessions).toEqual(["one", 'two\n"2"'])
        for (const session of file.sessions) {
          yield* copySession(file, to, session)
          expect(yield* read(to, session)).toEqual(yield* read(from, session))
        }
        expect(yield* exported(to)).toEqual(yield* exported(from))
      }),
    ))

  it("that was cut off, changed or shuffled is refused before anything is written, by file and line", () =>
    run(
      Effect.gen(function* () {
        const lines = yield* exported(yield* filled)
        const refused = (changed: ReadonlyArray<string>) =>
          Effect.map(Effect.flip(openExport(fileOf(changed))), ({ message }) =>
            message.slice(folder.length + 1).replace(/^\d+/u, "X"),
          )
        expect(yield* refused(lines.slice(0, -1))).toMatch(/^X.jsonl: it was cut off/)
        expect(yield* refused([...lines.slice(0, 3), (lines[3] ?? "").slice(0, 40)])).toMatch(
          /^X.jsonl:4: it is no/,
        )
        const changed = lines.map((line) => line.replace("said 4", "says 4"))
        expect(yield* refused(changed)).toMatch(/^X.jsonl: its sums are wrong/)
        const [head = "", first = "", second = "", ...rest] = lines
        expect(yield* refused([head, second, first, ...rest])).toMatch(/^X.jsonl:2: event 2 .* out of order/)
        expect(yield* refused([...lines, first])).toMatch(/follows the end/)
        expect(yield* refused(lines.slice(1))).toMatch(/^X.jsonl:1: it is no export/)
        expect(yield* refused([head.replace("1", "2"), ...lines.slice(1)])).toMatch(/newer memfold/)
        expect(yield* refused([])).toMatch(/cut off/)
        expect((yield* Effect.flip(openExport(join(folder, "nowhere")))).message).toMatch(/cannot be read/)
      }),
    ))
})
