import { cpuTime } from "@memfold/harness/cpuTime"
import { oneMessage } from "@memfold/testing/arbitrary"
import { Arbitrary, Effect, FastCheck, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Message } from "../index.js"
import * as Guard from "./Guard.js"

const about = { session: "s" }
const guarded = (guard: Guard.BeforeAppend, message: Message.Message) =>
  Effect.runSync(Guard.guardedBy(guard, [message], about))[0]!

const isJson = (text: string): boolean => {
  try {
    return typeof JSON.parse(text) === "object"
  } catch {
    return false
  }
}

/** Messages whose arguments and outputs are JSON, with JSON in it, too. */
const withJson = fc
  .tuple(fc.jsonValue(), fc.jsonValue(), fc.boolean())
  .map(([value, inner, isCall]): Message.Message => {
    const text = JSON.stringify({ value, inner: JSON.stringify({ inner }), number: 4_111_111_111_111_111 })
    return isCall
      ? Message.call([{ id: "c1", name: "run", arguments: text }])
      : { ...Message.result({ id: "c1", output: text }), metadata: { value, text } }
  })

/** The fields of a message that are no text: what they may be is fixed, calls and results have them in common, or they are encrypted. */
const noTexts = new Set(["role", "type", "origin", "id", "provider", "replaces", "model", "signature"])

/** The strings of a message with the names of their fields. */
const stringsIn = (value: unknown, field = ""): ReadonlyArray<readonly [field: string, text: string]> =>
  typeof value === "string"
    ? [[field, value]]
    : typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([name, one]) => stringsIn(one, Array.isArray(value) ? field : name))
      : []

it("textsOf has every text of whatever the schema of messages allows", () => {
  FastCheck.assert(
    FastCheck.property(Arbitrary.make(Message.Message), (message) => {
      const texts = Guard.textsOf(message)
        .map(({ text }) => text)
        .join("\n")
      // Structures, the data of providers and metadata, stand there as JSON.
      const { metadata: _metadata, ...rest } = message
      const parts = message.parts.map(({ providerData: _providerData, ...part }) =>
        part.type === "opaque" ? { ...part, data: null } : part,
      )
      for (const [field, text] of stringsIn({ ...rest, parts }))
        if (!noTexts.has(field))
          expect({ field, text, seen: texts.includes(text) }).toEqual({ field, text, seen: true })
    }),
  )
})

describe("guardedBy", () => {
  it("marks any pieces of any message: it stays a message, JSON stays JSON, and no longer piece is left", () => {
    fc.assert(
      fc.property(
        fc.oneof(oneMessage, withJson),
        fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat()), { minLength: 1, maxLength: 3 }),
        (message, places) => {
          const texts = Guard.textsOf(message).filter(({ text }) => text.length > 0)
          const spans =
            texts.length === 0
              ? []
              : places.map(([which, start, size]) => {
                  const { place, text } = texts[which % texts.length]!
                  const from = start % text.length
                  return { place, from, to: Math.min(text.length, from + 1 + (size % 20)), kind: "piece" }
                })
          const { message: left, guarded: counts } = guarded(() => Guard.redact(spans), message)
          expect(Schema.is(Message.Message)(left)).toBe(true)
          if (spans.length === 0) {
            expect(left).toBe(message)
            return
          }
          expect(Object.keys(counts ?? {})).toEqual(["piece"])
          // Where a part is left out, which its provider takes only as it was, places name other texts.
          if (left.parts.map(({ type }) => type).join() !== message.parts.map(({ type }) => type).join())
            return
          const before = new Map(Guard.textsOf(message).map(({ place, text }) => [place, text]))
          for (const { place, text } of Guard.textsOf(left))
            if (!place.includes("@") && isJson(before.get(place) ?? "")) expect(isJson(text)).toBe(true)
          // What is not marked says what it said.
          expect(left.role).toBe(message.role)
        },
      ),
    )
  })

  it("marks a structure that is a text, a number, or true or false", () => {
    for (const [data, left] of [
      ["secret", "[redacted: all]"],
      ["", "[redacted: all]"],
      [4_111_111_111_111_111, "[redacted: all]"],
      [false, false],
    ] as const) {
      const message: Message.Message = {
        role: "user",
        parts: [{ type: "opaque", provider: "somebody", data }],
      }
      const [{ place, text }] = Guard.textsOf(message) as [Guard.TextOf]
      const guard = () => Guard.redact([{ place, from: 0, to: text.length, kind: "all" }])
      expect(guarded(guard, message).message.parts).toEqual([
        { type: "opaque", provider: "somebody", data: left },
      ])
    }
  })

  it("keeps the bytes of JSON around a piece, and takes the piece out of every text", () => {
    const key = "k-0123456789"
    const message = Message.call(
      [{ id: "c1", name: "run", arguments: `{ "a" : 1.50, "b":"x ${key} y","c": [ "${key}" ] }` }],
      {
        text: `It is ${key}.`,
      },
    )
    const guard: Guard.BeforeAppend = (one) => {
      const found = Guard.textsOf(one).find(({ text }) => text.includes(key))
      if (found === undefined) return Guard.keep
      const { place, text } = found
      const from = text.indexOf(key)
      return Guard.redact([{ place, from, to: from + key.length, kind: "key" }])
    }
    const { message: left, guarded: counts } = guarded(guard, message)
    expect(left.parts).toEqual([
      { type: "text", text: "It is [redacted: key]." },
      {
        type: "tool-call",
        id: "c1",
        name: "run",
        arguments: '{ "a" : 1.50, "b":"x [redacted: key] y","c": [ "[redacted: key]" ] }',
      },
    ])
    expect(counts).toEqual({ key: 1 })
  })

  it("takes answers at once, as promises and as effects", async () => {
    const other = Message.user("Other")
    for (const answer of [
      Guard.replace(other, { name: 2 }),
      Promise.resolve(Guard.replace(other, { name: 2 })),
      Effect.succeed(Guard.replace(other, { name: 2 })),
    ])
      expect(await Effect.runPromise(Guard.guardedBy(() => answer, [Message.user("Hello")], about))).toEqual([
        { message: other, guarded: { name: 2 } },
      ])
    expect(guarded(() => Guard.keep, other)).toEqual({ message: other })
  })

  it("raises no origin with another message", () => {
    const [page, other] = [Message.user("A page", { origin: "external" }), Message.user("[removed]")]
    expect(guarded(() => Guard.replace(other, {}), page).message.origin).toBe("external")
    const said = { ...other, origin: "tool" as const }
    expect(guarded(() => Guard.replace(said, {}), page).message.origin).toBe("tool")
    expect(guarded(() => Guard.replace(other, {}), Message.user("Hello")).message).toEqual(other)
  })

  it.each([
    [
      "throws",
      () => {
        throw new Error("Hello")
      },
    ],
    ["rejects", () => Promise.reject(new Error("Hello"))],
    ["fails", () => Effect.fail("Hello")],
    ["dies", () => Effect.die("Hello")],
    ["answers nothing", () => undefined as never],
    ["gives no message", () => Guard.replace({ role: "user" } as never, {})],
  ] as ReadonlyArray<readonly [string, Guard.BeforeAppend]>)("refuses if the guard %s", async (_, guard) => {
    const refused = await Effect.runPromise(
      Effect.flip(Guard.guardedBy(guard, [Message.user("Hello")], about)),
    )
    expect(refused).toMatchObject({ session: "s", kind: "guard-failed", place: "message 0" })
    expect(`${refused.message} ${JSON.stringify(refused)}`).not.toContain("Hello")
  })
})

describe("L19: what is left out of one message takes a time in proportion to it", () => {
  const address = /\b\d+@example\.org\b/g
  const addresses: Guard.BeforeAppend = (message) =>
    Guard.redact(
      Guard.textsOf(message).flatMap(({ place, text }) =>
        [...text.matchAll(address)].map(({ 0: found, index: from }) => ({
          place,
          from,
          to: from + found.length,
          kind: "address",
        })),
      ),
    )
  const text = (line: string): Message.Part => ({ type: "text", text: line })
  const call = (data: unknown) => Message.call([{ id: "c1", name: "run", arguments: JSON.stringify(data) }])
  const forms: Readonly<Record<string, (list: ReadonlyArray<string>) => Message.Message>> = {
    "one text": (list) => Message.user(list.join(" ")),
    "a text each": (list) => ({ role: "user", parts: list.map(text) }),
    "strings of JSON": call,
    "one string of JSON, with escapes": (list) => call({ list: list.join("\n") }),
    "JSON in JSON": (list) => call({ inner: JSON.stringify(list) }),
    metadata: (list) => ({ ...Message.user("Hi"), metadata: { list } }),
    "the output of a tool": (list) => Message.result({ id: "c1", output: JSON.stringify({ list }) }),
  }
  it.each(Object.entries(forms))("%s", (_name, form) => {
    const timeOf = (count: number): number => {
      const message = form(Array.from({ length: count }, (_, at) => `${at + 1_000_000}@example.org`))
      const passed = cpuTime()
      const stored = guarded(addresses, message)
      const time = passed()
      expect(stored.guarded).toEqual({ address: count })
      expect(JSON.stringify(stored.message)).not.toContain("@example.org")
      return time
    }
    // Ten times as much takes ten times as long; looked for one by one, it would be a hundred times.
    const few = timeOf(2_000)
    expect(timeOf(20_000)).toBeLessThan(40 * few)
  })
})
