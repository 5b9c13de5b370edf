/** A hold wins over whatever takes something away, also where that is kept in other logs, and nothing is half done. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createMemory, functionExtractor } from "memfold"
import { expect, it } from "vitest"

const folder = mkdtempSync(join(tmpdir(), "memfold-held-"))
const open = (name: string) =>
  createMemory({
    store: `sealed:${join(folder, name)},sqlite:${join(folder, `${name}.db`)}`,
    layers: {
      scopeOf: () => "project",
      extractor: functionExtractor(
        ({ messages }) =>
          messages.flatMap(({ role, text }) =>
            role === "user"
              ? [
                  { predicate: "likes", value: text, quote: text },
                  { layer: "scope" as const, predicate: "note", value: text, quote: text },
                ]
              : [],
          ),
        { isFree: true },
      ),
    },
    compaction: { mode: "inline" },
  })
type Memory = ReturnType<typeof open>

/** Each operation that takes something away from what ann has said, and whom its refusal can be for. */
const takings: Readonly<Record<string, (memory: Memory) => Promise<unknown>>> = {
  redact: (memory) => memory.redact("one", 0),
  delete: (memory) => memory.delete("one"),
  deleteOf: (memory) => memory.deleteOf("ann"),
  erase: (memory) => memory.erase("ann", { reason: "asked for", after: 0 }),
}

const everything = async (memory: Memory) => {
  const events: Array<{ readonly event: { readonly _tag: string } }> = []
  for await (const event of memory.eventsOf("ann")) events.push(event)
  const facts = await Promise.all(["one", "two", "other"].map((id) => memory.facts(id, { at: null })))
  return { events: events.filter(({ event }) => event._tag !== "AuditNoted"), facts }
}

it("a hold wins over what takes away, names itself, and leaves everything as it was", async () => {
  try {
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
        await expect(take(memory), `${name}, the ${held} is held`).rejects.toThrow("case 17")
        expect(await everything(memory), `${name}, the ${held} is held`).toEqual(before)
        await (held === "session" ? memory.hold("one", null) : memory.holdOf("ann", null))
        await take(memory)
        await memory.close()
      }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
