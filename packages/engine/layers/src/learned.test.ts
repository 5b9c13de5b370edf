import { Message } from "@memfold/core"
import { describe, expect, it } from "vitest"
import { known, sessionOf } from "../test/facts.js"
import type { NewFact } from "./Extractor.js"
import { toFacts, unknownOf } from "./learned.js"

const messages = [Message.user("a"), Message.assistant("b")]
const turns = { state: sessionOf(messages), from: 0, to: 2, messages }

const place = (text: string): NewFact => ({ layer: "user", kind: "profile", text, key: "place" })
const plain = (text: string): NewFact => ({ layer: "user", kind: "profile", text })

describe("toFacts", () => {
  const texts = (...found: ReadonlyArray<NewFact>) => toFacts(found, "user", turns).map(({ text }) => text)

  it("keeps the last of each key and of each text, where it was said last", () => {
    expect(texts(place("Graz"), plain("x"), place("Vienna"))).toEqual(["x", "Vienna"])
    expect(texts(plain("x"), plain("y"), plain("x"))).toEqual(["y", "x"])
    // A text that spells a key is no key.
    expect(texts(place("Graz"), plain("place"))).toEqual(["Graz", "place"])
  })

  it("names facts by session, rounds, layer and place alone", () => {
    const ids = toFacts([plain("x"), plain("y")], "user", turns).map(({ id }) => id)
    expect(new Set(ids).size).toBe(2)
    expect(toFacts([plain("other"), plain("words")], "user", turns).map(({ id }) => id)).toEqual(ids)
    const others = [
      toFacts([{ ...plain("x"), layer: "scope" }], "scope", turns),
      toFacts([plain("x")], "user", { ...turns, to: 3 }),
      toFacts([plain("x")], "user", { ...turns, state: sessionOf(messages, { session: "other" }) }),
      toFacts([plain("x")], "user", { ...turns, state: { ...turns.state, clears: 1 } }),
      toFacts([plain("x")], "user", { ...turns, state: { ...turns.state, startTime: 1 } }),
    ].map(([fact]) => fact?.id)
    expect(new Set([...ids, ...others]).size).toBe(7)
  })
})

describe("the origin of a fact", () => {
  it("is the lowest of the messages that it is from", () => {
    const all = [...messages, Message.result({ id: "c1", output: "c" })]
    const of = (found: NewFact) => toFacts([found], "user", { ...turns, to: 3, messages: all })[0]?.origin
    expect(of({ ...plain("x"), from: 0, to: 1 })).toBe("user")
    expect(of({ ...plain("x"), from: 0, to: 2 })).toBe("assistant")
    expect(of(plain("x"))).toBe("tool")
  })
})

describe("unknownOf", () => {
  it("leaves out repetitions of known facts, and nothing else", () => {
    const [fact] = toFacts([place("Graz")], "user", turns)
    const same = known("k", "Graz", { layer: "user", kind: "profile", key: "place" })
    const of = (...facts: ReadonlyArray<typeof same>) => unknownOf(fact === undefined ? [] : [fact], facts)
    expect(of()).toHaveLength(1)
    expect(of(same)).toHaveLength(0)
    for (const change of [
      { text: "Vienna" },
      { kind: "note" },
      { key: "origin" },
      { layer: "scope" as const },
    ]) {
      expect(of({ ...same, ...change })).toHaveLength(1)
    }
  })
})
