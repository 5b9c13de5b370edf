/** Rules that say which sessions stay. */
import { describe, expect, it } from "@effect/vitest"
import { Audit, type EventLog, InMemoryEventLog } from "@memfold/core"
import { fileRoot, folderKeyring, sealLog } from "@memfold/sealed"
import { Effect, Schema, Stream, TestClock } from "effect"
import { join } from "node:path"
import { actionFor, behind, folderArchive, retain, type Rule, Rules } from "../src/index.js"
import { fill, folder, linesOf, memoryOver } from "./support.js"

const applied = (log: EventLog.Service, rules: ReadonlyArray<Rule>, place: string, dryRun: boolean) =>
  Effect.map(Stream.runCollect(retain(log, { rules, archive: folderArchive(place), dryRun })), (all) =>
    [...all].map(({ session, action, outcome }) => `${action} ${session}: ${outcome}`),
  )

/** A sealed store, whose sessions can be held. */
const sealedStore = Effect.map(InMemoryEventLog.make, (store) => {
  const keys = folder()
  return sealLog(
    store,
    folderKeyring({ folder: join(keys, "owners"), root: fileRoot(join(keys, "root.key")) }),
  )
})

const clerk = { id: "clerk", via: "test" }

/** What a trail tells: the acts, by whom and why. */
const trailOf = (log: EventLog.Service, subject: Audit.Subject) =>
  Effect.map(Audit.readTrail(log, subject), ({ noted, trail }) => {
    expect(trail.brokenAt).toBeNull()
    return noted.map(({ event: { act, reason, session }, actor }) =>
      [act, actor?.id, session, reason].join(" | "),
    )
  })

describe("rules", () => {
  it.scoped("archive and delete what they name, and only what was planned; a hold keeps", () =>
    Effect.gen(function* () {
      const place = folder()
      const log = yield* InMemoryEventLog.make
      yield* fill(log, "old")
      yield* fill(log, "held", "bob")
      yield* TestClock.adjust("100 days")
      yield* fill(log, "new")
      const rules: ReadonlyArray<Rule> = [
        { do: "hold", owner: "bob" },
        { do: "delete", age: "300 days" },
        { do: "archive", idle: "90 days" },
      ]
      const before = yield* linesOf(log, "old")
      expect(yield* applied(log, rules, place, true)).toEqual(["archive old: planned"])
      expect(yield* linesOf(log, "old")).toEqual(before)
      expect(yield* applied(log, rules, place, false)).toEqual(["archive old: moved"])
      expect(yield* applied(log, rules, place, false)).toEqual([])
      expect(yield* linesOf(yield* behind(log, folderArchive(place)), "old")).toEqual(before)
      expect(yield* applied(log, rules, place, false)).toEqual(["archive old: moved"])
      yield* TestClock.adjust("300 days")
      const planned = yield* applied(log, rules, place, true)
      expect(planned.toSorted()).toEqual(["delete new: planned", "delete old: planned"])
      expect((yield* applied(log, rules, place, false)).toSorted()).toEqual([
        "delete new: deleted",
        "delete old: deleted",
      ])
      expect(yield* folderArchive(place).list).toEqual([])
      expect((yield* log.list({ limit: 9 })).map(({ session }) => session)).toEqual([
        "held",
        "memfold:audit:owner:ada",
        "memfold:audit:session:new",
        "memfold:audit:session:old",
      ])
    }),
  )

  it("go by the first that applies, and never archive what was active in the last hour", () => {
    const chat = { session: "a", version: 1, createdTime: 0, updatedTime: 1_000_000, owner: "ada" }
    const now = 1_000_000 + 1_800_000
    expect(actionFor([{ do: "archive" }], chat, now)).toBeNull()
    expect(actionFor([{ do: "archive" }], chat, now + 1_800_000)).toBe("archive")
    expect(actionFor([{ do: "hold", session: "a" }, { do: "delete" }], chat, now)).toBeNull()
    expect(actionFor([{ do: "delete", owner: "bob" }], chat, now)).toBeNull()
    expect(actionFor([{ do: "delete" }], { ...chat, session: "memfold:user:ada" }, now)).toBeNull()
    expect(() => Schema.decodeUnknownSync(Rules)({ rules: [{ do: "archive", idle: "soon" }] })).toThrow(
      /90 days/,
    )
  })

  for (const [kind, make] of [
    ["plain", InMemoryEventLog.make],
    ["sealed", sealedStore],
  ] as const)
    it.scoped(`are in the trails of what they archive and delete, with who ran them: ${kind}`, () =>
      Effect.gen(function* () {
        const place = folder()
        const log = yield* make
        yield* fill(log, "cold")
        yield* fill(log, "gone")
        yield* fill(log, "stays", "bob")
        yield* TestClock.adjust("100 days")
        const rules: ReadonlyArray<Rule> = [
          { do: "delete", idle: "90 days", session: "gone" },
          { do: "archive", idle: "90 days", owner: "ada" },
        ]
        yield* applied(log, rules, place, true)
        expect(yield* trailOf(log, { session: "gone" })).toEqual([])
        yield* applied(log, rules, place, false).pipe(Audit.as(clerk))
        const archived = "archive | clerk | cold | rule: archive, idle 90 days, owner ada"
        const deleted = "delete | clerk | gone | rule: delete, idle 90 days, session gone"
        expect(yield* trailOf(log, { session: "cold" })).toEqual([archived])
        expect(yield* trailOf(log, { session: "gone" })).toEqual([deleted])
        expect(yield* trailOf(log, { owner: "ada" })).toEqual([deleted])
        yield* applied(log, [{ do: "delete", idle: "1 day", owner: "ada" }], place, false).pipe(
          Audit.as(clerk),
        )
        const both = [deleted, "delete | clerk | cold | rule: delete, idle 1 day, owner ada"]
        expect(yield* trailOf(log, { owner: "ada" })).toEqual(both)
        expect(yield* trailOf(log, { session: "cold" })).toEqual([archived, both[1]])
        expect(yield* trailOf(log, { session: "stays" })).toEqual([])
        // The owner's audit has what the list of the sessions has no more.
        const { entries } = yield* (yield* memoryOver(log)).auditOf("ada")
        expect(entries.map(({ act, session, actor }) => [act, session, actor?.id])).toEqual([
          ["delete", "gone", "clerk"],
          ["delete", "cold", "clerk"],
        ])
      }),
    )

  it.scoped("leave what is held, also in the archive, and note no deletion of it", () =>
    Effect.gen(function* () {
      const place = folder()
      const log = yield* sealedStore
      const archive = folderArchive(place)
      for (const session of ["cold", "live"]) yield* fill(log, session)
      yield* TestClock.adjust("100 days")
      yield* applied(log, [{ do: "archive", session: "cold" }], place, false)
      for (const session of ["cold", "live"]) yield* log.erasure!.hold({ session }, "case 17")
      const stored = yield* archive.list
      expect((yield* applied(log, [{ do: "delete" }], place, false)).toSorted()).toEqual([
        "delete cold: failed",
        "delete live: failed",
      ])
      expect(yield* archive.list).toEqual(stored)
      expect(yield* trailOf(log, { owner: "ada" })).toEqual([])
      for (const session of ["cold", "live"]) yield* log.erasure!.hold({ session }, null)
      expect((yield* applied(log, [{ do: "delete" }], place, false)).toSorted()).toEqual([
        "delete cold: deleted",
        "delete live: deleted",
      ])
    }),
  )
})
