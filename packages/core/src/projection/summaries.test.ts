import { Effect, Stream } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import {
  chat,
  conversation,
  strategy as anyStrategy,
  damaged,
  disorder,
  recorded,
} from "@memfold/testing/arbitrary"
import { runOf, appended, committed, failed, invalidated, started } from "@memfold/testing"
import { type EventCodec, Session } from "../index.js"
import { historyOf } from "../shell/replay.js"

const ofRecorded = (events: ReadonlyArray<EventCodec.RecordedEvent>) =>
  Effect.runSync(historyOf("s", () => Stream.fromIterable(events))).summaries

const summaries = (...events: ReadonlyArray<EventCodec.AnyEvent>) => ofRecorded(recorded(events))

/** What has become of each summary. */
const statuses = (...events: ReadonlyArray<EventCodec.AnyEvent>) =>
  summaries(...events).map(({ id, status, supersededBy }) => [id, status, supersededBy])

const eight = appended(chat(8))
const block = (from: number, to: number) => ({ kind: "block" as const, from, to, text: `[${from},${to})` })
/** Three summaries, each of one block more than the one before. They are events 10, 12 and 14. */
const first = [...eight, started(2), committed(2, { segments: [block(0, 2)] })]
const second = [
  ...first,
  started(4, { compaction: "k2", from: 2 }),
  committed(4, { compaction: "k2", summary: "s2", carried: 1, segments: [block(2, 4)] }),
]
const third = [
  ...second,
  started(6, { compaction: "k3", from: 4 }),
  committed(6, { compaction: "k3", summary: "s3", carried: 2, segments: [block(4, 6)] }),
]

describe("the summaries of a session", () => {
  it("are none before the first commit", () => {
    expect(summaries()).toEqual([])
    expect(summaries(...eight, started(4), failed())).toEqual([])
  })

  it("are each as it was committed, with all it says", () => {
    expect(summaries(...second)).toMatchObject([
      { id: "s1", version: 10, coveredTo: 2, total: 8, text: "[0,2)", segments: [block(0, 2)], tokens: 7 },
      {
        id: "s2",
        version: 12,
        coveredTo: 4,
        total: 8,
        text: "[0,2)\n\n[2,4)",
        segments: [block(0, 2), block(2, 4)],
        time: 1_700_000_000_011,
      },
    ])
  })

  it("say the files that go with them", () => {
    const files = { read: ["a.ts"], modified: ["b.ts"] }
    const [record] = summaries(...eight, started(4), committed(4, { files }))
    expect(record).toMatchObject({ files, text: expect.stringContaining("a.ts") })
  })

  it("are superseded by the next one, which alone is active (L1)", () => {
    expect(statuses(...third)).toEqual([
      ["s1", "superseded", "s2"],
      ["s2", "superseded", "s3"],
      ["s3", "active", null],
    ])
  })

  it("stay readable when the session is cleared, and none is active", () => {
    const cleared = [...second, { _tag: "SessionCleared" as const }]
    expect(statuses(...cleared).map(([id, status]) => [id, status])).toEqual([
      ["s1", "superseded"],
      ["s2", "superseded"],
    ])
    const again = [...cleared, ...appended(chat(5)), started(4), committed(4, { summary: "s9" })]
    expect(summaries(...again).map(({ id, status, total }) => [id, status, total])).toEqual([
      ["s1", "superseded", 8],
      ["s2", "superseded", 8],
      ["s9", "active", 5],
    ])
  })

  it("do not include a summary of a compaction that was not running any more", () => {
    expect(statuses(...eight, started(4, { compaction: "k2" }), committed(4))).toEqual([])
    expect(statuses(...eight, started(4), failed(), committed(4))).toEqual([])
    const released = { _tag: "CompactionReleased" as const, compaction: "k1" }
    expect(statuses(...eight, started(4), released, committed(4))).toEqual([])
  })
})

describe("an invalidation", () => {
  it("of the active one brings back what that had replaced", () => {
    expect(statuses(...second, invalidated(12))).toEqual([
      ["s1", "active", null],
      ["s2", "invalid", null],
    ])
    expect(statuses(...second, invalidated(12), invalidated(10))).toEqual([
      ["s1", "invalid", null],
      ["s2", "invalid", null],
    ])
  })

  it("of an older one leaves the active one active, where it stands by itself", () => {
    const rewritten = [
      ...first,
      started(4, { compaction: "k2", from: 2 }),
      committed(4, { compaction: "k2", summary: "s2", segments: [block(0, 4)] }),
    ]
    expect(statuses(...rewritten, invalidated(10))).toEqual([
      ["s1", "invalid", null],
      ["s2", "active", null],
    ])
  })

  it("of one in between leaves out what it was, and what was built on it", () => {
    expect(statuses(...third, invalidated(12))).toEqual([
      ["s1", "active", null],
      ["s2", "invalid", null],
      ["s3", "invalid", null],
    ])
    // What they said can be read all the same.
    expect(summaries(...third, invalidated(12)).map(({ text }) => text)).toEqual(
      summaries(...third).map(({ text }) => text),
    )
  })

  it("of what is no summary, or of one a second time, changes nothing", () => {
    expect(statuses(...third, invalidated(3), invalidated(99))).toEqual(statuses(...third))
    const twice = [...second, invalidated(12), invalidated(12)]
    expect(statuses(...twice)).toEqual(statuses(...second, invalidated(12)))
  })
})

describe("a summary that cannot be used", () => {
  it("is listed as invalid from the start, and the one before stays active", () => {
    expect(summaries(...first, started(4, { compaction: "k2", from: 2 }), damaged)).toMatchObject([
      { id: "s1", status: "active", supersededBy: null },
      { version: 12, status: "invalid", text: "", segments: [], total: 8 },
    ])
    const misfit = committed(4, { compaction: "k2", summary: "s2", carried: 5, segments: [block(2, 4)] })
    expect(statuses(...first, started(4, { compaction: "k2", from: 2 }), misfit)).toEqual([
      ["s1", "active", null],
      ["s2", "invalid", null],
    ])
  })

  it("stays so when it is declared invalid, and the next one takes its place", () => {
    const healed = [...eight, started(4), damaged, invalidated(10), started(4), committed(4)]
    expect(summaries(...healed).map(({ version, status }) => [version, status])).toEqual([
      [10, "invalid"],
      [13, "active"],
    ])
  })
})

describe("in every log", () => {
  it("whatever it holds, the active summary is the state's own", () => {
    fc.assert(
      fc.property(disorder, (events) => {
        // Nobody gives two summaries the same id.
        const unique = events.map((one) =>
          one.event._tag === "SummaryCommitted"
            ? { ...one, event: { ...one.event, summary: `s${one.version}` } }
            : one,
        )
        const active = ofRecorded(unique).filter(({ status }) => status === "active")
        const { summary } = Session.fold(Session.empty("s"), unique)
        expect(active.map(({ id }) => id)).toEqual(summary === null ? [] : [summary.id])
      }),
      { numRuns: often(60, 300) },
    )
  })

  it("of a real run the active summary is the state's own, and there is exactly one after the first (L1)", () =>
    fc.assert(
      fc.asyncProperty(anyStrategy, conversation, async (strategy, messages) => {
        const { events, state, moments } = await runOf(strategy, [messages])
        const records = ofRecorded(events)
        const active = records.filter(({ status }) => status === "active")
        expect(active).toHaveLength(records.length === 0 ? 0 : 1)
        expect(records.map(({ status }) => status).slice(0, -1)).toEqual(
          records.slice(0, -1).map(() => "superseded"),
        )
        expect(records.map(({ supersededBy }) => supersededBy)).toEqual([
          ...records.slice(1).map(({ id }) => id),
          ...(records.length === 0 ? [] : [null]),
        ])
        const { status: _status, supersededBy: _by, text: _text, ...summary } = active[0] ?? {}
        expect(active.length === 0 ? null : summary).toEqual(state.summary)
        expect(moments.at(-1)?.state.summary ?? null).toEqual(state.summary)
      }),
      { numRuns: often(10, 40) },
    ))
})
