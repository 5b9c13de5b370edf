import { Effect, Stream } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { chat, startOfTime, damaged, disorder, stored } from "@memfold/testing/arbitrary"
import { appended, cleared, committed, failed, invalidated, pruned, started } from "@memfold/testing"
import {
  type Event,
  type EventCodec,
  type EventLog,
  InMemoryEventLog,
  Message,
  Session,
  Verify,
} from "../index.js"

const { assistant, call, result, user } = Message

type Events = ReadonlyArray<EventCodec.AnyEvent>

/** The records of these events, each a commit of its own and a second after the one before. */
const recordsOf = (events: Events): ReadonlyArray<EventLog.LogRecord> =>
  events.map((event, position) => ({
    session: "s",
    version: position + 1,
    batchId: `commit-${position + 1}`,
    time: startOfTime + position * 1_000,
    ...stored(event),
  }))

/** Reads these records in pages, whatever their versions are: a page goes on where the one before it ended. */
const pagesOf =
  (records: ReadonlyArray<EventLog.LogRecord>): EventLog.Service["read"] =>
  (_session, { toVersion }) =>
    Effect.succeed(records.filter(({ version }) => version <= toVersion))

const check = (records: ReadonlyArray<EventLog.LogRecord>): Promise<ReadonlyArray<Verify.Finding>> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const read = pagesOf(records)
      const last = records.at(-1)
      const head = () => Effect.succeed(last === undefined ? null : { version: last.version, batchId: last.batchId })
      // The rows that an engine would have written with these records.
      const changes = Session.projectionsOf("s", Session.readEvents({ read }, "s")).pipe(
        Effect.orElseSucceed(() => []),
      )
      const get: EventLog.Projections["get"] = (_session, kind) =>
        Effect.map(changes, (all) => all.find((change) => change.kind === kind)?.rows ?? [])
      return yield* Verify.session({ ...log, read, head, projections: { ...log.projections, get } }, "s")
    }),
  )

const tools = [
  call([{ id: "1", name: "t", arguments: "{}" }]),
  result({ id: "1", output: "x" }),
  assistant("so"),
  user("q"),
]

const superseded: Event.SummarySuperseded = { _tag: "SummarySuperseded", summary: "s1", by: "s2" }

/** Two compactions over a conversation with a tool call. Its events by name, in order. */
const clean = {
  first: appended(chat(5)),
  start1: [started(4)],
  commit1: [committed(4)],
  second: appended(tools, { from: 5 }),
  start2: [started(8, { compaction: "k2", from: 4 })],
  commit2: [committed(8, { compaction: "k2", summary: "s2" })],
  supersede: [superseded],
  third: appended(chat(2), { from: 9 }),
} satisfies Record<string, Events>

/** The clean log with some of its events replaced. */
const log = (changes: { readonly [Key in keyof typeof clean]?: Events } = {}): Events =>
  Object.values({ ...clean, ...changes }).flat()

/** The rules that a log breaks, each with the event at which it shows. */
const broken = async (records: ReadonlyArray<EventLog.LogRecord>) =>
  (await check(records)).map(({ rule, version }) => `${rule} at ${version}`)

describe("a clean log", () => {
  it("has no findings", async () => {
    expect(await check(recordsOf(log()))).toEqual([])
    expect(await check(recordsOf(log().slice(0, 5)))).toEqual([])
    expect(await check([])).toEqual([])
  })

  it("may have failures, a lock taken over after its lease, clears, split turns and dropped messages", async () => {
    const takenOver = [
      ...log({ start2: [], commit2: [], supersede: [], third: [] }),
      started(8, { compaction: "k2", from: 4, leaseUntil: startOfTime }),
      started(8, { compaction: "k3", from: 4 }),
      committed(8, { compaction: "k3", summary: "s2" }),
      superseded,
    ]
    const again = [...log(), { _tag: "SessionCleared" as const }, ...log()]
    const failing = log({ start1: [started(4), failed(), started(4)] })
    const parts = [
      { kind: "history" as const, from: 0, to: 2 },
      { kind: "turn-prefix" as const, from: 2, to: 4 },
    ]
    const split = [
      ...clean.first,
      started(4, { tailFrom: 2, parts }),
      committed(4, { segments: parts.map((part) => ({ ...part, text: "x" })) }),
    ]
    const dropped = [...clean.first, started(4), committed(4, { segments: [] })]
    for (const events of [takenOver, again, failing, split, dropped]) {
      expect(await check(recordsOf(events))).toEqual([])
    }
  })

  it("may hold what a newer memfold wrote", async () => {
    const [first, ...rest] = recordsOf(log())
    const { checksum: _checksum, ...bare } = first!
    const newer = { ...bare, type: "Dreamt", version: 9, data: "?", batchId: "newer" }
    const moved = rest.map((record) => ({ ...record, version: record.version + 1 }))
    expect(await check([first!, { ...newer, version: 2 }, ...moved])).toEqual([])
  })
})

describe("a tampered log is found out", () => {
  it("L1: a summary was replaced and not marked, or the wrong one was", async () => {
    expect(await broken(recordsOf(log({ supersede: [] })))).toEqual(["L1 at 14"])
    expect(await broken(recordsOf(log({ supersede: [], third: [] })))).toEqual(["L1 at 13"])
    expect(await broken(recordsOf(log({ supersede: [{ ...superseded, summary: "s9" }] })))).toEqual([
      "L1 at 14",
    ])
    expect(await broken(recordsOf(log({ supersede: [{ ...superseded, by: "s9" }] })))).toEqual(["L1 at 14"])
    expect(await broken(recordsOf(log({ supersede: [superseded, superseded] })))).toEqual(["L1 at 15"])
  })

  it("L2: a compaction reached into the tail", async () => {
    expect(await broken(recordsOf(log({ start1: [started(4, { tailFrom: 3 })] })))).toEqual(["L2 at 6"])
  })

  it("L3: a compaction did not begin where the coverage ends", async () => {
    const late = [started(8, { compaction: "k2", from: 5 })]
    expect(await broken(recordsOf(log({ start2: late })))).toContain("L3 at 12")
  })

  it("L3: its parts leave a hole", async () => {
    const parts = [
      { kind: "history" as const, from: 0, to: 1 },
      { kind: "history" as const, from: 2, to: 4 },
    ]
    expect(await broken(recordsOf(log({ start1: [started(4, { parts })] })))).toEqual(["L3 at 6"])
  })

  it("L3: it covers messages there never were", async () => {
    expect(await broken(recordsOf(log({ start1: [started(6)], commit1: [] })))).toContain("L3 at 6")
  })

  it("L3: the coverage moved back, or further than was planned", async () => {
    const back = [committed(3, { compaction: "k2", summary: "s2" })]
    expect(await broken(recordsOf(log({ commit2: back })))).toContain("L3 at 13")
    expect(await broken(recordsOf(log({ commit1: [committed(5)] })))).toContain("L3 at 7")
  })

  it("L3: the summary's segments leave a hole, or overlap", async () => {
    const segment = (from: number, to: number) => ({ kind: "block" as const, from, to, text: "x" })
    for (const segments of [
      [segment(0, 1), segment(2, 4)],
      [segment(0, 3), segment(2, 4)],
      [segment(1, 4)],
      [segment(0, 3)],
    ]) {
      expect(await broken(recordsOf(log({ commit1: [committed(4, { segments })] })))).toContain("L3 at 7")
    }
  })

  it("L5: a boundary cuts a call from its result", async () => {
    const start2 = [started(6, { compaction: "k2", from: 4 })]
    const commit2 = [committed(6, { compaction: "k2", summary: "s2" })]
    expect(await broken(recordsOf(log({ start2, commit2 })))).toEqual(["L5 at 12", "L5 at 13"])
  })

  it("L7: two compactions at once", async () => {
    const both = [started(4), started(4, { compaction: "k9" })]
    expect(await broken(recordsOf(log({ start1: both })))).toContain("L7 at 7")
  })

  it("L7: a commit of a compaction that was not the running one", async () => {
    const stranger = [committed(4, { compaction: "k9" })]
    expect(await broken(recordsOf(log({ commit1: stranger })))).toContain("L7 at 7")
    expect(await broken(recordsOf(log({ commit1: [failed(), committed(4)] })))).toContain("L7 at 8")
  })

  it("L12: a batch was applied twice", async () => {
    const records = recordsOf(log()).map((record) =>
      record.version === 10 ? { ...record, batchId: "commit-2" } : record,
    )
    expect(await broken(records)).toEqual(["L12 at 10"])
  })

  it("decodable: an event was damaged; it is named, its contents are not", async () => {
    const records = recordsOf(log()).map((record) =>
      record.version === 3 ? { ...record, data: `{"secret": "the patient's name"` } : record,
    )
    const findings = await check(records)
    // What follows is checked as if the message had been there.
    expect(findings).toMatchObject([{ session: "s", version: 3, rule: "decodable" }])
    expect(JSON.stringify(findings)).not.toContain("patient")
  })

  it("contiguous: an event is missing, comes twice, or is out of order", async () => {
    const records = recordsOf(log())
    expect(await broken(records.toSpliced(14, 1))).toContain("contiguous at 16")
    expect(await broken(records.toSpliced(14, 0, records[13]!))).toContain("contiguous at 14")
    expect(await broken([records[1]!, records[0]!, ...records.slice(2)])).toContain("contiguous at 2")
    expect(await broken(records.slice(1))).toContain("contiguous at 2")
  })

  it("contiguous: the store believes the log to be of another length", async () => {
    const program = Effect.gen(function* () {
      const store = yield* InMemoryEventLog.make
      yield* store.append("s", [{ time: 0, type: "Dreamt", schemaVersion: 9, data: "?" }], {
        expectedVersion: 0,
        batchId: "c",
      })
      return yield* Verify.session(
        { ...store, head: () => Effect.succeed({ version: 3, batchId: "c" }) },
        "s",
      )
    })
    expect(await Effect.runPromise(program)).toMatchObject([{ rule: "contiguous", version: 1 }])
  })

  it("contiguous: nothing is said of a session that is written to meanwhile, or begun anew", async () => {
    const records = recordsOf(log())
    const { length } = records
    const seen = (before: number, after: number) =>
      Effect.runPromise(
        Effect.gen(function* () {
          const inner = yield* InMemoryEventLog.make
          const versions = [before, after]
          return yield* Verify.session(
            {
              ...inner,
              read: pagesOf(records),
              head: () =>
                Effect.sync(() => ({ version: versions.shift() ?? after, batchId: `commit-${after}` })),
            },
            "s",
          )
        }),
      )
    expect(await seen(length - 2, length + 3)).toEqual([])
    expect(await seen(length, 0)).toEqual([])
    expect(await seen(length + 1, length + 3)).toMatchObject([{ rule: "contiguous", version: length }])
    expect(await seen(length - 2, length - 1)).toMatchObject([{ rule: "contiguous", version: length }])
  })

  it("contiguous: messages are missing, or one has another's index", async () => {
    const third = (from: number) => appended(chat(2), { from })
    expect(await broken(recordsOf(log({ third: third(12) })))).toEqual(["contiguous at 15"])
    expect(await broken(recordsOf(log({ third: third(3) })))).toEqual([
      "contiguous at 15",
      "contiguous at 16",
    ])
  })
})

describe("a damaged summary", () => {
  const healed = [
    ...clean.first,
    started(4),
    damaged,
    invalidated(7),
    started(4, { compaction: "k2" }),
    committed(4, { compaction: "k2" }),
  ]

  it("is a finding until it is declared invalid; then nothing is", async () => {
    expect(await broken(recordsOf(healed.slice(0, 7)))).toEqual(["decodable at 7"])
    expect(await broken(recordsOf(healed.slice(0, 8)))).toEqual([])
    expect(await broken(recordsOf(healed))).toEqual([])
  })

  it("in place of another one is so with what was said of that", async () => {
    const second = log({ commit2: [damaged], third: [] })
    expect(await broken(recordsOf(second))).toEqual(["decodable at 13", "L1 at 14"])
    expect(await broken(recordsOf([...second, invalidated(13)]))).toEqual([])
  })

  it("that another one was written from is so with what follows from it", async () => {
    const first = log({ commit1: [damaged], third: [] })
    expect(await broken(recordsOf(first))).toEqual(["decodable at 7", "L3 at 12", "L1 at 14"])
    expect(await broken(recordsOf([...first, invalidated(7)]))).toEqual([])
  })

  it("excuses nothing that it did not bring about", async () => {
    const twice = [...healed.slice(0, 7), ...appended(chat(1), { from: 7 }), invalidated(7)]
    expect(await broken(recordsOf(twice))).toEqual(["contiguous at 8"])
    expect(await broken(recordsOf([...healed, started(4, { compaction: "k3" })]))).toEqual(["L3 at 11"])
    expect(await broken(recordsOf([...healed.slice(0, 7), invalidated(3)]))).toEqual(["decodable at 7"])
  })

  it("may be readable, and without the one it builds on", async () => {
    const misfit = committed(4, { carried: 1 })
    const unfit = [...clean.first, started(4), misfit]
    expect(await broken(recordsOf(unfit))).toEqual(["L3 at 7"])
    expect(await broken(recordsOf([...unfit, invalidated(7)]))).toEqual([])
  })
})

describe("a summary that was taken back", () => {
  it("leaves a log that is well, whatever comes after it", async () => {
    const again = [
      ...log({ third: [] }),
      invalidated(13),
      started(9, { compaction: "k3", from: 4 }),
      committed(9, { compaction: "k3", summary: "s3" }),
      { ...superseded, by: "s3" },
    ]
    expect(await check(recordsOf(again.slice(0, 15)))).toEqual([])
    expect(await check(recordsOf(again))).toEqual([])
  })
})

describe("pruning", () => {
  /** It is message 6 that has a tool output; it is raw, and its compaction is `k2`. */
  const pruning = (...prune: Events): Events => [
    ...log({ start2: [], commit2: [], supersede: [], third: [] }),
    started(4, { compaction: "k2", from: 4, parts: [] }),
    ...prune,
  ]
  const k2 = { compaction: "k2" }

  it("of outputs that are raw is well", async () => {
    expect(await check(recordsOf(pruning(pruned([cleared(6)], k2))))).toEqual([])
    const both = log({ commit2: [pruned([cleared(8)], k2), ...clean.commit2] })
    expect(await broken(recordsOf(both))).toEqual(["prunable at 13"])
  })

  it("of what is no output, not there, or covered is found out", async () => {
    for (const wrong of [cleared(5), cleared(6, { part: 3 }), cleared(2), cleared(99)]) {
      expect(await broken(recordsOf(pruning(pruned([cleared(6), wrong], k2))))).toEqual(["prunable at 13"])
    }
  })

  it("by a compaction that is not the running one is found out", async () => {
    expect(await broken(recordsOf(pruning(pruned([cleared(6)]))))).toEqual(["L7 at 13"])
    expect(await broken(recordsOf(pruning(failed(k2), pruned([cleared(6)], k2))))).toEqual(["L7 at 14"])
    const twice = pruning(pruned([cleared(6)], k2), pruned([cleared(6)], k2))
    expect(await broken(recordsOf(twice))).toEqual(["L7 at 14"])
  })
})

it("is checked to its end, whatever it holds; L4 the fold itself keeps", async () => {
  await fc.assert(
    fc.asyncProperty(disorder, async (recorded) => {
      const events = recorded.map(({ event }) => event)
      const findings = await check(recordsOf(events))
      expect(findings.every(({ session, version }) => session === "s" && version <= events.length)).toBe(true)
      expect(findings.filter(({ rule }) => rule === "L4")).toEqual([])
    }),
    { numRuns: often(30, 100) },
  )
})
