/** `memfold facts`: what is known, with quotes, at any time; and how much of it is true. */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Message } from "@memfold/core"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { createMemory } from "memfold"
import { inFolder, lines } from "@memfold/harness/program"

const { folder, memfold } = inFolder("facts")

describe("memfold facts", () => {
  it("shows what is true now, then and ever, with quotes, and counts what was judged and refused", async () => {
    const path = `sqlite:${join(folder, "facts.db")}`
    const memory = createMemory({
      store: path,
      layers: {
        extractor: {
          name: "played",
          extract: ({ messages }) => Effect.succeed(found(messages.map((message) => Message.text(message)))),
        },
      },
      compaction: { mode: "inline" },
    })
    const said = async (session: string, content: string, time: string) => {
      const told = (role: "user" | "assistant", text: string) => ({
        role,
        parts: [{ type: "text" as const, text }],
        time: Date.parse(time),
      })
      await memory.neutral.append(session, [told("user", content), told("assistant", "Ok.")], {
        owner: "ann",
      })
    }
    await said("one", "city=Graz", "2024-01-01")
    await said("two", "city=Vienna", "2025-01-01")
    await memory.close()
    const store = ["--store", path]
    const told = await memfold("facts", "--owner", "ann", ...store)
    expect(told).toMatchObject({ code: 0, err: "" })
    expect(told.out).toContain('"city=Vienna" two@')
    expect(told.out).not.toContain("Graz")
    const valuesOf = async (...args: ReadonlyArray<string>) =>
      lines((await memfold("facts", ...args, ...store, "--json")).out).map((one) => one["value"])
    expect(await valuesOf("--owner", "ann", "--at", "2024-06-01")).toEqual(["Graz"])
    expect(await valuesOf("two", "--always")).toEqual(["Graz", "Vienna"])
    expect(await valuesOf("--owner", "ann", "--as-of", "1")).toEqual(["Graz"])
    const audit = await memfold("facts", "audit", "--owner", "ann", ...store, "--json")
    const sample = lines(audit.out)
    expect(sample.at(-1)).toMatchObject({ type: "audit", taken: 2, judged: 0, refused: { "not-said": 2 } })
    const graz = sample.find((one) => one["value"] === "Graz")
    const judged = await memfold(
      "facts",
      "audit",
      "--owner",
      "ann",
      "--wrong",
      String(graz?.["id"]),
      ...store,
    )
    expect(judged.out).toContain("50 % of 2 facts judged: 0 right, 1 wrong")
    expect(await valuesOf("--owner", "ann", "--always")).toEqual(["Vienna"])
    expect((await memfold("facts", ...store)).err).toContain("name a session, or --owner ID")
    // The rules find nothing in such texts.
    const anew = async (act: string, ...args: ReadonlyArray<string>) =>
      (await memfold("facts", act, "--owner", "ann", ...store, ...args)).out
    expect(await anew("diff")).toContain("memfold facts rebuild --owner ann does that")
    const diff = await anew("rebuild")
    expect(diff).toMatch(/- +city: Vienna.*"city=Vienna" two@/u)
    expect(diff).toContain("rules 1: 2 facts would come, 1 go, 0 change")
    expect(await anew("diff")).toBe(diff)
    expect(await anew("drop")).toContain("the facts are as they were")
    expect(await anew("take")).toContain("Nothing was learned anew")
    expect(await valuesOf("--owner", "ann")).toEqual(["Vienna"])
    await anew("rebuild")
    expect(lines(await anew("take", "--json"))).toEqual([{ type: "take", done: true }])
    expect(await valuesOf("--owner", "ann", "--always")).toEqual([])
    // A session with an owner has its facts there.
    expect((await memfold("facts", "take", "one", ...store)).err).toContain("it has an owner")
    const module = join(folder, "cities.mjs")
    await writeFile(
      module,
      "export default ({ messages }) => messages.filter(({ role }) => role === 'user')" +
        ".map(({ text }) => ({ predicate: 'town', value: text.split('=')[1], quote: text }))",
    )
    const towns = await anew("rebuild", "--extractor", module)
    expect(towns).toMatch(/\+ +town: Graz.*"city=Graz" one@/u)
    expect(towns).toContain("cities 1: 2 facts would come, 2 go, 0 change")
    expect(await anew("take")).toContain("in the place of what was known")
    expect(await valuesOf("--owner", "ann", "--at", "2026-01-01")).toEqual(["Graz", "Vienna"])
    expect(await valuesOf("--owner", "ann", "--at", "1950-01-01")).toEqual([])
    const wrong = async (...args: ReadonlyArray<string>) =>
      (await memfold("facts", ...args, "--owner", "ann", ...store)).err
    expect(await wrong("diff", "--extractor", module)).toContain("belongs to memfold facts rebuild")
    expect(await wrong("--as-of", "-1")).toContain("--as-of is a version, 0 or more")
    expect(await wrong("rebuild", "--extractor", "nowhere.mjs")).toContain("there is no such file")
    await writeFile(join(folder, "five.mjs"), "export default 5")
    expect(await wrong("rebuild", "--extractor", join(folder, "five.mjs"))).toContain("is no extractor")
  })

  it("learns the facts of a session without an owner anew", async () => {
    const path = `sqlite:${join(folder, "alone.db")}`
    const memory = createMemory({ store: path, layers: true, compaction: { mode: "inline" } })
    await memory.append("alone", [
      { role: "user", content: "Hi, I'm Ada. My cat is called Tom." },
      { role: "assistant", content: "Noted." },
    ])
    await memory.close()
    const anew = async (act: string, source?: string) => {
      const module = join(folder, `${source?.length ?? 0}.mjs`)
      if (source !== undefined) await writeFile(module, source)
      const args = source === undefined ? [] : ["--extractor", module]
      return memfold("facts", act, "alone", "--store", path, ...args)
    }
    const bad = "export const extractor = { name: 'bad', isFree: true, extract: () => null }"
    expect((await anew("rebuild", bad)).err).toContain('the extractor "bad" threw an error')
    const { out, err } = await anew(
      "rebuild",
      "export default ({ messages }) => messages.flatMap(({ text }) => " +
        "text.includes('Tom') ? [{ predicate: 'cat', value: 'Tom', quote: 'cat is called Tom' }] : [])",
    )
    expect(err).toBe("")
    expect(out).toMatch(/\+ +cat: Tom.*"cat is called Tom" alone@/u)
    expect(out).toMatch(/- +Name: Ada/u)
    expect((await anew("take")).code).toBe(0)
    const left = lines((await memfold("facts", "alone", "--store", path, "--json")).out)
    expect(left.filter((one) => one["layer"] === "user").map((one) => one["value"])).toEqual(["Tom"])
    expect((await anew("diff")).out).toContain("memfold facts rebuild alone does that")
  })
})

/** What texts say, and something that they do not. */
const found = (texts: ReadonlyArray<string>) =>
  texts.flatMap((quote) => {
    const [predicate, value] = quote.split("=")
    if (predicate === undefined || value === undefined) return []
    const fact = { layer: "user" as const, predicate, value, key: predicate }
    return [
      { ...fact, quote },
      { ...fact, value: "Rome", quote: "city=Rome" },
    ]
  })
