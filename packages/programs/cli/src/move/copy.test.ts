import { EventLog, InMemoryEventLog, Message, Repair, Verify } from "@memfold/core"
import { Effect, Logger, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { snapshotOf, withoutSnapshots, withProjections, withRecords } from "@memfold/harness/logs"
import { copySession, sourceOf } from "@memfold/archive"
import { exportLines } from "./exported.js"
import { damaged, memoryOver, filled, read, run } from "../../test/movedLogs.js"

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
          const error = yield* Effect.flip(copySession(sourceOf(from), to, "one"))
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

  it("(its end is lost) is copied as far as it is whole, and not exported", () =>
    run(
      Effect.gen(function* () {
        const from = withRecords(yield* filled, (records) => records.filter(({ version }) => version <= 4))
        const to = yield* InMemoryEventLog.make
        const reason = "event 5 is missing; run memfold verify for details"
        expect(yield* Effect.flip(copySession(sourceOf(from), to, "one"))).toMatchObject({ reason })
        expect(yield* read(to, "one")).toEqual(yield* read(from, "one"))
        const lines = exportLines(from, Stream.make("one"))
        expect(yield* Effect.flip(Stream.runDrain(lines))).toMatchObject({ reason })
      }),
    ))

  it("(its damaged message is set aside) is copied as it is, and goes on there", () =>
    run(
      Effect.gen(function* () {
        const [from, to] = [damaged(yield* filled, 4, "changed"), yield* InMemoryEventLog.make]
        expect((yield* Repair.repair(from, "one")).left).toEqual([])
        yield* copySession(sourceOf(from), to, "one")
        expect(yield* read(to, "one")).toEqual(yield* read(from, "one"))
        expect(yield* Verify.session(to, "one")).toEqual([])
        const [there, here] = [yield* memoryOver(to), yield* memoryOver(from)]
        expect(yield* there.context("one")).toEqual(yield* here.context("one"))
        expect((yield* there.messages("one")).unreadable).toEqual([3])
      }),
    ))

  it("has no context, and no events, beyond what is lost", () =>
    run(
      Effect.gen(function* () {
        const log = damaged(yield* filled, 4, "lost")
        const folded = yield* memoryOver(withoutSnapshots(log))
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
        const copied = yield* copySession(sourceOf(from), to, "one")
        expect(copied).toMatchObject({ session: "one", written: copied.events })
        expect(yield* read(to, "one")).toEqual(yield* read(from, "one"))
        expect(yield* snapshotOf(to, "one")).toEqual(yield* snapshotOf(from, "one"))
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
        expect(yield* Effect.flip(copySession(sourceOf(from), breaking, "one"))).toMatchObject({
          _tag: "LogError",
        })
        const there = yield* EventLog.versionOf(to, "one")
        expect(there).toBeGreaterThan(0)
        const { events, written } = yield* copySession(sourceOf(from), to, "one")
        expect(written).toBe(events - there)
        expect(yield* copySession(sourceOf(from), to, "one")).toMatchObject({ events, written: 0 })
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
        const failed = yield* Effect.flip(copySession(sourceOf(from), to, "one"))
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
    yield* copySession(sourceOf(from), to, 'two\n"2"')
    return { from, to, session: 'two\n"2"' }
  })
  const append = (log: EventLog.Service, session: string, text: string) =>
    Effect.flatMap(memoryOver(log), (memory) => memory.append(session, Message.user(text)))

  it("is no error where it has only gone on", () =>
    run(
      Effect.gen(function* () {
        const { from, to, session } = yield* copies
        const events = yield* EventLog.versionOf(from, session)
        yield* append(to, session, "further")
        const there = yield* read(to, session)
        const result = yield* copySession(sourceOf(from), to, session)
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
        const failed = yield* Effect.flip(copySession(sourceOf(from), to, session))
        expect(failed).toMatchObject({ _tag: "Diverged", how: "redacted", written: 0 })
        expect(failed.message).toContain("redact it there as well")
        expect(failed.message).not.toContain("delete")
        expect(yield* read(to, session)).toEqual(there)

        const back = yield* Effect.flip(copySession(sourceOf(to), from, session))
        expect(back).toMatchObject({ _tag: "Diverged", how: "redacted-there" })
        expect(back.message).toContain("redact it in the source as well")
      }),
    ))

  it("is not called redacted where only the data is another", () =>
    run(
      Effect.gen(function* () {
        const { from, to, session } = yield* copies
        const changed = damaged(from, 2, "changed")
        const failed = yield* Effect.flip(copySession(sourceOf(changed), to, session))
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
        const failed = yield* Effect.flip(copySession(sourceOf(from), redactedMeanwhile, "one"))
        const written = yield* EventLog.versionOf(to, "one")
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
        expect(yield* copySession(sourceOf(from), deleted, "one")).toMatchObject({ outcome: "copied" })
        expect(yield* read(to, "one")).toEqual(yield* read(from, "one"))

        yield* to.delete("one")
        appends = 0
        const always = busy((appends) => appends % 2 === 0, to.delete("one"))
        expect(yield* Effect.flip(copySession(sourceOf(from), always, "one"))).toMatchObject({
          _tag: "LogError",
        })

        yield* to.delete("one")
        appends = 0
        const other = busy((appends) => appends === 3, Effect.scoped(append(to, "one", "another")))
        const failed = yield* Effect.flip(copySession(sourceOf(from), other, "one"))
        expect(failed).toMatchObject({ _tag: "Diverged", how: "differs" })
        expect(failed.message).toMatch(/not copied to its end .*before you delete/)
      }),
    ))

  it("fails where it was deleted in its store while it was copied", () =>
    run(
      Effect.gen(function* () {
        const [from, to] = [yield* filled, yield* InMemoryEventLog.make]
        const deleting = withProjections(to, { put: () => Effect.asVoid(from.delete("one")) })
        const failed = yield* Effect.flip(copySession(sourceOf(from), deleting, "one"))
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
          copySession({ ...sourceOf(from), rows: broken }, to, "one"),
          copySession(sourceOf(from), withProjections(other, { put: broken }), "one"),
        ).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
        expect(warnings).toHaveLength(2)
        for (const log of [to, other]) expect(yield* read(log, "one")).toEqual(yield* read(from, "one"))
      }),
    ))
})
