import { often } from "@memfold/harness/depth"
import { Event, Message, Origin } from "@memfold/core"
import { Effect, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { sessionOf } from "../test/facts.js"
import type { NewFact } from "./Extractor.js"
import { type Ground, judged } from "./learned.js"

const messages = [Message.user("a diet"), Message.assistant("b")]
const ground: Ground = {
  turns: { state: sessionOf(messages), from: 0, to: 2, messages },
  extractor: { name: "test" },
  declared: null,
  toolResults: false,
  known: [],
  now: Date.now(),
}

const place = (text: string): NewFact => ({ layer: "user", kind: "profile", text, key: "place", quote: "a" })
const plain = (text: string): NewFact => ({ layer: "user", kind: "profile", text, quote: "a" })

const factsFrom = (found: ReadonlyArray<NewFact>, changes: Partial<Ground> = {}) =>
  Effect.runSync(judged({ ...ground, ...changes }, found))

describe("the facts of an extraction", () => {
  it("are each value once, where it was said last", () => {
    const texts = (...found: ReadonlyArray<NewFact>) => factsFrom(found).facts.map(({ text }) => text)
    expect(texts(place("Graz"), plain("x"), place("Vienna"))).toEqual(["Graz", "x", "Vienna"])
    expect(texts(plain("x"), plain("y"), plain("x"))).toEqual(["y", "x"])
  })

  it("have no end that is only assumed to be before their beginning, and one that was said", () => {
    const [begun] = factsFrom([place("Graz")]).facts
    const known = [{ ...begun!, time: 0, validFrom: ground.now }]
    const over = { ...place("Graz"), ended: true }
    const late = { ...ground.turns, messages: [Message.user("a diet", { time: 5 }), messages[1]!] }
    expect(factsFrom([over], { known, turns: late })).toMatchObject({
      ended: [],
      refused: { "no-beginning": 1 },
    })
    expect(factsFrom([{ ...over, validUntil: 5 }], { known, turns: late }).ended).toMatchObject([
      { until: 5, timeSource: "said" },
    ])
  })

  it("are what a log can keep, whatever an extractor answers with, and what is none costs no other one", () => {
    const cyclic: Record<string, unknown> = {}
    cyclic["own"] = cyclic
    const odd = fc.oneof(
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
      fc.constantFrom(cyclic, () => 1, Symbol("s"), Number.NaN, 1e300, "\ud800", "diet", "__proto__"),
    )
    const fields = [
      "quote",
      "kind",
      "subject",
      "predicate",
      "value",
      "text",
      "key",
      "validFrom",
      "validUntil",
    ]
    const fact = fc
      .tuple(
        fc.constantFrom<unknown>("user", "scope", "world", null),
        fc.dictionary(fc.constantFrom(...fields, "ended", "from", "to"), odd),
        fc.boolean(),
      )
      .map(([layer, given, isQuoted]) => ({ ...given, layer, ...(isQuoted ? { quote: "a diet" } : {}) }))
    const isFact = Schema.is(Event.Fact)
    fc.assert(
      fc.property(fc.array(fc.oneof(odd, fact), { maxLength: 6 }), (found) => {
        const given = [...found, place("Graz")] as ReadonlyArray<NewFact>
        const { facts, ended, refused } = factsFrom(given)
        expect(facts.map(({ text }) => text)).toContain("Graz")
        for (const one of facts) {
          expect(isFact(one)).toBe(true)
          expect(JSON.parse(JSON.stringify(one))).toEqual(one)
          for (const { quote } of one.sources ?? []) expect(Message.text(messages[0]!)).toContain(quote)
          for (const time of [one.validFrom, one.validUntil])
            if (time !== undefined) expect(new Date(time).toISOString()).toBeDefined()
        }
        const count = facts.length + ended.length + Object.values(refused).reduce((sum, one) => sum + one, 0)
        // Facts that say the same of the same words are one.
        expect(count).toBeLessThanOrEqual(given.length)
        expect(count === given.length || facts.length > 0).toBe(true)
      }),
      { numRuns: often(200, 5_000) },
    )
  })

  it("are named by session, rounds, layer and place alone", () => {
    const idsOf = (found: ReadonlyArray<NewFact>, changes?: Partial<Ground>) =>
      factsFrom(found, changes).facts.map(({ id }) => id)
    const ids = idsOf([plain("x"), plain("y")])
    expect(new Set(ids).size).toBe(2)
    expect(idsOf([plain("other"), plain("words")])).toEqual(ids)
    const { turns } = ground
    const others = [
      idsOf([{ ...plain("x"), layer: "scope" }]),
      idsOf([plain("x")], { turns: { ...turns, to: 3 } }),
      idsOf([plain("x")], { turns: { ...turns, state: sessionOf(messages, { session: "other" }) } }),
      idsOf([plain("x")], { turns: { ...turns, state: { ...turns.state, clears: 1 } } }),
      idsOf([plain("x")], { turns: { ...turns, state: { ...turns.state, startTime: 1 } } }),
    ].flat()
    expect(new Set([...ids, ...others]).size).toBe(7)
  })

  it("have evidence of the quote, and rest on no more than they say", () => {
    const { facts } = factsFrom([
      { ...plain("diet"), predicate: "food", quote: "diet" },
      plain("something else"),
    ])
    expect(facts).toMatchObject([
      {
        predicate: "food",
        value: "diet",
        from: 0,
        to: 1,
        origin: "user",
        timeSource: "assumed",
        validFrom: 1_700_000_000_000,
        sources: [{ session: "s", event: 1, quote: "diet" }],
        by: { extractor: "test", version: "1" },
      },
      // Its words stand nowhere in its source: they may be of any message that was read.
      { value: "something else", from: 0, to: 2, origin: "assistant" },
    ])
  })
})

describe("what an extractor makes up", () => {
  const text = (given: string): Message.Part => ({ type: "text", text: given })
  const file: Message.Part = {
    type: "file",
    mediaType: "text/plain",
    uri: "data:text/plain,You%20like%20jam",
  }
  const unknown: Message.Part = {
    type: "opaque",
    provider: "openai-responses",
    data: { type: "x", text: "jam" },
  }
  const refusedOf = (fact: Partial<NewFact>, changes?: Partial<Ground>) =>
    Object.keys(factsFrom([{ ...plain("x"), ...fact }], changes).refused)

  it("is refused, and counted by why", () => {
    expect(refusedOf({})).toEqual([])
    expect(refusedOf({ quote: "A diet" })).toEqual(["not-said"])
    expect(refusedOf({ quote: [] })).toEqual(["no-quote"])
    expect(refusedOf({ quote: " " })).toEqual(["no-quote"])
    expect(refusedOf({ quote: ["a", "never"] })).toEqual(["not-said"])
    expect(refusedOf({ quote: "b" })).toEqual(["not-by-user"])
    expect(refusedOf({ quote: "b", layer: "scope" })).toEqual([])
    expect(refusedOf({ ended: true })).toEqual(["no-beginning"])
    expect(refusedOf({ predicate: "BuildStatus" })).toEqual(["momentary"])
    expect(refusedOf({ validFrom: 2, validUntil: 2 })).toEqual(["not-valid"])
    expect(refusedOf({}, { declared: {} })).toEqual(["not-declared"])
    expect(
      factsFrom([plain("x"), { ...plain("y"), quote: "no" }, { ...plain("z"), quote: "no" }]).refused,
    ).toEqual({
      "not-said": 2,
    })
  })

  it("may not be of a tool or a page, unless these are read", () => {
    const told = [...messages, Message.result({ id: "c1", output: "You like jam" })]
    const turns = { state: sessionOf(told), from: 0, to: 3, messages: told }
    const jam = { ...plain("jam"), quote: "You like jam" }
    expect(factsFrom([jam], { turns }).refused).toEqual({ "from-tool": 1 })
    expect(factsFrom([jam], { turns, toolResults: true }).facts).toMatchObject([{ origin: "tool" }])
  })

  it.each<readonly [string, string, Message.Message]>([
    ["a document that the user attaches", "retrieved", { role: "user", parts: [text("See"), file] }],
    ["what an application has found", "retrieved", Message.user("You like jam", { origin: "retrieved" })],
    ["a page that an application has read", "external", Message.user("You like jam", { origin: "external" })],
    ["data of an unknown type", "external", { role: "assistant", parts: [text("Yes"), unknown] }],
    ["a tool that nobody reads", "user", Message.result({ id: "c1", output: "You like jam" })],
  ])("has the origin of %s among the messages that it names, which is %s", (_what, origin, read) => {
    const told = [Message.user("a diet"), read]
    const turns = { state: sessionOf(told), from: 0, to: 2, messages: told }
    const named = { ...plain("jam"), from: 0, to: 2 }
    expect(factsFrom([named], { turns }).facts).toMatchObject([{ text: "jam", origin }])
  })

  it("never has a higher origin than a part that its words stand in, whichever part is quoted", () => {
    const kinds: Readonly<Record<string, (word: string) => Message.Part>> = {
      text,
      file: (word) => ({ ...file, name: `${word}.txt` }),
      page: (word) => ({
        type: "opaque",
        provider: "anthropic",
        data: { type: "web_search_tool_result", content: [{ type: "web_search_result", title: word }] },
      }),
      unknown: (word) => ({ ...unknown, data: { type: "x", text: word } }),
    }
    const said = fc.record({
      role: fc.constantFrom("user" as const, "assistant" as const),
      kinds: fc.array(fc.constantFrom(...Object.keys(kinds)), { minLength: 1, maxLength: 3 }),
    })
    const told = fc.array(said, { minLength: 1, maxLength: 4 })
    const wordOf = (at: number, position: number) => `q${"abcd"[at]}x${"abc"[position]}z`
    fc.assert(
      fc.property(told, fc.nat(), fc.array(fc.nat(), { minLength: 1, maxLength: 2 }), (all, quoted, from) => {
        const read = all.map(({ role, kinds: names }, at): Message.Message => ({
          role,
          parts: names.map((name, position) => kinds[name]!(wordOf(at, position))),
        }))
        const parts = read.flatMap((message, at) =>
          message.parts.map((part, position) => ({
            word: wordOf(at, position),
            origin: Origin.ofPart(message, part),
          })),
        )
        const rests = from.map((one) => parts[one % parts.length]!)
        const value = rests.map(({ word }) => word).join(" ")
        const quote = parts[quoted % parts.length]!.word
        const turns = { state: sessionOf(read), from: 0, to: read.length, messages: read }
        const found: NewFact = { layer: "scope", kind: "digest", text: value, quote }
        for (const fact of factsFrom([found], { turns, toolResults: true }).facts)
          for (const { origin } of rests)
            expect({ value, quote, is: fact.origin, below: Origin.isBelow(origin, fact.origin!) }).toEqual({
              value,
              quote,
              is: fact.origin,
              below: false,
            })
      }),
      { numRuns: often(300, 5_000) },
    )
  })

  it("is compared in NFC, and half a character is nowhere", () => {
    const told = [Message.user("Caf\u00e9 \u{1f600}"), Message.assistant("b")]
    const turns = { state: sessionOf(told), from: 0, to: 2, messages: told }
    expect(factsFrom([{ ...plain("x"), quote: "Cafe\u0301" }], { turns }).facts).toHaveLength(1)
    expect(factsFrom([{ ...plain("x"), quote: "Cafe" }], { turns }).facts).toHaveLength(0)
    expect(factsFrom([{ ...plain("x"), quote: "Café \ud83d" }], { turns }).facts).toHaveLength(0)
  })
})
