import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { FactEnded } from "../event/Event.js"
import { withEnd, withLearned, withoutFact, withRetraction, withReverted } from "../session/facts.js"
import type { KnownFact } from "../session/SessionState.js"
import { type FactInTime, inTime, isTrueAt } from "./inTime.js"

let learned = 0

/** A fact that was said at a time; `said` where its bounds were. */
const fact = (id: string, value: string, changes: Partial<KnownFact> = {}): KnownFact => ({
  id,
  layer: "user",
  kind: "fact",
  text: value,
  from: 0,
  to: 1,
  predicate: "place",
  key: "place",
  value,
  timeSource: "assumed",
  sources: [{ session: "s", event: ++learned, quote: value }],
  time: changes.validFrom ?? 0,
  ...changes,
})

const spans = (facts: ReadonlyArray<FactInTime>) =>
  facts.map(({ value, validFrom, validUntil }) => [value, validFrom, validUntil])

describe("facts in time", () => {
  it("end where another value of the key begins, half-open, and begin anew when they are said again", () => {
    const facts = inTime([
      fact("a", "Graz", { validFrom: 10 }),
      fact("b", "Vienna", { validFrom: 20 }),
      fact("c", "Graz", { validFrom: 30 }),
    ])
    expect(spans(facts)).toEqual([
      ["Graz", 10, 20],
      ["Vienna", 20, 30],
      ["Graz", 30, undefined],
    ])
    expect(facts.map(({ endedBy }) => endedBy)).toEqual(["b", "c", undefined])
    const at = (time: number) => facts.filter((one) => isTrueAt(one, time)).map(({ id }) => id)
    expect([9, 10, 19, 20, 29, 30].map(at)).toEqual([[], ["a"], ["a"], ["b"], ["b"], ["c"]])
  })

  it("are one with several sources where the same is said", () => {
    const [only, ...others] = inTime([
      fact("a", "Graz", { validFrom: 10 }),
      fact("b", "Graz", { validFrom: 20 }),
    ])
    expect(others).toEqual([])
    expect(only).toMatchObject({ id: "a", validFrom: 10, observed: ["a", "b"] })
    expect(only?.sources).toHaveLength(2)
  })

  it("are not ended by those of others, or of other predicates", () => {
    const facts = inTime([
      fact("a", "Graz", { validFrom: 10 }),
      fact("b", "Vienna", { validFrom: 20, subject: "Bob" }),
      fact("c", "Rome", { validFrom: 20, layer: "scope" }),
      fact("d", "Bern", { validFrom: 20, key: "birthplace" }),
    ])
    expect(facts.every(({ validUntil }) => validUntil === undefined)).toBe(true)
  })

  it("all stay where no key says that there is one, and show that they contradict each other", () => {
    const facts = inTime([
      fact("a", "tea", { key: undefined }),
      fact("b", "coffee", { key: undefined }),
      fact("c", "tea", { key: undefined, subject: "Bob" }),
    ])
    expect(facts.map(({ id, conflicts }) => [id, conflicts])).toEqual([
      ["a", ["b"]],
      ["b", ["a"]],
      ["c", undefined],
    ])
  })

  it("keep a bound that was said, whatever is assumed", () => {
    const said = { timeSource: "said" as const }
    // Said to end later than another one begins: both stay, and the conflict is shown.
    const both = inTime([
      fact("a", "Graz", { ...said, validFrom: 10, validUntil: 50 }),
      fact("b", "Vienna", { validFrom: 20 }),
    ])
    expect(spans(both)).toEqual([
      ["Graz", 10, 50],
      ["Vienna", 20, undefined],
    ])
    expect(both.map(({ conflicts }) => conflicts)).toEqual([["b"], ["a"]])
    // What is said again does not move the beginning that was said.
    const again = inTime([fact("a", "Graz", { ...said, validFrom: 10 }), fact("b", "Graz", { validFrom: 5 })])
    expect(spans(again)).toEqual([["Graz", 10, undefined]])
    // Of the past, told later.
    const past = inTime([
      fact("a", "Graz", { ...said, validFrom: 30 }),
      fact("b", "Vienna", { ...said, validFrom: 10 }),
    ])
    expect(spans(past)).toEqual([
      ["Graz", 30, undefined],
      ["Vienna", 10, 30],
    ])
  })

  it("begin at a time that nobody has said, if they are said to be over before they are assumed to begin", () => {
    const end = (facts: ReadonlyArray<KnownFact>, timeSource: "said" | "assumed") =>
      spans(inTime(withEnd(facts, { _tag: "FactEnded", fact: "a", until: 5, timeSource })))
    const assumed = [fact("a", "Graz", { validFrom: 10 })]
    expect(end(assumed, "said")).toEqual([["Graz", undefined, 5]])
    expect(end(assumed, "assumed")).toEqual([["Graz", 10, 10]])
    expect(end([fact("a", "Graz", { validFrom: 10, timeSource: "said" })], "said")).toEqual([
      ["Graz", 10, 10],
    ])
  })

  it("are in the order of the world where they were learned late", () => {
    expect(
      spans(inTime([fact("a", "Vienna", { validFrom: 20 }), fact("b", "Graz", { validFrom: 10 })])),
    ).toEqual([
      ["Vienna", 20, undefined],
      ["Graz", 10, 20],
    ])
  })

  it("come back when what ended them was never true, or is gone", () => {
    const all = [fact("a", "Graz", { validFrom: 10 }), fact("b", "Vienna", { validFrom: 20 })]
    expect(spans(inTime(withRetraction(all, { fact: "b" })))).toEqual([["Graz", 10, undefined]])
    expect(spans(inTime(withoutFact(all, { fact: "b" })))).toEqual([["Graz", 10, undefined]])
  })

  it("of earlier versions stay as they are", () => {
    const old = [fact("a", "Graz"), fact("b", "Vienna")].map(({ id, text, time }): KnownFact => ({
      id,
      layer: "user",
      kind: "profile",
      text,
      from: 0,
      to: 1,
      time,
    }))
    expect(inTime(old)).toEqual(old)
    expect(inTime(old)[0]).toBe(old[0])
  })
})

const times = fc.option(fc.nat({ max: 6 }), { nil: undefined })

// A fact that is said to end before it begins is not taken.
const anyFact = fc
  .record({
    id: fc.constantFrom("a", "b", "c", "d", "e", "f"),
    value: fc.constantFrom("x", "y", "z"),
    subject: fc.constantFrom("user", "Bob"),
    key: fc.constantFrom("k", undefined),
    validFrom: times,
    validUntil: times,
    timeSource: fc.constantFrom("said" as const, "assumed" as const),
  })
  .filter(({ validFrom = -1, validUntil = 7 }) => validFrom < validUntil)

const change = fc.oneof(
  { weight: 4, arbitrary: anyFact.map((one) => ({ type: "learn" as const, ...one })) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom("end" as const, "retract" as const, "revert" as const, "redact" as const),
      id: fc.constantFrom("a", "b", "c", "d", "e", "f"),
      until: fc.nat({ max: 6 }),
      timeSource: fc.constantFrom("said" as const, "assumed" as const),
    }),
  },
)
type Change = typeof change extends fc.Arbitrary<infer A> ? A : never

const learnedOf = (changes: ReadonlyArray<Change>): ReadonlyArray<KnownFact> =>
  changes.flatMap((one) =>
    one.type !== "learn"
      ? []
      : [
          fact(one.id, one.value, {
            subject: one.subject,
            key: one.key,
            validFrom: one.validFrom,
            validUntil: one.validUntil,
            timeSource: one.timeSource,
          }),
        ],
  )

/** Folds changes, of which those that learn are in events of any size. */
const folded = (
  changes: ReadonlyArray<Change>,
  facts: ReadonlyArray<KnownFact>,
  sizes: ReadonlyArray<number>,
) => {
  let all: ReadonlyArray<KnownFact> = []
  let rest = [...facts]
  let run: Array<KnownFact> = []
  const flush = () => {
    for (let at = 0, turn = 0; at < run.length; turn++) {
      const size = sizes[turn % sizes.length] ?? 1
      const { time = 0 } = run[at] ?? {}
      all = withLearned(all, { _tag: "FactsLearned", from: 0, to: 1, facts: run.slice(at, at + size) }, time)
      at += size
    }
    run = []
  }
  for (const one of changes) {
    if (one.type === "learn") {
      run.push({ ...rest[0]!, time: 0 })
      rest = rest.slice(1)
      continue
    }
    flush()
    if (one.type === "end") {
      const { id, until, timeSource } = one
      all = withEnd(all, { _tag: "FactEnded", fact: id, until, timeSource } satisfies FactEnded)
    } else if (one.type === "retract") all = withRetraction(all, { fact: one.id })
    else if (one.type === "revert") all = withReverted(all, { fact: one.id })
    else all = withoutFact(all, { fact: one.id })
  }
  flush()
  return all
}

describe("the fold of facts", () => {
  it("is the same in any grouping of events", () => {
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 14 }),
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
        (changes, sizes) => {
          const facts = learnedOf(changes)
          expect(folded(changes, facts, sizes)).toEqual(folded(changes, facts, [1]))
        },
      ),
    )
  })

  it("ends nothing twice, nothing of others, and nothing that has not begun", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 14 }), (changes) => {
        const known = folded(changes, learnedOf(changes), [2])
        const facts = inTime(known)
        const ids = new Set(known.map(({ id }) => id))
        for (const one of facts) {
          expect(one.validFrom ?? 0).toBeLessThanOrEqual(one.validUntil ?? Number.POSITIVE_INFINITY)
          for (const id of [
            one.id,
            ...(one.observed ?? []),
            ...(one.endedBy === undefined ? [] : [one.endedBy]),
          ])
            expect(ids.has(id)).toBe(true)
          const by = facts.find(({ id }) => id === one.endedBy)
          if (by !== undefined) {
            expect([by.subject, by.key]).toEqual([one.subject, one.key])
            expect(by.value).not.toBe(one.value)
          }
          expect(known.filter(({ id }) => one.id === id).every(({ retracted }) => retracted !== true)).toBe(
            true,
          )
        }
        // Of one key, what was only assumed is one at a time.
        const single = facts.filter(({ key, timeSource }) => key !== undefined && timeSource === "assumed")
        for (let time = -1; time < 8; time++)
          for (const subject of ["user", "Bob"]) {
            const values = single.filter((one) => one.subject === subject && isTrueAt(one, time))
            expect(new Set(values.map(({ value }) => value)).size).toBeLessThanOrEqual(1)
          }
        // Every source is one of what was learned and is in force.
        const quotes = new Set(known.flatMap(({ sources = [] }) => sources.map(({ event }) => event)))
        for (const { sources = [] } of facts)
          for (const { event } of sources) expect(quotes.has(event)).toBe(true)
      }),
    )
  })

  it("goes back to what it was, change by change", () => {
    const one = [fact("a", "Graz", { validFrom: 1 })]
    const ended = withEnd(one, { _tag: "FactEnded", fact: "a", until: 5, timeSource: "said" })
    const retracted = withRetraction(ended, { fact: "a" })
    expect(inTime(retracted)).toEqual([])
    expect(spans(inTime(withReverted(retracted, { fact: "a" })))).toEqual([["Graz", 1, 5]])
    expect(withReverted(withReverted(retracted, { fact: "a" }), { fact: "a" })).toEqual(one)
  })
})
