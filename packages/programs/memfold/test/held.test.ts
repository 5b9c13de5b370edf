/** A hold wins over whatever takes something away, and an erasure over what is learned meanwhile, also in other logs. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { Audit, Memory as Core } from "@memfold/core"
import { createMemory, functionExtractor } from "memfold"
import { afterAll, expect, it } from "vitest"

const { operations } = Core
type OperationName = Core.OperationName

const folder = mkdtempSync(join(tmpdir(), "memfold-held-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const open = (
  name: string,
  meanwhile: () => Promise<unknown> = async () => null,
  options: Pick<Parameters<typeof createMemory>[0] & object, "spend"> = {},
) =>
  createMemory({
    ...options,
    store: `sealed:${join(folder, name)},sqlite:${join(folder, `${name}.db`)}`,
    layers: {
      scopeOf: () => "project",
      extractor: functionExtractor(
        async ({ session, messages }) => {
          if (session === "late") await meanwhile()
          return messages.flatMap(({ role, text }) =>
            role === "user"
              ? [
                  ...(session === "late" ? [] : [{ predicate: "likes", value: text, quote: text }]),
                  { layer: "scope" as const, predicate: "note", value: text, quote: text },
                ]
              : [],
          )
        },
        { isFree: true },
      ),
    },
    compaction: { mode: "inline" },
  })
type Memory = ReturnType<typeof open>

/** Each operation that takes away something of what ann has said in the session one. */
const takings: Readonly<Record<string, (memory: Memory) => Promise<unknown>>> = {
  redact: (memory) => memory.redact("one", 0),
  delete: (memory) => memory.delete("one"),
  deleteOf: (memory) => memory.deleteOf("ann"),
  erase: (memory) => memory.erase("ann", { reason: "asked for", after: 0 }),
  redactFact: async (memory) => {
    const fact = (await memory.facts("two")).find(
      ({ layer, value }) => layer === "user" && value === "one tea",
    )
    return memory.removeFact("two", fact!.id, { as: "redacted" })
  },
  deleteFacts: (memory) => memory.delete("memfold:user:ann"),
  deleteFactsOfProject: (memory) => memory.delete("memfold:scope:project"),
  pass: (memory) => memory.describe("one", { owner: "bob" }),
}

const said = { role: "user" as const, content: "And now?" }

/** Every other operation, which takes nothing away. */
const others: Readonly<
  Record<
    Exclude<
      OperationName,
      | "redact"
      | "delete"
      | "deleteOf"
      | "erase"
      | "removeFact"
      | "answerToolCall"
      | "look"
      | "hold"
      | "holdOf"
      | "subscribe"
    >,
    (memory: Memory) => unknown
  >
> = {
  append: (memory) => memory.append("one", said),
  context: (memory) => memory.context("one"),
  messages: (memory) => memory.messages("one"),
  clear: (memory) => memory.clear("one"),
  edit: (memory) => memory.edit("one", 0, said),
  regenerate: (memory) => memory.regenerate("one"),
  rewrite: (memory) => memory.rewrite("one", () => [said]),
  branches: (memory) => memory.branches("one"),
  checkout: (memory) => memory.checkout("one", 0),
  recall: (memory) => memory.recall("one", "tea"),
  recallOf: (memory) => memory.recallOf("ann", "tea"),
  trace: (memory) => memory.trace("one", "tea"),
  traceMessage: (memory) => memory.traceMessage("one", 0),
  facts: (memory) => memory.facts("one"),
  factsOf: (memory) => memory.factsOf("ann"),
  confirmFact: (memory) => memory.confirmFact("one", "f"),
  revertFact: (memory) => memory.revertFact("one", "f"),
  rebuildFacts: (memory) => memory.rebuildFacts("ann"),
  diffFacts: (memory) => memory.diffFacts("ann"),
  takeFacts: (memory) => memory.takeFacts("ann"),
  dropFacts: (memory) => memory.dropFacts("ann"),
  compact: (memory) => memory.compact("one"),
  preview: (memory) => memory.preview("one"),
  summaries: (memory) => memory.summaries("one"),
  timeline: (memory) => memory.timeline("one"),
  revert: (memory) => memory.revert("one"),
  undo: (memory) => memory.undo("one"),
  state: (memory) => memory.state("one"),
  events: (memory) => memory.events("one"),
  feed: (memory) => memory.feed({ follow: false }),
  consume: (memory) => memory.consume("crm", () => undefined, { follow: false }),
  eventsOf: (memory) => memory.eventsOf("ann"),
  sessionsOf: (memory) => memory.sessionsOf("ann"),
  describe: (memory) => memory.describe("one", { title: "Tea" }),
  fork: (memory) => memory.fork("one", "three"),
  restore: (memory) => memory.restore("ann"),
  audit: (memory) => memory.audit("one"),
  auditOf: (memory) => memory.auditOf("ann"),
}

/** Runs a call to its end, or to its failure. */
const ended = async (call: unknown): Promise<unknown> => {
  if (typeof call !== "object" || call === null || !(Symbol.asyncIterator in call)) return call
  const all: Array<unknown> = []
  for await (const one of call as AsyncIterable<unknown>) if (all.push(one) > 20) break
  return all
}

const everything = async (memory: Memory) => {
  const events: Array<{ readonly event: { readonly _tag: string } }> = []
  for await (const event of memory.eventsOf("ann")) events.push(event)
  const facts = await Promise.all(["one", "two", "other"].map((id) => memory.facts(id, { at: null })))
  return { events: events.filter(({ event }) => event._tag !== "AuditNoted"), facts }
}

it("a hold wins over what takes away, names itself, and leaves everything as it was", async () => {
  for (const [name, take] of Object.entries(takings))
    for (const held of ["session", "owner"] as const) {
      const memory = open(`${name}-${held}`)
      for (const [session, owner] of [
        ["two", "ann"],
        ["one", "ann"],
        ["other", "bob"],
      ] as const)
        await memory.append(
          session,
          [
            { role: "user", content: `${session} tea` },
            { role: "assistant", content: "Noted." },
          ],
          { owner },
        )
      const before = await everything(memory)
      expect(before.facts[2]).toHaveLength(4)
      await (held === "session" ? memory.hold("one", "case 17") : memory.holdOf("ann", "case 17"))
      await expect(take(memory)).rejects.toThrow("case 17")
      expect({ name, held, ...(await everything(memory)) }).toEqual({ name, held, ...before })
      await (held === "session" ? memory.hold("one", null) : memory.holdOf("ann", null))
      await take(memory)
      await memory.close()
    }
})

it("no other operation takes away a word of what is held", async () => {
  const memory = open("kept")
  for (const session of ["one", "two"])
    await memory.append(session, [{ ...said, content: `${session} tea` }], { owner: "ann" })
  await memory.holdOf("ann", "case 17")
  const before = await everything(memory)
  for (const [name, call] of Object.entries(others)) {
    await Promise.resolve(call(memory)).then(ended, () => null)
    const { events } = await everything(memory)
    expect({
      name,
      kept: before.events.filter((one) => !events.some((other) => isDeepStrictEqual(one, other))),
    }).toEqual({ name, kept: [] })
  }
  await memory.close()
})

it("no operation writes to a trail of the audit, or deletes it", async () => {
  const memory = open("trail")
  await memory.append("one", said, { owner: "ann" })
  await memory.holdOf("ann", "case 17")
  const given: Readonly<Partial<Record<OperationName, ReadonlyArray<unknown>>>> = {
    append: [said],
    edit: [0, said],
    rewrite: [() => [said]],
    checkout: [0],
    describe: [{ owner: "bob", title: "Tea" }],
    recall: ["tea"],
    redact: [0],
    fork: ["three"],
  }
  const trails = async () => [
    (await memory.auditOf("ann")).trails[0],
    (await memory.auditOf("new")).trails[0],
  ]
  const before = await trails()
  expect(before).toMatchObject([{ entries: 1, brokenAt: null }, { entries: 0 }])
  for (const trail of [Audit.trailOf({ owner: "ann" }), Audit.trailOf({ owner: "new" })])
    for (const [name, { ids, effectsOnly }] of Object.entries(operations)) {
      if (ids[0] !== "session" || effectsOnly === true || name === "subscribe") continue
      const calls = [[trail, ...(given[name as OperationName] ?? [])]]
      if (name === "fork") calls.push(["one", trail])
      for (const call of calls) {
        const operation = memory[name as "append"] as (...args: ReadonlyArray<unknown>) => unknown
        await Promise.resolve()
          .then(() => operation(...call))
          .then(ended)
          .catch(() => null)
        expect({ name, trails: await trails() }).toEqual({ name, trails: before })
        expect({ name, version: (await memory.state(trail)).version }).toEqual({
          name,
          version: trail.endsWith("ann") ? 1 : 0,
        })
      }
    }
  await memory.deleteOf("bob")
  expect(await trails()).toEqual(before)
  await memory.close()
})

it("a session that was passed on is named by the receipt of its earlier owner, and its hold wins", async () => {
  for (const held of ["session", "owner"] as const) {
    const memory = open(`passed-${held}`)
    await memory.append("one", said)
    for (const owner of ["ann", "bob", "carl"]) {
      await memory.describe("one", { owner })
      await memory.append("one", said)
    }
    // Begun anew under the id, it has no word of ann.
    await memory.append("two", said, { owner: "ann" })
    await memory.describe("two", { owner: "bob" })
    await memory.delete("two")
    await memory.append("two", said, { owner: "bob" })
    await (held === "session" ? memory.hold("one", "case 17") : memory.holdOf("carl", "case 17"))
    await expect(memory.erase("ann", { reason: "asked for" })).rejects.toThrow("case 17")
    expect((await memory.messages("one")).total).toBe(4)
    await (held === "session" ? memory.hold("one", null) : memory.holdOf("carl", null))
    const { sessions, keys } = await memory.erase("ann", { reason: "asked for" })
    const names = sessions.map(({ session }) => session)
    expect(names).toContain("one")
    expect(names).not.toContain("two")
    // Hers, and that of the session from before it had an owner.
    expect(keys.length).toBeGreaterThanOrEqual(2)
    await expect(memory.messages("one")).rejects.toThrow("erased")
    expect((await memory.messages("two")).total).toBe(1)
    await memory.restore("ann")
    expect((await memory.messages("one")).total).toBe(4)
    await memory.close()
  }
})

it("what is learned from an owner who is erased or deleted meanwhile is in no log", async () => {
  const takings: Readonly<Record<string, (memory: Memory) => Promise<unknown>>> = {
    erase: (memory) => memory.erase("carl", { reason: "asked for" }),
    deleteOf: (memory) => memory.deleteOf("carl"),
  }
  for (const [name, take] of Object.entries(takings)) {
    const memory: Memory = open(`late-${name}`, () => take(memory))
    const turn = (content: string) => [
      { role: "user" as const, content },
      { role: "assistant" as const, content: "Noted." },
    ]
    await memory.append("other", turn("of bob"), { owner: "bob" })
    await memory.append("late", turn("of carl"), { owner: "carl" }).catch(() => null)
    const texts = JSON.stringify(await memory.facts("other", { at: null }))
    expect(texts).toContain("of bob")
    expect([name, texts.includes("of carl")]).toEqual([name, false])
    await memory.close()
  }
})

it("whoever comes back after an erasure begins anew, and what can be taken back stays", async () => {
  const memory = open("anew", undefined, { spend: { owner: { tokens: 1_000_000 } } })
  const turn = (content: string) => [
    { role: "user" as const, content },
    { role: "assistant" as const, content: "Noted." },
  ]
  const known = async () => (await memory.factsOf("ann")).map(({ value }) => value)
  await memory.append("one", turn("ann tea"), { owner: "ann" })
  await memory.erase("ann", { reason: "asked for" })
  await expect(memory.append("two", turn("ann cake"), { owner: "ann" })).rejects.toThrow("revoked")
  await memory.restore("ann")
  expect(await known()).toEqual(["ann tea"])
  await memory.erase("ann", { reason: "asked for", after: 0 })
  // A hold of what nobody can read keeps it, and keeps nobody from speaking.
  await memory.hold("memfold:user:ann", "case 17")
  await memory.append("zero", turn("ann zero"), { owner: "ann" })
  await memory.hold("memfold:user:ann", null)
  await memory.describe("two", { owner: "ann" })
  await memory.append("two", turn("ann two"))
  await memory.append("three", turn("ann three"), { owner: "ann" })
  expect(await known()).toEqual(["ann two", "ann three"])
  await memory.compact("two")
  await expect(memory.messages("one")).rejects.toThrow("erased")
  const { totals, trails } = await memory.auditOf("ann")
  expect([totals["erase"], totals["delete"], trails[0]!.brokenAt]).toEqual([2, 1, null])
  await memory.close()
})

it("no fact of an erased owner is left with others, from a session that was passed on, or from its copies", async () => {
  const memory = open("facts-of-passed")
  const turn = (content: string) => [
    { role: "user" as const, content },
    { role: "assistant" as const, content: "Noted." },
  ]
  await memory.append("other", turn("tea of bob"), { owner: "bob" })
  await memory.append("one", turn("cake of ann"), { owner: "ann" })
  await memory.fork("one", "copy")
  await memory.append("copy", turn("pie of ann"))
  for (const session of ["one", "copy"]) {
    await memory.describe(session, { owner: "bob" })
    await memory.append(session, turn(`milk of bob in ${session}`))
  }
  await memory.fork("one", "again")
  const known = async () =>
    JSON.stringify([await memory.facts("other", { at: null }), await memory.factsOf("bob", { at: null })])
  expect(await known()).toMatch(/cake of ann.*pie of ann/)
  await memory.rebuildFacts("bob")
  const { sessions } = await memory.erase("ann", { reason: "asked for", after: 0 })
  expect(sessions.map(({ session }) => session)).toEqual(expect.arrayContaining(["one", "copy", "again"]))
  expect(await known()).toContain("tea of bob")
  expect(await known()).not.toContain("of ann")
  expect(JSON.stringify(await memory.context("other"))).not.toContain("of ann")
  // What was learned of bob in a session that is erased with ann may rest on her words.
  for (const log of ["memfold:user:bob", "memfold:scope:project"])
    expect(JSON.stringify(await ended(memory.events(log)))).not.toMatch(/of ann|in one|in copy/)
  // What was learned anew before is taken, and learned again, without the sessions that nobody can read.
  expect(JSON.stringify(await memory.diffFacts("bob"))).not.toContain("of ann")
  expect(await memory.takeFacts("bob")).toBe(true)
  expect(await memory.rebuildFacts("bob")).toMatchObject({ come: [], go: [], change: [] })
  expect(await known()).toContain("tea of bob")
  await memory.append("other", turn("juice of bob"))
  expect(await known()).toContain("juice of bob")
  await memory.close()
})
