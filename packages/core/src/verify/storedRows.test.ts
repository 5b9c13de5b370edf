/** Summary rows that another program has changed: found, mended, and written again when they are read. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { pairs, said, withMemory } from "@memfold/harness/engine"
import {
  replaceRows,
  summariesOf,
  type SummaryRow,
  summaryRows,
  withoutSnapshots,
  withProjections,
  withRecords,
} from "@memfold/harness/logs"
import { EventLog, Memory, Repair, Verify } from "../index.js"

const manual = { strategy: pairs, compaction: { mode: "manual" } } as const

/** A session with a superseded and an active summary, and the rows of both. */
const compacted = Effect.gen(function* () {
  const memory = yield* Memory.Memory
  const log = yield* EventLog.EventLog
  yield* memory.append("s", said(6))
  yield* memory.compact("s", { which: "due" })
  yield* memory.append("s", said(4, 6))
  yield* memory.compact("s", { which: "due" })
  const rows = yield* summariesOf(log, "s")
  expect(rows.map(({ status }) => status)).toEqual(["superseded", "active"])
  return { memory, log, rows, damage: damageOf(log) }
})

type Rows = ReadonlyArray<SummaryRow>

const damageOf = (log: EventLog.Service) => (rows: Rows) =>
  replaceRows(log, "s", "summary", summaryRows(rows))

/** What anybody may do to the rows, and the versions at which it shows. */
const damages: ReadonlyArray<
  readonly [
    what: string,
    change: (rows: Rows) => Rows,
    at: (old: number, active: number) => ReadonlyArray<number>,
  ]
> = [
  [
    "changes the text of the active one",
    ([old, active]) => [old!, { ...active!, text: "SECRET" }],
    (_, a) => [a],
  ],
  ["changes the text of an old one", ([old, active]) => [{ ...old!, text: "SECRET" }, active!], (o) => [o]],
  ["changes a number", ([old, active]) => [old!, { ...active!, coveredTo: 99 }], (_, a) => [a]],
  ["adds a row", (rows) => [...rows, { ...rows[0]!, version: 90, id: "SECRET" }], () => [90]],
  ["deletes the active one", ([old]) => [old!], (_, a) => [a]],
  ["deletes an old one", ([, active]) => [active!], (o) => [o]],
  ["deletes all", () => [], (o, a) => [o, a]],
  [
    "swaps two",
    ([old, active]) => [
      { ...active!, version: old!.version },
      { ...old!, version: active!.version },
    ],
    (o, a) => [o, a],
  ],
  [
    "swaps which one is active",
    ([old, active]) => [
      { ...old!, status: "active", supersededBy: null },
      { ...active!, status: "superseded", supersededBy: old!.id },
    ],
    (o, a) => [o, a],
  ],
]

describe("whoever", () => {
  for (const [what, change, at] of damages) {
    it.effect(`${what} is found by verify, and repair writes the rows again`, () =>
      Effect.gen(function* () {
        const { log, rows, damage } = yield* compacted
        expect(yield* Verify.session(log, "s")).toEqual([])
        yield* damage(change(rows))
        const found = yield* Verify.session(log, "s")
        const [old, active] = rows.map(({ version }) => version)
        expect(found.map(({ rule, version }) => [rule, version])).toEqual(
          at(old!, active!).map((version) => ["summaries", version]),
        )
        expect(JSON.stringify(found)).not.toContain("SECRET")
        expect(yield* Repair.repair(log, "s")).toEqual({
          session: "s",
          mended: ["wrote the summary rows again"],
          left: [],
        })
        expect(yield* summariesOf(log, "s")).toEqual(rows)
      }).pipe(Effect.provide(withMemory(manual))),
    )

    it.effect(`${what} has it mended when the summaries are read`, () =>
      Effect.gen(function* () {
        const { memory, log, rows, damage } = yield* compacted
        const before = yield* memory.summaries("s")
        yield* damage(change(rows))
        expect(yield* memory.summaries("s")).toEqual(before)
        expect(yield* summariesOf(log, "s")).toEqual(rows)
      }).pipe(Effect.provide(withMemory(manual))),
    )
  }

  it.effect("damages the active row has it mended when the session is opened", () =>
    Effect.gen(function* () {
      const { log, rows, damage } = yield* compacted
      for (const [, change, at] of damages) {
        const [old, active] = rows.map(({ version }) => version)
        if (!at(old!, active!).includes(active!)) continue
        yield* damage(change(rows))
        yield* Effect.flatMap(Memory.make(manual), (again) => again.context("s"))
        expect(yield* summariesOf(log, "s")).toEqual(rows)
      }
    }).pipe(Effect.scoped, Effect.provide(withMemory(manual))),
  )

  it.effect("adds a row to a session without a summary is found, too", () =>
    Effect.gen(function* () {
      const { rows } = yield* compacted
      const memory = yield* Memory.Memory
      const log = yield* EventLog.EventLog
      yield* memory.append("t", said(2))
      yield* replaceRows(log, "t", "summary", summaryRows(rows))
      expect((yield* Verify.session(log, "t")).map(({ rule }) => rule)).toEqual(["summaries", "summaries"])
      expect((yield* Repair.repair(log, "t")).left).toEqual([])
      expect(yield* summariesOf(log, "t")).toEqual([])
    }).pipe(Effect.provide(withMemory(manual))),
  )
})

describe("rows that cannot be read or written", () => {
  it.effect("are a finding, and no error of a context", () =>
    Effect.gen(function* () {
      const { memory, log } = yield* compacted
      const expected = yield* memory.context("s")
      const reason = "a summary row is not JSON"
      const error = new EventLog.LogError({ operation: "projections.get", session: "s", reason })
      const unreadable = withProjections(log, {
        get: (session, kind, filter) =>
          kind === "summary" ? Effect.fail(error) : log.projections.get(session, kind, filter),
      })
      const broken = withProjections(unreadable, {
        put: (session, at, changes) =>
          changes.some(({ kind }) => kind === "summary")
            ? Effect.fail(error)
            : log.projections.put(session, at, changes),
      })
      expect(yield* Verify.session(broken, "s")).toMatchObject([
        { rule: "summaries", detail: expect.stringContaining(reason) },
      ])
      const other = yield* Effect.provideService(Memory.make(manual), EventLog.EventLog, broken)
      expect(yield* other.context("s")).toEqual(expected)
      expect(yield* other.summaries("s")).toEqual(yield* memory.summaries("s"))
      // The rows are what is wrong, and only they.
      expect((yield* Repair.repair(unreadable, "s")).mended).toEqual(["wrote the summary rows again"])
    }).pipe(Effect.scoped, Effect.provide(withMemory(manual))),
  )

  it.effect("are not replaced while others write to the session: the newer ones stay", () =>
    Effect.gen(function* () {
      const { memory, log, damage } = yield* compacted
      yield* damage([])
      let others = 1
      const busy = withProjections(log, {
        put: (session, at, changes) =>
          Effect.gen(function* () {
            if (others-- > 0) {
              yield* Effect.orDie(memory.append("s", said(4, 10)))
              yield* Effect.orDie(memory.compact("s", { which: "due" }))
            }
            yield* log.projections.put(session, at, changes)
          }),
      })
      const { left } = yield* Repair.repair(busy, "s")
      expect(left).toEqual([])
      expect((yield* summariesOf(log, "s")).map(({ status }) => status)).toEqual([
        "superseded",
        "superseded",
        "active",
      ])
      expect(yield* Verify.session(log, "s")).toEqual([])
    }).pipe(Effect.provide(withMemory(manual))),
  )
})

describe("a newest commit that is damaged", () => {
  /** The data of the newest commit, changed in the store. The snapshot of the state after it stays. */
  const damagedLog = (log: EventLog.Service, version: number): EventLog.Service =>
    withRecords(log, (records) =>
      records.map((record) =>
        record.version === version
          ? { ...record, data: record.data.replace("covers", "COVERS") + " " }
          : record,
      ),
    )

  for (const kept of [true, false]) {
    it.effect(`is no summary of the context, nor of the list, ${kept ? "with" : "without"} a snapshot`, () =>
      Effect.gen(function* () {
        const { log, rows } = yield* compacted
        const there = damagedLog(log, rows[1]!.version)
        const opened = kept ? there : withoutSnapshots(there)
        const again = yield* Effect.provideService(Memory.make(manual), EventLog.EventLog, opened)
        const { summary, coveredTo, damaged } = yield* again.state("s")
        expect({ summary: summary?.id, coveredTo, damaged }).toEqual({
          summary: rows[0]!.id,
          coveredTo: rows[0]!.coveredTo,
          damaged: [{ version: rows[1]!.version, summary: null }],
        })
        expect((yield* again.context("s")).layout.find(({ section }) => section === "summary")?.to).toBe(
          rows[0]!.coveredTo,
        )
        expect((yield* again.summaries("s")).map(({ status }) => status)).toEqual(["active", "invalid"])
      }).pipe(Effect.scoped, Effect.provide(withMemory(manual))),
    )
  }

  it.effect("is dropped by a process that has it in memory, once it reads the list", () =>
    Effect.gen(function* () {
      const { log, rows } = yield* compacted
      let damaged = false
      const changing: EventLog.Service = {
        ...log,
        read: (session, page) =>
          Effect.suspend(() => (damaged ? damagedLog(log, rows[1]!.version) : log).read(session, page)),
      }
      const again = yield* Effect.provideService(Memory.make(manual), EventLog.EventLog, changing)
      expect((yield* again.state("s")).coveredTo).toBe(rows[1]!.coveredTo)
      damaged = true
      expect((yield* again.summaries("s")).map(({ status }) => status)).toEqual(["active", "invalid"])
      expect((yield* again.state("s")).coveredTo).toBe(rows[0]!.coveredTo)
    }).pipe(Effect.scoped, Effect.provide(withMemory(manual))),
  )
})
