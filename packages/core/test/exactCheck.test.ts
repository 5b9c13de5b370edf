import { Either, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { byTag, disorder } from "@memfold/testing/arbitrary"
import { ofData, toData, toSchema } from "../src/event/messageData.js"
import { Event, Message, Session } from "../src/index.js"
import { exactCheck } from "../src/event/exactCheck.js"
import { Stored, take } from "../src/projection/Snapshot.js"
import { damage } from "./damaged.js"
import { often } from "@memfold/harness/depth"

/** The value as JSON holds it. */
const inJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** Expects the schema to decode and to encode a value to an equal one, fields in the same order. */
const expectUnchanged = <A>(schema: Schema.Schema<A>, value: unknown): void => {
  const decoded = Schema.decodeUnknownEither(schema)(value)
  expect(Either.getOrNull(decoded)).toEqual(value)
  expect(JSON.stringify(Either.getOrNull(decoded))).toBe(JSON.stringify(value))
  expect(JSON.stringify(Schema.encodeUnknownSync(schema)(value))).toBe(JSON.stringify(value))
}

/** Expects every value that passes the check to be unchanged by the schema, and tells how many values passed. */
const passing = <A>(schema: Schema.Schema<A>, values: fc.Arbitrary<unknown>, runs: number): number => {
  const isExact = exactCheck(schema)
  let passed = 0
  fc.assert(
    fc.property(values, (value) => {
      if (!isExact(value)) return
      passed++
      expectUnchanged(schema, value)
    }),
    { numRuns: runs },
  )
  return passed
}

/** Values of JSON with one thing wrong. */
const damagedOf = <A>(values: fc.Arbitrary<A>): fc.Arbitrary<unknown> =>
  fc.tuple(values, damage).map(([value, damaged]) => {
    const copy = inJson(value)
    damaged(copy)
    return copy
  })

const providerData = { openai: { fields: { cache: 1 } } }
const text = { type: "text", text: "It rains.", providerData }
const file = { type: "file", mediaType: "image/png", uri: "https://example.org/a.png", name: "a" }
const opaque = {
  type: "opaque",
  provider: "openai",
  data: { a: [1] },
  replaces: "text-before",
  model: "m",
  bound: true,
}
const result = {
  type: "tool-result",
  id: "c1",
  name: "weather",
  output: "",
  content: [text, file, opaque],
  isError: false,
}

/** One message with everything that there is. */
const full = {
  role: "assistant",
  parts: [
    { type: "text", text: "It rains." },
    { type: "reasoning", text: "Look outside.", signature: "EqQB" },
    { type: "tool-call", id: "c1", name: "weather", arguments: "{}" },
    result,
    file,
    opaque,
  ],
  name: "Ann",
  time: 1.5,
  pinned: true,
  usage: { input: 3, output: 4 },
  metadata: { mine: { a: 1 } },
}

/** A copy in which the value at a position, counted through all fields and elements, is changed. */
const changed = (value: unknown, position: number, change: (value: unknown) => unknown): unknown => {
  let at = 0
  const walk = (one: unknown): unknown => {
    if (at++ === position) return change(one)
    if (Array.isArray(one)) return one.map(walk)
    if (typeof one !== "object" || one === null) return one
    return Object.fromEntries(Object.entries(one).map(([name, inside]) => [name, walk(inside)]))
  }
  return walk(value)
}

const edited = (value: unknown, edit: (entries: Array<[string, unknown]>) => Array<[string, unknown]>) =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(edit(Object.entries(value)))
    : value

const changes = fc.oneof(
  fc.jsonValue().map((other) => () => other),
  fc.constantFrom("text", "file", "system", "__proto__", "", -1, 0.5, -0).map((other) => () => other),
  fc
    .nat(6)
    .map((gone) => (value: unknown) => edited(value, (all) => all.toSpliced(gone % (all.length || 1), 1))),
  fc.constant((value: unknown) => edited(value, (all) => all.toReversed())),
  fc
    .constantFrom("more", "name", "__proto__")
    .map((name) => (value: unknown) => edited(value, (all) => [...all, [name, "x"]])),
)

describe("the quick check of messages", () => {
  const isExactMessage = exactCheck(Message.Message)

  it("passes each kind of part, with and without its optional fields", () => {
    expect(isExactMessage(full)).toBe(true)
    for (const part of full.parts) expect(isExactMessage({ role: "tool", parts: [part] })).toBe(true)
    expect(isExactMessage({ role: "user", parts: [{ type: "text", text: "" }] })).toBe(true)
    expect(isExactMessage({ role: "user", parts: [{ type: "tool-result", id: "", output: "" }] })).toBe(true)
  })

  it("asks the schema about a list with holes", () => {
    const parts: Array<unknown> = []
    parts[1] = text
    expect(isExactMessage({ role: "user", parts })).toBe(false)
    expect(Either.isRight(Schema.decodeUnknownEither(Message.Message)({ role: "user", parts }))).toBe(false)
  })

  it("asks the schema about data with a key that sets a prototype, or with a prototype", () => {
    const metadata: unknown = JSON.parse('{"__proto__":{"a":1}}')
    expect(isExactMessage({ ...full, metadata })).toBe(false)
    expect(isExactMessage({ ...full, metadata: new Map() })).toBe(false)
    expect(isExactMessage(Object.create(full))).toBe(false)
  })

  it("passes only what the schema leaves as it is", () => {
    const values = fc
      .array(fc.tuple(fc.nat(60), changes), { maxLength: 2 })
      .map((list) => list.reduce<unknown>((before, [at, change]) => changed(before, at, change), full))
    expect(passing(Message.Message, values, often(500, 2_000))).toBeGreaterThan(100)
  })
})

describe.each(Object.entries(byTag))("the quick check of %s", (_, events: fc.Arbitrary<Event.Event>) => {
  it("passes what the schema encodes", () => {
    const encoded = events.map((event) => inJson(Schema.encodeSync(Event.Event)(event)))
    const runs = often(60, 300)
    expect(passing(Event.Event, encoded, runs)).toBe(runs)
  })

  it("passes only what the schema leaves as it is", () => {
    const runs = often(200, 3_000)
    const encoded = events.map((event) => Schema.encodeSync(Event.Event)(event))
    expect(passing(Event.Event, damagedOf(encoded), runs)).toBeLessThan((3 / 4) * runs)
  })
})

it("a message in its stored form is read as the schema reads it, or by the schema", () => {
  const stored = byTag.MessageAppended.map(
    (event) => toData(inJson(Schema.encodeSync(Event.Event)(event)) as Event.MessageAppended) ?? {},
  )
  let read = 0
  const agree = (data: unknown) => {
    const event = ofData(data)
    if (event === null) return
    read++
    expectUnchanged(Event.Event, event)
    expect(
      Either.getOrNull(
        Schema.decodeUnknownEither(Event.Event)({ ...toSchema(data as object), _tag: event._tag }),
      ),
    ).toEqual(event)
  }
  const runs = often(300, 3_000)
  fc.assert(fc.property(stored, agree), { numRuns: runs })
  expect(read).toBe(runs)
  fc.assert(fc.property(damagedOf(stored), agree), { numRuns: runs })
  expect(read).toBeLessThan(2 * runs)
})

describe("the quick check of a stored state", () => {
  /** The state in the snapshot after some events, as JSON. */
  const states = disorder.map((events): unknown =>
    JSON.parse(
      take({ state: Session.fold(Session.empty("s"), events), batchId: null })!.data.split("\n")[1] ?? "",
    ),
  )

  it("passes what the fold makes", () => {
    const runs = often(60, 300)
    expect(passing(Stored, states, runs)).toBe(runs)
  })

  it("passes only what the schema leaves as it is", () => {
    const runs = often(300, 3_000)
    expect(passing(Stored, damagedOf(states), runs)).toBeLessThan((2 / 3) * runs)
  })
})

describe("the quick check of a schema", () => {
  const { Array, Int, Literal, Null, Number, Record, String, Struct, Tuple, Union, Unknown } = Schema
  const one = Struct({ type: Literal("one"), value: String })
  const two = Struct({ type: Literal("two"), value: String })

  it.each<readonly [name: string, schema: Schema.Schema.All, passes: unknown, asks: ReadonlyArray<unknown>]>([
    ["numbers", Number, -0.5, [NaN, Infinity, "1", null]],
    ["whole numbers", Int, -2, [0.5, 2 ** 53, "1"]],
    ["numbers from 3", Int.pipe(Schema.greaterThanOrEqualTo(3)), 3, [2, 3.5]],
    ["whole numbers of those from 3", Number.pipe(Schema.greaterThanOrEqualTo(3), Schema.int()), 3, [2, 3.5]],
    ["numbers from -3", Number.pipe(Schema.greaterThanOrEqualTo(-3)), -2.5, [-4, NaN]],
    ["literals", Literal("a", 1, true, null), null, ["b", "1", false, undefined]],
    ["null or a string", Schema.NullOr(String), null, [1, undefined]],
    ["any data", Unknown, {}, [undefined]],
    ["lists of any data", Array(Unknown), [1, null], [[undefined], globalThis.Array(1), { length: 0 }]],
    ["records of strings", Record({ key: String, value: String }), { a: "b" }, [{ a: 1 }, [], new Date()]],
    ["tagged structs", Union(one, two), { type: "two", value: "" }, [{ type: "three", value: "" }, "one"]],
    ["a struct or null", Union(one, Null), { type: "one", value: "" }, [{ value: "", type: "one" }, []]],
    ["optional fields", Struct({ a: Schema.optional(Int) }), {}, [{ a: undefined }, { b: 1 }, []]],
  ])("passes %s", (_, schema, passes, asks) => {
    const isExact = exactCheck(schema as Schema.Schema<unknown>)
    expect(isExact(passes)).toBe(true)
    for (const value of asks) expect(isExact(value)).toBe(false)
  })

  it.each<readonly [name: string, schema: Schema.Schema.All]>([
    ["a refinement of its own", Int.pipe(Schema.filter((value) => value !== 3))],
    ["a refinement of strings", String.pipe(Schema.minLength(1))],
    ["a minimum that only its code knows", Number.pipe(Schema.greaterThanOrEqualTo(3, { jsonSchema: {} }))],
    ["a transformation", Schema.NumberFromString],
    ["a declaration", Schema.declare((value): value is string => typeof value === "string")],
    ["a tuple", Tuple(String, Int)],
    ["a list whose first element is required", Schema.NonEmptyArray(String)],
    ["structs that only their fields tell apart", Union(Struct({ a: String }), Struct({ b: String }))],
    ["structs with one tag", Union(one, Struct({ type: Literal("one"), other: String }))],
    ["strings or numbers", Union(String, Number)],
    ["fields and any others", Struct({ a: String }, { key: String, value: Unknown })],
    ["records of some keys", Record({ key: Schema.TemplateLiteral("a", String), value: Unknown })],
    ["something of this inside", Struct({ a: Array(Struct({ b: Schema.Date })) })],
  ])("refuses to guess about %s", (_, schema) => {
    expect(() => exactCheck(schema as Schema.Schema<unknown>)({})).toThrow("There is no quick check of")
  })

  it("is compiled at its first use", () => {
    expect(() => exactCheck(Tuple(String, Int))).not.toThrow()
  })
})
