/** A hold wins over whatever takes something away, and an erasure over what is learned meanwhile, also in other logs. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createMemory, functionExtractor } from "memfold"
import { afterAll, expect, it } from "vitest"

const folder = mkdtempSync(join(tmpdir(), "memfold-held-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const open = (name: string, meanwhile: () => Promise<unknown> = async () => null) =>
  createMemory({
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
