import { describe, expect, it } from "vitest"
import { after, appended, committed, started, stateOf } from "@memfold/testing"
import { chat } from "@memfold/testing/arbitrary"
import { quarter } from "@memfold/testing/fakes"
import { type Event, Keep, Session, Strategy, SummaryMode } from "../index.js"
import { begin, commit, fail, hasLock, invalidateDamaged, pauseAfter, release, renew } from "./compaction.js"
import { look } from "./look.js"

const now = 1_700_000_100_000
const leaseUntil = now + 30_000

const strategy = Strategy.make({
  name: "s",
  when: { due: () => "always" },
  keep: Keep.lastMessages(4),
  summaryMode: SummaryMode.rolling,
})

/** The state after further events. */
const then = (state: Session.SessionState, events: ReadonlyArray<Event.Event>): Session.SessionState =>
  events.reduce(
    (before, event) =>
      Session.evolve(before, {
        session: "s",
        version: before.version + 1,
        id: `id ${before.version + 1}`,
        time: now,
        event,
      }),
    state,
  )

const beginOn = (state: Session.SessionState, compaction = "k1") => {
  const due = look(state, strategy, { now, onDemand: true, lockedUntil: Number.NEGATIVE_INFINITY })
  if (due._tag !== "Compact") throw new Error(due.reason)
  return begin(state, due.plan, { compaction, strategy, leaseUntil })
}

const written = (coveredTo: number, text = "so far") => ({
  carried: 0,
  segments: [{ kind: "history" as const, from: 0, to: coveredTo, text }],
  coveredTo,
  calls: 1,
  by: "echo",
})

const tags = (events: ReadonlyArray<Event.Event>) => events.map(({ _tag }) => _tag)

const ten = stateOf(chat(10))

describe("the start of a compaction", () => {
  it("takes the lock, and releases a compaction that still has it", () => {
    const first = beginOn(ten)
    expect(tags(first.events)).toEqual(["CompactionStarted"])
    const running = then(ten, first.events)
    expect(hasLock(running, first.lock.started)).toBe(true)
    const second = beginOn(running, "k2")
    expect(tags(second.events)).toEqual(["CompactionReleased", "CompactionStarted"])
    const taken = then(running, second.events)
    expect([hasLock(taken, first.lock.started), hasLock(taken, second.lock.started)]).toEqual([false, true])
  })
})

describe("a commit", () => {
  it("covers the plan, and supersedes the summary before it", () => {
    const { lock, events } = beginOn(ten)
    const running = then(ten, events)
    const first = commit(lock, written(6), { summary: "s1", strategy, counter: quarter })
    expect(tags(first.events)).toEqual(["SummaryCommitted"])
    const after1 = then(running, first.events)
    expect(after1).toMatchObject({ coveredTo: 6, running: null, summary: { id: "s1" } })

    const more = then(after1, appended(chat(6), { from: 10 }))
    const again = beginOn(more, "k2")
    const second = commit(again.lock, written(12), { summary: "s2", strategy, counter: quarter })
    expect(tags(second.events)).toEqual(["SummaryCommitted", "SummarySuperseded"])
    expect(second.supersedes).toBe("s1")
    expect(then(then(more, again.events), second.events)).toMatchObject({
      coveredTo: 12,
      summary: { id: "s2" },
    })
  })

  it("says how many tokens it saved", () => {
    const { lock } = beginOn(ten)
    const { committed: made } = commit(lock, written(6), { summary: "s1", strategy, counter: quarter })
    expect(made?.tokensBefore).toBe(100)
    expect(made?.tokensAfter).toBe(100 - 60 + (made?.tokens ?? 0))
  })
})

describe("without the lock, a compaction appends nothing", () => {
  const { lock, events } = beginOn(ten)
  const running = then(ten, events)
  const taken = then(running, beginOn(running, "k2").events)
  const failure = { reason: "timeout", detail: "", time: now, backOff: 1_000 } as const

  it("no renewal, no release, no failure", () => {
    for (const state of [ten, taken])
      expect([
        ...renew(state, lock.started, leaseUntil + 1),
        ...release(state, lock.started),
        ...fail(state, lock.started, failure),
      ]).toEqual([])
  })

  it("and with it each of them", () => {
    expect(renew(running, lock.started, leaseUntil + 1)).toMatchObject([{ leaseUntil: leaseUntil + 1 }])
    expect(tags(release(running, lock.started))).toEqual(["CompactionReleased"])
    expect(fail(running, lock.started, failure)).toMatchObject([
      { _tag: "CompactionFailed", retryTime: now + 1_000, retryMessages: 18 },
    ])
  })
})

describe("a pause after a failure", () => {
  it("doubles with each failure in a row, up to an hour", () => {
    expect([0, 1, 2, 3].map((failures) => pauseAfter(1_000, failures))).toEqual([1_000, 2_000, 4_000, 8_000])
    expect(pauseAfter(60_000, 50)).toBe(3_600_000)
  })
})

describe("a damaged summary", () => {
  it("is declared invalid once", () => {
    const sound = after(...appended(chat(6)), started(2), committed(2))
    expect(invalidateDamaged(sound)).toEqual([])
    const damaged = { ...sound, damaged: [{ version: 8, summary: "s1" }] }
    expect(invalidateDamaged(damaged)).toEqual([
      { _tag: "SummaryInvalidated", version: 8, summary: "s1", reason: "damaged" },
    ])
  })
})
