import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { chat, conversation, damaged, disorder } from "@memfold/testing/arbitrary"
import * as oracles from "@memfold/testing/oracle"
import { after, appended, cleared, committed, failed, invalidated, pruned, started } from "@memfold/testing"
import { type Event, Message, Session } from "../index.js"
import * as Structure from "@memfold/message/Structure"
import { requiresReplay } from "./evolve.js"
import { tokensBetween } from "./SessionState.js"

const { empty, evolve, fold } = Session

/** A state with plain arrays, and without positions in the log: the version, and versions in the prefix and of invalidations. */
const said = ({
  version: _version,
  prefix: _prefix,
  invalidatedAt: _invalidatedAt,
  uncovered,
  turnStarts,
  ...rest
}: Session.SessionState) => ({
  ...rest,
  uncovered: uncovered.slice(),
  turnStarts: turnStarts.slice(),
})

describe("any log", () => {
  it("can be folded: no sequence of events in any order throws", () => {
    fc.assert(
      fc.property(disorder, (events) => {
        const state = fold(empty("s"), events)
        expect(state.version).toBe(events.length)
        expect(state.session).toBe("s")
      }),
      { numRuns: often(100, 500) },
    )
  })

  it("folds to a state that hangs together", () => {
    fc.assert(
      fc.property(disorder, (events) => {
        let state = empty("s")
        let all = 0
        for (const event of events) {
          state = evolve(state, event)
          if (event.event._tag === "MessageAppended") all += event.event.tokens
          if (event.event._tag === "SessionCleared") all = 0
          const { uncovered, coveredTo, total, coveredTokens, turnStarts, structure } = state
          let sum = coveredTokens
          expect([uncovered.from, uncovered.to]).toEqual([coveredTo, total])
          expect(state.appendedTokens).toBe(all)
          expect(
            uncovered
              .slice()
              .map(({ index, cumulativeTokens: cumulative }) => ({ index, cumulativeTokens: cumulative })),
          ).toEqual(
            uncovered.slice().map(({ tokens }, offset) => ({
              index: coveredTo + offset,
              cumulativeTokens: (sum += tokens),
            })),
          )
          expect(turnStarts.slice().every((start) => start >= coveredTo && start < total)).toBe(true)
          expect(structure.turn === null || structure.turn.from < total).toBe(true)
          expect(state.pinned.every(({ index }) => index < coveredTo)).toBe(true)
          expect(state.summary === null ? 0 : state.summary.coveredTo).toBe(coveredTo)
        }
      }),
    )
  })

  it("folds the same way twice, and leaves the states before untouched", () => {
    fc.assert(
      fc.property(disorder, (events) => {
        const states = [empty("s")]
        const seen = [said(empty("s"))]
        for (const event of events) {
          // What takes back an earlier commit needs a fold of all up to it; that there is one is seen below.
          const next = requiresReplay(states.at(-1)!, event)
            ? fold(empty("s"), events.slice(0, event.version))
            : evolve(states.at(-1)!, event)
          states.push(next)
          seen.push(structuredClone(said(next)))
        }
        expect(states.map(said)).toEqual(seen)
        expect(said(fold(empty("s"), events))).toEqual(said(states.at(-1)!))
      }),
    )
  })
})

describe("MessageAppended", () => {
  it("adds a message at the end, with its tokens and its place", () => {
    const messages = [Message.system("be kind"), Message.user("hi"), Message.assistant("hello", { time: 42 })]
    const state = after(...appended(messages))
    expect(state).toMatchObject({ total: 3, coveredTo: 0, startTime: 1_700_000_000_000, lastMessageTime: 42 })
    expect(state.uncovered.slice()).toEqual([
      {
        index: 0,
        version: 1,
        message: messages[0],
        time: 1_700_000_000_000,
        tokens: 10,
        cumulativeTokens: 10,
        group: 0,
        pinned: true,
      },
      {
        index: 1,
        version: 2,
        message: messages[1],
        time: 1_700_000_000_001,
        tokens: 10,
        cumulativeTokens: 20,
        group: 1,
        pinned: false,
      },
      {
        index: 2,
        version: 3,
        message: messages[2],
        time: 1_700_000_000_002,
        tokens: 10,
        cumulativeTokens: 30,
        group: 2,
        pinned: false,
      },
    ])
    expect(state.turnStarts.slice()).toEqual([1])
    expect(Structure.turnComplete(state.structure)).toBe(true)
  })

  it("counts its own index, whatever the event says", () => {
    const state = after(...appended(chat(2)).map((event) => ({ ...event, index: 17 })))
    expect(state.uncovered.slice().map(({ index }) => index)).toEqual([0, 1])
  })

  it("pins the leading system messages and what is marked, nothing else", () => {
    const { assistant, system, user } = Message
    const messages = [
      system("1"),
      system("2"),
      user("q"),
      system("later"),
      assistant("a", { pinned: true }),
      user("q", { pinned: false }),
    ]
    const pinned = after(...appended(messages))
      .uncovered.slice()
      .map((entry) => entry.pinned)
    expect(pinned).toEqual([true, true, false, false, true, false])
  })

  it("takes the first message's own time for the start, where it has one", () => {
    expect(
      after(...appended([Message.user("q", { time: 5 }), Message.user("q", { time: 3 })])),
    ).toMatchObject({
      startTime: 5,
      lastMessageTime: 3,
    })
  })

  it("remembers the size of the context that a provider reported, until a commit", () => {
    const reporting = Message.assistant("a", { usage: { input: 100, output: 20 } })
    const state = after(...appended([Message.user("q"), reporting, Message.user("q")]))
    expect(state.reported).toEqual({ index: 1, tokens: 120 })
    expect(Session.contextTokens(state)).toBe(130)
    const without = after(...appended([Message.user("q"), Message.assistant("a", { usage: { output: 20 } })]))
    expect(without.reported).toBeNull()
    expect(Session.contextTokens(without)).toBe(20)
    const later = after(...appended([Message.user("q"), reporting]), started(1), committed(1))
    expect(later.reported).toBeNull()
    expect(Session.contextTokens(later)).toBe(17)
  })

  it("does not believe what a provider reports of a context from before the commit", () => {
    const reporting = Message.assistant("a", { usage: { input: 100, output: 20 } })
    const asked = [...appended(chat(3)), started(2), committed(2)]
    const late = after(...asked, ...appended([reporting], { from: 3 }))
    expect(late.reported).toBeNull()
    const answered = after(...asked, ...appended([reporting, Message.user("q"), reporting], { from: 3 }))
    expect(answered.reported).toEqual({ index: 5, tokens: 120 })
  })
})

describe("SummaryCommitted", () => {
  const six = appended(chat(6))

  it("covers what was planned and frees the lock", () => {
    const state = after(...six, started(4), committed(4))
    expect(state).toMatchObject({
      total: 6,
      coveredTo: 4,
      coveredTokens: 40,
      running: null,
      lastCompactionTime: 1_700_000_000_007,
      summary: { id: "s1", coveredTo: 4, tokens: 7, segments: [{ text: "so far" }] },
    })
    expect(
      state.uncovered.slice().map(({ index, cumulativeTokens: cumulative }) => [index, cumulative]),
    ).toEqual([
      [4, 50],
      [5, 60],
    ])
    expect(state.turnStarts.slice()).toEqual([4])
    expect(tokensBetween(state, 4, 6)).toBe(20)
  })

  it("carries the first segments over and puts its own behind them", () => {
    const block = (from: number, to: number) => ({
      kind: "block" as const,
      from,
      to,
      text: `[${from},${to})`,
    })
    const state = after(
      ...six,
      started(2),
      committed(2, { segments: [block(0, 2)] }),
      started(4, { compaction: "k2", from: 2 }),
      committed(4, { compaction: "k2", summary: "s2", carried: 1, segments: [block(2, 4)] }),
    )
    expect(state.summary?.segments).toEqual([block(0, 2), block(2, 4)])
  })

  it("keeps pinned messages with their whole group, in order", () => {
    const { assistant, call, result, user } = Message
    const messages = [
      user("q", { pinned: true }),
      call([{ id: "1", name: "t", arguments: "{}" }]),
      result({ id: "1", output: "x" }, { pinned: true }),
      assistant("a"),
      user("q"),
      assistant("a", { pinned: true }),
    ]
    const once = after(...appended(messages), started(4), committed(4))
    expect(once.pinned.map(({ index }) => index)).toEqual([0, 1, 2])
    const twice = after(
      ...appended(messages),
      started(4),
      committed(4),
      started(6, { compaction: "k2", from: 4 }),
      committed(6, { compaction: "k2" }),
    )
    expect(twice.pinned.map(({ index }) => index)).toEqual([0, 1, 2, 5])
  })

  it("changes nothing when another compaction is running, or none", () => {
    expect(said(after(...six, started(4, { compaction: "k2" }), committed(4)))).toEqual(
      said(after(...six, started(4, { compaction: "k2" }))),
    )
    expect(said(after(...six, committed(4)))).toEqual(said(after(...six)))
    expect(said(after(...six, started(4), failed(), committed(4)))).toEqual(
      said(after(...six, started(4), failed())),
    )
    const twice = after(...six, started(4), committed(4), committed(4, { summary: "s2" }))
    expect(said(twice)).toEqual(said(after(...six, started(4), committed(4))))
  })

  it("changes nothing when its lock was taken over", () => {
    const state = after(
      ...six,
      started(4, { compaction: "k1" }),
      started(4, { compaction: "k2" }),
      committed(4, { compaction: "k1" }),
    )
    expect(state).toMatchObject({ coveredTo: 0, summary: null, running: { compaction: "k2" } })
  })

  it("changes nothing but the lock when it would cover what is not there, or uncover something", () => {
    expect(after(...six, started(9), committed(9))).toMatchObject({
      coveredTo: 0,
      summary: null,
      running: null,
    })
    const back = after(
      ...six,
      started(4),
      committed(4),
      started(2, { compaction: "k2" }),
      committed(2, { compaction: "k2", summary: "s2" }),
    )
    expect(back).toMatchObject({ coveredTo: 4, summary: { id: "s1" }, running: null })
  })
})

describe("how far the rounds are compacted (reference design 2)", () => {
  it("is how many begin before the coverage, however many compactions it took", () => {
    const turn = appended(chat(10))
    const once = after(...turn, started(4), committed(4))
    expect(once.compressedThroughRound).toBe(2)
    const further = { compaction: "k2", summary: "s2" }
    const events = [...turn, started(4), committed(4), started(8, { compaction: "k2", from: 4 })]
    expect(after(...events, committed(8, further)).compressedThroughRound).toBe(4)
    expect(after(...events, committed(8, further), { _tag: "SessionCleared" }).compressedThroughRound).toBe(0)
  })

  it("counts a round whose end is raw, too", () => {
    expect(after(...appended(chat(10)), started(5), committed(5)).compressedThroughRound).toBe(3)
  })

  it("is what a look at the whole conversation finds", () => {
    fc.assert(
      fc.property(conversation, fc.nat(), (messages, cut) => {
        const coveredTo = cut % (messages.length + 1)
        const state = after(...appended(messages), started(coveredTo), committed(coveredTo))
        const begun = oracles.turnStarts(messages).filter((start) => start < coveredTo)
        expect(state.compressedThroughRound).toBe(begun.length)
      }),
    )
  })
})

describe("ToolOutputsPruned", () => {
  const { assistant, call, result, user } = Message
  const messages = [
    user("q"),
    call([{ id: "1", name: "t", arguments: "{}" }]),
    result({ id: "1", output: "0123456789" }),
    assistant("a"),
    user("q"),
    assistant("a"),
  ]
  const six = appended(messages)
  const alone = [...six, started(0, { parts: [] }), pruned([cleared(2)])]
  const output = (state: Session.SessionState, index = 2) => Message.text(state.uncovered.at(index)!.message)

  it("shortens outputs, and ends a compaction that covers nothing", () => {
    const state = after(...alone)
    expect(output(state)).toBe("[cut]")
    expect(state).toMatchObject({
      running: null,
      total: 6,
      coveredTo: 0,
      summary: null,
      lastCompactionTime: null,
    })
  })

  it("takes room from the context, and from what was appended nothing", () => {
    const state = after(...alone)
    expect(Session.contextTokens(after(...six))).toBe(60)
    expect(Session.contextTokens(state)).toBe(53)
    expect(tokensBetween(state, 2, 3)).toBe(3)
    expect(tokensBetween(state, 2, 6)).toBe(33)
    expect(state.appendedTokens).toBe(60)
  })

  it("is counted in when the messages are covered later on", () => {
    const state = after(...alone, started(4), committed(4), ...appended(chat(1), { from: 6 }))
    expect(state).toMatchObject({ coveredTokens: 33, appendedTokens: 70 })
    expect(state.uncovered.slice().map(({ cumulativeTokens: cumulative }) => cumulative)).toEqual([
      43, 53, 63,
    ])
    expect(Session.contextTokens(state)).toBe(37)
  })

  it("with a summary behind it is ended by the summary", () => {
    const both = [...six, started(1), pruned([cleared(2)])]
    const between = after(...both)
    expect(output(between)).toBe("[cut]")
    expect(between.running).toMatchObject({ compaction: "k1" })
    expect(after(...both, committed(1))).toMatchObject({ running: null, coveredTo: 1, coveredTokens: 10 })
    expect(output(after(...both, committed(1)))).toBe("[cut]")
  })

  it("changes nothing when another compaction is running, or none", () => {
    const other = [...six, started(0, { compaction: "k2", parts: [] })]
    expect(said(after(...other, pruned([cleared(2)])))).toEqual(said(after(...other)))
    expect(said(after(...six, pruned([cleared(2)])))).toEqual(said(after(...six)))
    const over = [...six, started(0, { parts: [] }), failed()]
    expect(said(after(...over, pruned([cleared(2)])))).toEqual(said(after(...over)))
  })

  it("ends the failures before it, where it is what the compaction was for", () => {
    const failing = [...six, started(4), failed()]
    expect(after(...failing, started(0, { parts: [] }), pruned([cleared(2)])).failures).toBeNull()
    expect(after(...failing, started(4), pruned([cleared(2)])).failures).toMatchObject({ count: 1 })
  })

  it("makes what a provider reported of the context worth nothing", () => {
    const reporting = assistant("a", { usage: { input: 100, output: 20 } })
    const reported = appended([...messages, user("q"), reporting])
    expect(after(...reported).reported).not.toBeNull()
    const state = after(...reported, started(0, { parts: [] }), pruned([cleared(2)]))
    expect(state).toMatchObject({ reported: null, totalAtCommit: 8 })
    const late = after(
      ...six,
      started(0, { parts: [] }),
      pruned([cleared(2)]),
      ...appended([reporting], { from: 6 }),
    )
    expect(late.reported).toBeNull()
  })

  it("leaves what is covered as it is", () => {
    const covered = [...six, started(4), committed(4), started(4, { compaction: "k2", from: 4, parts: [] })]
    const state = after(...covered, pruned([cleared(2)], { compaction: "k2" }))
    expect(said({ ...state, running: null, totalAtCommit: 0 })).toEqual(
      said({ ...after(...covered), running: null, totalAtCommit: 0 }),
    )
  })
})

describe("a summary that cannot be used", () => {
  const eight = appended(chat(8))
  const block = (from: number, to: number) => ({ kind: "block" as const, from, to, text: `[${from},${to})` })

  it("is passed over and remembered: what it stood for stays raw, and the lock is free", () => {
    const state = after(...eight, started(4), damaged)
    expect(state).toMatchObject({
      total: 8,
      coveredTo: 0,
      summary: null,
      running: null,
      damaged: [{ version: 10, summary: null }],
    })
    expect(state.uncovered.length).toBe(8)
  })

  it("may be a later one: the one before stays active", () => {
    const state = after(
      ...eight,
      started(4),
      committed(4),
      started(6, { compaction: "k2", from: 4 }),
      damaged,
      { _tag: "SummarySuperseded", summary: "s1", by: "s2" },
    )
    expect(state).toMatchObject({ coveredTo: 4, summary: { id: "s1" }, supersededCount: 0, running: null })
    expect(state.damaged).toEqual([{ version: 12, summary: null }])
  })

  it("may be readable, and without the one it builds on", () => {
    const wrong: ReadonlyArray<Partial<Event.SummaryCommitted>> = [
      { carried: 1, segments: [block(2, 4)] },
      { segments: [block(0, 2)] },
      { segments: [block(1, 4)] },
      { segments: [block(0, 2), block(3, 4)] },
      { coveredTo: 9, segments: [block(0, 9)] },
    ]
    for (const commit of wrong) {
      expect(after(...eight, started(4), committed(4, commit))).toMatchObject({
        coveredTo: 0,
        summary: null,
        running: null,
        damaged: [{ version: 10, summary: "s1" }],
      })
    }
  })

  it("takes those along that build on it, until each is declared invalid", () => {
    const chain = [
      ...eight,
      started(2),
      damaged,
      started(4, { compaction: "k2", from: 2 }),
      committed(4, { compaction: "k2", summary: "s2", carried: 1, segments: [block(2, 4)] }),
    ]
    const state = after(...chain)
    expect(state).toMatchObject({ coveredTo: 0, summary: null })
    expect(state.damaged).toEqual([
      { version: 10, summary: null },
      { version: 12, summary: "s2" },
    ])
    expect(after(...chain, invalidated(10)).damaged).toEqual([{ version: 12, summary: "s2" }])
    expect(after(...chain, invalidated(12), invalidated(10)).damaged).toEqual([])
  })

  it("is no hindrance to the next one", () => {
    const state = after(...eight, started(4), damaged, invalidated(10), started(4), committed(4))
    expect(state).toMatchObject({ coveredTo: 4, summary: { id: "s1" }, damaged: [], running: null })
  })
})

describe("SummaryInvalidated", () => {
  const eight = appended(chat(8))
  const segment = { kind: "history" as const, from: 0, to: 6, text: "further" }
  /** Two summaries, the second in place of the first; it is event 12. */
  const two = [
    ...eight,
    started(4),
    committed(4),
    started(6, { compaction: "k2", from: 4 }),
    committed(6, { compaction: "k2", summary: "s2", segments: [segment] }),
    { _tag: "SummarySuperseded" as const, summary: "s1", by: "s2" },
  ]

  it("takes a commit back: what it had replaced is active again, and its messages are raw", () => {
    const state = after(...two, invalidated(12))
    expect(state).toMatchObject({ coveredTo: 4, coveredTokens: 40, running: null, supersededCount: 0 })
    expect(state.summary).toEqual(after(...eight, started(4), committed(4)).summary)
    expect(state.uncovered.slice().map(({ index }) => index)).toEqual([4, 5, 6, 7])
  })

  it("of the only one leaves every message raw", () => {
    const state = after(...eight, started(4), committed(4), invalidated(10))
    expect(state).toMatchObject({ coveredTo: 0, summary: null, compressedThroughRound: 0 })
    expect(state.uncovered.length).toBe(8)
  })

  it("of what came too late to be applied takes nothing back", () => {
    const late = [...eight, started(4), started(4, { compaction: "k2" }), committed(4)]
    const still = [...late, committed(4, { compaction: "k2", summary: "s2" }), invalidated(11)]
    expect(after(...still)).toMatchObject({ coveredTo: 4, summary: { id: "s2" } })
  })

  it("leaves the lock with who has it: who takes something back that runs releases it, too (L7)", () => {
    const running = [...two, started(8, { compaction: "k3", from: 6 })]
    expect(after(...running, invalidated(12)).running).toMatchObject({ compaction: "k3" })
  })

  it("takes back no message", () => {
    expect(said({ ...after(...eight, invalidated(3)), totalAtCommit: 0 })).toEqual(said(after(...eight)))
  })

  it("makes what a provider reported of the context worth nothing", () => {
    const reporting = Message.assistant("a", { usage: { input: 100, output: 20 } })
    const state = after(...two, ...appended([Message.user("q"), reporting], { from: 8 }), invalidated(12))
    expect(state).toMatchObject({ reported: null, totalAtCommit: 10 })
  })

  it("cannot be evolved to from a state that has applied the commit, and the state says so", () => {
    const event = (version: number, of: number) => ({
      session: "s",
      version,
      id: "c",
      time: 0,
      event: invalidated(of),
    })
    expect(requiresReplay(after(...two), event(14, 12))).toBe(true)
    expect(requiresReplay(after(...eight, started(4), damaged), event(11, 10))).toBe(false)
    // What is yet to come cannot have been applied.
    expect(requiresReplay(after(...eight), event(9, 10))).toBe(false)
  })
})

describe("SummarySuperseded", () => {
  it("is counted when the active summary took its place", () => {
    const events = [
      ...appended(chat(6)),
      started(2),
      committed(2),
      started(4, { compaction: "k2", from: 2 }),
      committed(4, { compaction: "k2", summary: "s2" }),
    ]
    const superseded = { _tag: "SummarySuperseded" as const, summary: "s1", by: "s2" }
    expect(after(...events, superseded).supersededCount).toBe(1)
    expect(after(...events, { ...superseded, by: "s9" }).supersededCount).toBe(0)
  })
})

describe("CompactionFailed", () => {
  it("frees the lock, counts, and says when to try again; a success forgets it", () => {
    const once = after(...appended(chat(6)), started(4), failed())
    expect(once).toMatchObject({
      running: null,
      coveredTo: 0,
      failures: { count: 1, reason: "timeout", retryTime: 5, retryMessages: 9 },
    })
    expect(after(...appended(chat(6)), started(4), failed(), started(4), failed()).failures?.count).toBe(2)
    expect(after(...appended(chat(6)), started(4), failed(), started(4), committed(4)).failures).toBeNull()
  })

  it("changes nothing when it is not the running one's", () => {
    expect(said(after(...appended(chat(6)), started(4, { compaction: "k2" }), failed()))).toEqual(
      said(after(...appended(chat(6)), started(4, { compaction: "k2" }))),
    )
  })
})

describe("CompactionReleased", () => {
  const released = { _tag: "CompactionReleased" as const, compaction: "k1" }

  it("frees the lock and is no failure to wait for", () => {
    const state = after(...appended(chat(6)), started(4), released)
    expect(said(state)).toEqual(said(after(...appended(chat(6)))))
  })

  it("changes nothing when it is not the running one's", () => {
    const running = [...appended(chat(6)), started(4, { compaction: "k2" })]
    expect(said(after(...running, released))).toEqual(said(after(...running)))
    expect(said(after(...appended(chat(6)), released))).toEqual(said(after(...appended(chat(6)))))
  })
})

describe("SessionCleared", () => {
  /** The conversation begins behind the clear: no message before it is on the branch. */
  const clearedAt = (version: number): Session.SessionState => {
    const begun = empty("s")
    return {
      ...begun,
      covered: { ...begun.covered, version },
      branch: { ...begun.branch, id: version },
      gaps: [{ from: 1, to: version }],
    }
  }

  it("starts over, whatever was, and keeps the owner and the title", () => {
    fc.assert(
      fc.property(disorder, (events) => {
        const before = fold(empty("s"), events)
        const cleared = evolve(before, {
          session: "s",
          version: events.length + 1,
          id: "c.1",
          time: 0,
          event: { _tag: "SessionCleared" },
        })
        const clears = before.clears + 1
        const begun = clearedAt(events.length + 1)
        const { description, setAside } = before
        expect(said(cleared)).toEqual(said({ ...begun, clears, description, setAside }))
        expect(cleared.version).toBe(events.length + 1)
      }),
    )
  })

  it("makes the result of a compaction that ran before it stale", () => {
    const cleared = [...appended(chat(6)), started(4), { _tag: "SessionCleared" as const }]
    expect(said(after(...cleared, committed(4)))).toEqual(said({ ...clearedAt(8), clears: 1 }))
    expect(said(after(...cleared, ...appended(chat(6)), committed(4)))).toEqual(
      said(after(...cleared, ...appended(chat(6)))),
    )
  })
})

it("skips what it does not know", () => {
  const state = after(
    ...appended(chat(2)),
    { _tag: "UnknownEvent", type: "Dreamt", schemaVersion: 1 },
    { _tag: "UnknownEvent", type: "MessageAppended", schemaVersion: 9 },
  )
  expect(state.version).toBe(4)
  expect(said(state)).toEqual(said(after(...appended(chat(2)))))
})
