import {
  CurrentSummarizer,
  EchoSummarizer,
  EventLog,
  InMemoryEventLog,
  Memory,
  Message,
  Verify,
} from "@memfold/core"
import { Console, Deferred, Effect, Exit, Fiber, Logger, type Scope, Stream } from "effect"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { copyAll } from "../command/copy.js"
import { pairs } from "../../../core/test/engine.js"
import { copySession } from "./copy.js"
import { exportLines, openExport } from "./exported.js"
import { writeLines } from "./writeLines.js"

const folder = mkdtempSync(join(tmpdir(), "memfold-move-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

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

/** A log as a store would give it that has lost an event, or has another one in its place. */
const damaged = (log: EventLog.Service, seq: number, change: "lost" | "changed"): EventLog.Service => ({
  ...log,
  read: (session, options) =>
    log.read(session, options).pipe(
      Stream.filter((record) => change === "changed" || record.version !== seq),
      Stream.map((record) => (record.version === seq ? { ...record, data: "{}" } : record)),
    ),
})

describe("a log that is damaged", () => {
  const cases = [
    ["lost", /^event 4 is missing; run memfold verify for details$/],
    ["changed", /^event 4 is damaged; run memfold verify for details$/],
  ] as const
  for (const [change, reason] of cases) {
    it(`(an event is ${change}) is copied as far as it is whole, and not exported`, () =>
      run(
        Effect.gen(function* () {
          const [from, to] = [damaged(yield* filled, 4, change), yield* InMemoryEventLog.make]
          const error = yield* Effect.flip(copySession(from, to, "one"))
          expect(error).toMatchObject({ _tag: "LogError", session: "one" })
          expect(error).toHaveProperty("reason", expect.stringMatching(reason))
          const copied = yield* read(to, "one")
          expect(copied).toEqual((yield* read(from, "one")).slice(0, copied.length))
          expect(copied.length).toBeLessThan(4)
          const lines = exportLines(from, Stream.make("one"))
          expect(yield* Effect.flip(Stream.runDrain(lines))).toHaveProperty(
            "reason",
            expect.stringMatching(reason),
          )
        }),
      ))
  }

  it("has no context, and no events, beyond what is lost", () =>
    run(
      Effect.gen(function* () {
        const log = damaged(yield* filled, 4, "lost")
        const folded = yield* memoryOver({ ...log, loadSnapshot: () => Effect.succeedNone })
        expect(yield* Effect.flip(folded.context("one"))).toMatchObject({ _tag: "DamagedEvent", version: 4 })
        const memory = yield* memoryOver(log)
        const events = Stream.runDrain(memory.events("one", { fromVersion: 2 }))
        expect(yield* Effect.flip(events)).toMatchObject({ _tag: "DamagedEvent", version: 4 })
      }),
    ))
})

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
        expect(failed).toMatchObject({ _tag: "Diverged", session: "one", how: "differs", written: 0 })
        expect(failed.message).toMatch(/was not copied: from event 1 on.* delete it there/)
        expect(failed.message).not.toContain("only here")
        expect(yield* read(to, "one")).toEqual(before)
      }),
    ))
})

describe("a session that is not the same on both sides", () => {
  const copies = Effect.gen(function* () {
    const [from, to] = [yield* filled, yield* InMemoryEventLog.make]
    yield* copySession(from, to, 'two\n"2"')
    return { from, to, session: 'two\n"2"' }
  })
  const append = (log: EventLog.Service, session: string, text: string) =>
    Effect.flatMap(memoryOver(log), (memory) => memory.append(session, Message.user(text)))

  it("is no error where it has only gone on", () =>
    run(
      Effect.gen(function* () {
        const { from, to, session } = yield* copies
        const events = yield* from.version(session)
        yield* append(to, session, "further")
        const there = yield* read(to, session)
        const result = yield* copySession(from, to, session)
        expect(result).toMatchObject({ outcome: "ahead", events, written: 0, there: there.length })
        expect(there.length).toBeGreaterThan(events)
        expect(yield* read(to, session)).toEqual(there)
      }),
    ))

  it("is to be redacted on the other side as well, whichever was redacted", () =>
    run(
      Effect.gen(function* () {
        const { from, to, session } = yield* copies
        const redacting = yield* memoryOver(from)
        yield* redacting.redact(session, 1)
        const there = yield* read(to, session)
        const failed = yield* Effect.flip(copySession(from, to, session))
        expect(failed).toMatchObject({ _tag: "Diverged", how: "redacted", written: 0 })
        expect(failed.message).toContain("redact it there as well")
        expect(failed.message).not.toContain("delete")
        expect(yield* read(to, session)).toEqual(there)

        const back = yield* Effect.flip(copySession(to, from, session))
        expect(back).toMatchObject({ _tag: "Diverged", how: "redacted-there" })
        expect(back.message).toContain("redact it in the source as well")
      }),
    ))

  it("is not called redacted where only the data is another", () =>
    run(
      Effect.gen(function* () {
        const { from, to, session } = yield* copies
        const changed: EventLog.Service = {
          ...from,
          read: (...given) =>
            Stream.map(from.read(...given), (record) =>
              record.version === 2 ? { ...record, data: "{}" } : record,
            ),
        }
        const failed = yield* Effect.flip(copySession(changed, to, session))
        expect(failed).toMatchObject({ how: "differs", version: 2 })
      }),
    ))

  it("says what had been written when it was redacted meanwhile", () =>
    run(
      Effect.gen(function* () {
        const [from, to] = [yield* filled, yield* InMemoryEventLog.make]
        const memory = yield* memoryOver(from)
        let appends = 0
        const redactedMeanwhile: EventLog.Service = {
          ...to,
          append: (...given) =>
            Effect.tap(to.append(...given), () =>
              ++appends === 2 ? Effect.orDie(memory.redact("one", 0)) : Effect.void,
            ),
        }
        const failed = yield* Effect.flip(copySession(from, redactedMeanwhile, "one"))
        const written = yield* to.version("one")
        expect(failed).toMatchObject({ _tag: "Diverged", how: "redacted", written })
        expect(failed.message).toContain(`was not copied to its end (written: ${written})`)
        expect(failed.message).not.toContain("keeps it")
      }),
    ))

  it("is looked at anew where another one writes to it at the same time", () =>
    run(
      Effect.gen(function* () {
        const [from, to] = [yield* filled, yield* InMemoryEventLog.make]
        let appends = 0
        const busy = (when: (appends: number) => boolean, meanwhile: Effect.Effect<unknown, unknown>) => ({
          ...to,
          append: (...given: Parameters<EventLog.Service["append"]>) =>
            Effect.suspend(() => (when(++appends) ? Effect.orDie(meanwhile) : Effect.void)).pipe(
              Effect.zipRight(to.append(...given)),
            ),
        })
        const deleted = busy((appends) => appends === 3, to.delete("one"))
        expect(yield* copySession(from, deleted, "one")).toMatchObject({ outcome: "copied" })
        expect(yield* read(to, "one")).toEqual(yield* read(from, "one"))

        yield* to.delete("one")
        appends = 0
        const always = busy((appends) => appends % 2 === 0, to.delete("one"))
        expect(yield* Effect.flip(copySession(from, always, "one"))).toMatchObject({ _tag: "LogError" })

        yield* to.delete("one")
        appends = 0
        const other = busy((appends) => appends === 3, Effect.scoped(append(to, "one", "another")))
        const failed = yield* Effect.flip(copySession(from, other, "one"))
        expect(failed).toMatchObject({ _tag: "Diverged", how: "differs" })
        expect(failed.message).toMatch(/not copied to its end .*before you delete/)
      }),
    ))

  it("fails where it was deleted in its store while it was copied", () =>
    run(
      Effect.gen(function* () {
        const [from, to] = [yield* filled, yield* InMemoryEventLog.make]
        const snapshotless: EventLog.Service = {
          ...to,
          saveSnapshot: () => Effect.asVoid(from.delete("one")),
        }
        const failed = yield* Effect.flip(copySession(from, snapshotless, "one"))
        expect(failed.message).toContain("deleted in the source")
      }),
    ))

  it("does without a snapshot that cannot be read or kept", () =>
    run(
      Effect.gen(function* () {
        const broken = () => new EventLog.LogError({ operation: "snapshot", reason: "it is broken" })
        const [from, to, other] = [yield* filled, yield* InMemoryEventLog.make, yield* InMemoryEventLog.make]
        const warnings: Array<unknown> = []
        const logger = Logger.make(({ message }) => warnings.push(message))
        yield* Effect.zipRight(
          copySession({ ...from, loadSnapshot: broken }, to, "one"),
          copySession(from, { ...other, saveSnapshot: broken }, "one"),
        ).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
        expect(warnings).toHaveLength(2)
        for (const log of [to, other]) expect(yield* read(log, "one")).toEqual(yield* read(from, "one"))
      }),
    ))
})

describe("copying several sessions", () => {
  const all = (from: EventLog.Service, to: EventLog.Service, names: ReadonlyArray<string>, kept = true) =>
    Effect.gen(function* () {
      const printed: Array<Record<string, unknown>> = []
      const console = yield* Console.consoleWith(Effect.succeed)
      const listening: Console.Console = {
        ...console,
        log: (line: string) => Effect.sync(() => void printed.push(JSON.parse(line))),
      }
      const exit = yield* copyAll(Stream.fromIterable(names), from, to, { json: true, kept }).pipe(
        Effect.withConsole(listening),
        Effect.exit,
      )
      return { exit, printed }
    })

  it("goes on after one that failed, and has found something in the end", () =>
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
        const gone = new EventLog.LogError({ operation: "version", reason: "it is gone" })
        const { exit, printed } = yield* all(from, { ...to, version: () => gone }, [
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
        yield* copySession(from, to, "one")
        const events = yield* to.version("one")
        yield* Effect.flatMap(memoryOver(to), (memory) => memory.append("one", Message.user("further")))
        const { exit, printed } = yield* all(from, to, ["one", "deleted"], false)
        expect(exit).toEqual(Exit.void)
        expect(printed).toMatchObject([
          { type: "ahead", session: "one", events, there: yield* to.version("one") },
          { type: "copy", sessions: 0, events: 0, written: 0, ahead: 1, diverged: 0, failed: 0, kept: false },
        ])
      }),
    ))
})

describe("a file of lines", () => {
  const folderOf = () => mkdtempSync(join(folder, "lines-"))

  it("is there as a whole, and never in place of another", () =>
    run(
      Effect.gen(function* () {
        const inside = folderOf()
        const file = join(inside, "a.jsonl")
        yield* writeLines(file, Stream.make("one", "𝕊", "three"))
        expect(readFileSync(file, "utf8")).toBe("one\n𝕊\nthree\n")
        // Conversations are for the eyes of their owner.
        expect(statSync(file).mode & 0o777).toBe(0o600)
        expect(yield* Effect.flip(writeLines(file, Stream.make("other")))).toMatchObject({
          _tag: "NotWritten",
          message: `${file} exists already`,
        })
        const meanwhile = join(inside, "b.jsonl")
        const late = Stream.tap(Stream.make("mine"), () =>
          Effect.sync(() => writeFileSync(meanwhile, "theirs")),
        )
        expect(yield* Effect.flip(writeLines(meanwhile, late))).toMatchObject({ _tag: "NotWritten" })
        expect(readFileSync(meanwhile, "utf8")).toBe("theirs")
        writeFileSync(join(inside, "c.jsonl.partial"), "theirs")
        const taken = yield* Effect.flip(writeLines(join(inside, "c.jsonl"), Stream.make("mine")))
        expect(taken.message).toContain("c.jsonl.partial exists already")
        expect(readdirSync(inside).toSorted()).toEqual(["a.jsonl", "b.jsonl", "c.jsonl.partial"])
        const nowhere = yield* Effect.flip(writeLines(join(inside, "no", "d.jsonl"), Stream.make("mine")))
        expect(nowhere.message).toContain("cannot be written")
      }),
    ))

  it("is not there when its lines fail, die or are interrupted, and each stays what it was", () =>
    run(
      Effect.gen(function* () {
        const inside = folderOf()
        const file = join(inside, "a.jsonl")
        const before = Stream.make("one")
        const failing = Stream.concat(before, Stream.fail("failed" as const))
        expect(yield* Effect.exit(writeLines(file, failing))).toEqual(Exit.fail("failed"))
        const dying = Stream.concat(before, Stream.die("died"))
        expect(yield* Effect.exit(writeLines(file, dying))).toEqual(Exit.die("died"))
        const reached = yield* Deferred.make<void>()
        const waiting = Stream.concat(
          before,
          Stream.fromEffect(Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never)),
        )
        const fiber = yield* Effect.fork(writeLines(file, waiting))
        yield* Deferred.await(reached)
        expect(existsSync(`${file}.partial`)).toBe(true)
        expect(Exit.isInterrupted(yield* Fiber.interrupt(fiber))).toBe(true)
        expect(readdirSync(inside)).toEqual([])
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

  it("does not count a session that was deleted since it was listed", () =>
    run(
      Effect.gen(function* () {
        const from = yield* filled
        const listed = Stream.make("one", "deleted", 'two\n"2"')
        const lines = [...(yield* Stream.runCollect(exportLines(from, listed)))]
        expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ memfold: "end", sessions: 2 })
        expect((yield* openExport(fileOf(lines))).sessions).toEqual(["one", 'two\n"2"'])
      }),
    ))

  it("has lines of any length, whatever the chunks they are read in", () =>
    run(
      Effect.gen(function* () {
        const [from, to] = [yield* InMemoryEventLog.make, yield* InMemoryEventLog.make]
        const memory = yield* memoryOver(from)
        // Of three bytes each, so that no power of two is between two of them.
        for (const length of [10, 21_845, 100_000, 1, 300_000]) {
          yield* memory.append("long", Message.user("你".repeat(length)))
        }
        yield* memory.append("next", Message.user("short"))
        const file = yield* openExport(fileOf(yield* exported(from)))
        for (const session of ["next", "long"]) {
          yield* copySession(file, to, session)
          expect(yield* read(to, session)).toEqual(yield* read(from, session))
        }
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
          /^X.jsonl:4: this line is not a record/,
        )
        const changed = lines.map((line) => line.replace("said 4", "says 4"))
        expect(yield* refused(changed)).toMatch(/^X.jsonl: its sums are wrong/)
        const [head = "", first = "", second = "", ...rest] = lines
        expect(yield* refused([head, second, first, ...rest])).toMatch(/^X.jsonl:2: event 2 .* out of order/)
        expect(yield* refused([...lines, first])).toMatch(/after the end/)
        expect(yield* refused(lines.slice(1))).toMatch(/^X.jsonl:1: it is not an export/)
        expect(yield* refused([head.replace("1", "2"), ...lines.slice(1)])).toMatch(/newer memfold/)
        expect(yield* refused([])).toMatch(/cut off/)
        expect((yield* Effect.flip(openExport(join(folder, "nowhere")))).message).toMatch(/cannot be read/)
      }),
    ))
})
