import { Schema } from "effect"
import { describe, expect, expectTypeOf, it } from "vitest"
import { createMemory, Fact, functionExtractor } from "../index.js"

const day = (text: string): number => Date.parse(text)

const declared = {
  diet: Fact.of({ schema: Schema.Literal("vegan", "vegetarian", "none"), single: true }),
  allergy: Fact.of({ schema: Schema.String, ask: "What the user is allergic to." }),
  mood: Fact.of({ schema: Schema.String, durable: false }),
  born: Fact.of({ schema: Schema.DateFromString, single: true }),
}

/** Finds what the lines of a user say: "diet = vegan". */
const lines = functionExtractor(
  ({ messages }) =>
    messages.flatMap(({ role, text }) =>
      role !== "user"
        ? []
        : text.split("\n").flatMap((quote) => {
            const [predicate, value] = quote.split(" = ")
            return predicate === undefined || value === undefined ? [] : [{ predicate, value, quote }]
          }),
    ),
  { name: "lines", isFree: true },
)

const open = () =>
  createMemory({
    store: "memory:",
    facts: declared,
    layers: { extractor: lines },
    compaction: { mode: "inline" },
  })

describe("declared facts", () => {
  it("are typed by their schemas, at any time", async () => {
    const memory = open()
    const say = (session: string, time: string, content: string) =>
      memory.neutral.append(
        session,
        [
          { role: "user", parts: [{ type: "text", text: content }], time: day(time) },
          { role: "assistant", parts: [{ type: "text", text: "Noted." }], time: day(time) },
        ],
        { owner: "ann" },
      )
    await say("one", "2024-01-10", "diet = vegetarian\nallergy = nuts\nborn = 1990-05-01")
    await say("two", "2025-02-01", "diet = vegan\nallergy = pollen\nmood = tired\nshoes = 42")
    await say("three", "2025-03-01", "allergy = nuts\ndiet = flexitarian")
    const { diet, allergy, mood, born } = await memory.factsOf("ann")
    expectTypeOf(diet?.value).toEqualTypeOf<"vegan" | "vegetarian" | "none" | undefined>()
    expectTypeOf(born?.value).toEqualTypeOf<Date | undefined>()
    expect(diet).toMatchObject({
      value: "vegan",
      validFrom: day("2025-02-01"),
      timeSource: "assumed",
      sources: [{ session: "two", quote: "diet = vegan" }],
      by: { extractor: "lines", version: "1" },
    })
    expect(born?.value).toEqual(new Date("1990-05-01"))
    expect(allergy.map(({ value, sources }) => [value, sources?.map(({ session }) => session)])).toEqual([
      ["nuts", ["one", "three"]],
      ["pollen", ["two"]],
    ])
    expect(mood).toEqual([])
    const then = await memory.factsOf("ann", { at: day("2024-06-01") })
    expect([then.diet?.value, then.diet?.validUntil, then.allergy.length]).toEqual([
      "vegetarian",
      day("2025-02-01"),
      1,
    ])
    expect((await memory.factsOf("ann", { asOfVersion: 1 })).diet?.value).toBe("vegetarian")
    // What was not taken is counted, by why.
    const refused = []
    for (const session of ["two", "three"])
      for await (const { event } of memory.events(session))
        if (event._tag === "FactsLearned") refused.push(event.refused)
    expect(refused).toEqual([{ momentary: 1, "not-declared": 1 }, { "not-valid": 1 }])
    await memory.close()
  })

  it("are ended, retracted, redacted and brought back", async () => {
    const memory = open()
    const told = [
      { role: "user", content: "diet = vegan\nallergy = nuts" },
      { role: "assistant", content: "Noted." },
    ] as const
    await memory.append("s", told, { owner: "ann" })
    const { diet } = await memory.factsOf("ann")
    const id = diet?.id ?? ""
    const now = async () => (await memory.factsOf("ann")).diet?.value
    expect(await memory.removeFact("s", id, { as: "ended", until: Date.now() })).toBe(true)
    expect(await now()).toBeUndefined()
    expect((await memory.factsOf("ann", { at: null })).diet?.value).toBe("vegan")
    expect(await memory.revertFact("s", id)).toBe(true)
    expect(await now()).toBe("vegan")
    expect(await memory.removeFact("s", id)).toBe(true)
    expect((await memory.factsOf("ann", { at: null })).diet).toBeUndefined()
    expect(await memory.revertFact("s", id)).toBe(true)
    expect(await memory.revertFact("s", id)).toBe(false)
    expect(await memory.confirmFact("s", id)).toBe(true)
    expect((await memory.factsOf("ann")).diet?.confirmed).toBe(true)
    expect(await memory.removeFact("s", id, { as: "redacted" })).toBe(true)
    expect(await now()).toBeUndefined()
    const tags = []
    for await (const { event } of memory.events("memfold:user:ann")) {
      tags.push(event._tag)
      expect(JSON.stringify(event)).not.toContain("vegan")
    }
    expect(tags).toEqual([
      "FactsLearned",
      "FactEnded",
      "FactReverted",
      "FactRetracted",
      "FactReverted",
      "FactConfirmed",
      "FactRedacted",
    ])
    await memory.close()
  })
})

describe("facts that are learned anew", () => {
  it("are compared with those in force, and taken", async () => {
    const memory = open()
    const told = [
      { role: "user", content: "diet = vegan\nallergy = nuts" },
      { role: "assistant", content: "Noted." },
    ] as const
    await memory.append("s", told, { owner: "ann" })
    const same = await memory.rebuildFacts("ann")
    expect(same).toEqual({
      by: { extractor: "lines", version: "1" },
      come: [],
      go: [],
      change: [],
      refused: {},
    })
    const strict = functionExtractor(
      ({ messages }) =>
        messages[0]?.text.includes("vegan") === true
          ? [
              { predicate: "diet", value: "vegetarian", quote: "vegan" },
              { predicate: "allergy", value: "pollen", quote: "allergic to pollen" },
            ]
          : [],
      { name: "strict", version: "2" },
    )
    const { come, go, change, refused } = await memory.rebuildFacts("ann", { extractor: strict })
    expect(come).toEqual([])
    expect(go.map(({ value }) => value)).toEqual(["nuts"])
    expect(change.map(({ before, after }) => [before.value, after.value, after.sources?.[0]?.quote])).toEqual(
      [["vegan", "vegetarian", "vegan"]],
    )
    expect(refused).toEqual({ "not-said": 1 })
    expect((await memory.factsOf("ann")).diet?.value).toBe("vegan")
    expect(await memory.takeFacts("ann")).toBe(true)
    const { diet, allergy } = await memory.factsOf("ann")
    expect([diet?.value, diet?.by, allergy]).toEqual([
      "vegetarian",
      { extractor: "strict", version: "2" },
      [],
    ])
    expect(await memory.dropFacts("ann")).toBe(false)
    await memory.close()
    const without = createMemory({ store: "memory:" })
    await expect(without.rebuildFacts("ann")).rejects.toThrow("switch them on with `layers`")
    await without.close()
  })
})

describe("an extractor that lies", () => {
  it("brings in nothing that was not said, nothing of others, and ends nothing", async () => {
    let lies = false
    const liar = functionExtractor(
      ({ messages, known }) =>
        !lies
          ? [{ predicate: "diet", key: "diet", value: "vegan", quote: "I am vegan" }]
          : [
              // Made up, said by the assistant, said elsewhere, said by a tool, said by nobody.
              { predicate: "diet", key: "diet", value: "carnivore", quote: "I eat meat" },
              { predicate: "diet", key: "diet", value: "carnivore", quote: "You eat a lot." },
              { predicate: "diet", key: "diet", value: "carnivore", quote: "word of another session" },
              { predicate: "diet", key: "diet", value: "carnivore", quote: "tool says meat" },
              { predicate: "diet", key: "diet", value: "carnivore", quote: "" },
              // The truth of somebody else.
              {
                predicate: "diet",
                key: "diet",
                value: "carnivore",
                subject: "Bob",
                quote: messages[0]!.text,
              },
              // An end of everything.
              ...known.map(({ predicate, value }) => ({
                predicate,
                value,
                ended: true,
                quote: "It is over",
              })),
              { predicate: "job", ended: true, quote: "Bob eats meat" },
            ],
      { name: "liar", isFree: true },
    )
    const memory = createMemory({
      store: "memory:",
      layers: { extractor: liar },
      compaction: { mode: "inline" },
    })
    const say = (session: string, content: string) =>
      memory.append(
        session,
        [
          { role: "user", content },
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "c", type: "function", function: { name: "look", arguments: "{}" } }],
          },
          { role: "tool", tool_call_id: "c", content: "tool says meat" },
          { role: "assistant", content: "You eat a lot." },
        ],
        { owner: "ann" },
      )
    await say("one", "I am vegan")
    lies = true
    await say("two", "Bob eats meat")
    expect((await memory.factsOf("ann")).map(({ subject = "user", value }) => [subject, value])).toEqual([
      ["user", "vegan"],
      ["Bob", "carnivore"],
    ])
    let refused
    for await (const { event } of memory.events("two"))
      if (event._tag === "FactsLearned") refused = event.refused
    expect(refused).toEqual({
      "not-said": 3,
      "not-by-user": 1,
      "from-tool": 1,
      "no-quote": 1,
      "no-beginning": 1,
    })
    await memory.close()
  })
})

it("an audit tells who has changed a fact, and each of it once", async () => {
  const memory = open()
  const turn = (content: string) => [
    { role: "user" as const, content },
    { role: "assistant" as const, content: "Noted." },
  ]
  await memory.append("one", turn("diet = vegan"), { owner: "ann" })
  await memory.append("one", turn("allergy = nuts"))
  await memory.append("one", turn("allergy = pollen"))
  const actor = { id: "support", via: "console" }
  const by = memory.as(actor)
  const [diet, nuts, pollen] = (await memory.facts("one")).map(({ id }) => id) as [string, string, string]
  await by.confirmFact("one", diet)
  await by.removeFact("one", diet, { as: "ended" })
  await by.revertFact("one", diet)
  await by.removeFact("one", nuts, { as: "retracted" })
  await by.removeFact("one", pollen, { as: "redacted" })
  await by.rebuildFacts("ann")
  await by.takeFacts("ann")
  await by.rebuildFacts("ann")
  await by.dropFacts("ann")
  await by.redact("one", 0)
  const acts = ["confirm", "end", "revert", "retract", "redact", "take", "drop"].map((act) => `${act}-fact`)
  for (const { entries } of [await memory.audit("one"), await memory.auditOf("ann")]) {
    const done = entries.filter(({ act }) => /-facts?$|^redact$/u.test(act) && act !== "rebuild-facts")
    expect(done.map(({ act }) => act.replace(/facts$/u, "fact"))).toEqual([...acts, "redact"])
    expect(done.map((entry) => entry.actor)).toEqual(done.map(() => actor))
    expect(entries.filter(({ act }) => act === "rebuild-facts").map((entry) => entry.actor)).toEqual([
      actor,
      actor,
    ])
  }
  await memory.close()
})
