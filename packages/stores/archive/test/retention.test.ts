/** Rules that say which sessions stay. */
import { describe, expect, it } from "@effect/vitest"
import { InMemoryEventLog } from "@memfold/core"
import { Effect, Schema, Stream, TestClock } from "effect"
import { actionFor, behind, folderArchive, retain, type Rule, Rules } from "../src/index.js"
import { fill, folder, linesOf } from "./support.js"

const applied = (log: InMemoryLog, rules: ReadonlyArray<Rule>, place: string, dryRun: boolean) =>
  Effect.map(Stream.runCollect(retain(log, { rules, archive: folderArchive(place), dryRun })), (all) =>
    [...all].map(({ session, action, outcome }) => `${action} ${session}: ${outcome}`),
  )
type InMemoryLog = Effect.Effect.Success<typeof InMemoryEventLog.make>

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
      expect((yield* log.list({ limit: 9 })).map(({ session }) => session)).toEqual(["held"])
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
})
