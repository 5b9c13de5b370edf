/** The command line over summary rows that somebody has changed, and over sessions with owners. */
import { createMemory } from "memfold"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { withDriver } from "@memfold/harness/sqlite"
import { inFolder, lines } from "@memfold/harness/program"

const { folder, memfold } = inFolder("rows")

/** A file with a compacted session of an owner, and another one of the same owner. */
const written = async (name: string) => {
  const file = join(folder, name)
  const memory = createMemory({
    store: `sqlite:${file}`,
    summarizer: "echo",
    strategy: "sliding-window",
    compaction: { mode: "inline" },
  })
  for (let index = 0; index < 60; index++) {
    const role = index % 2 === 0 ? ("user" as const) : ("assistant" as const)
    await memory.append("chat-1", { role, content: `message ${index}` }, { owner: "ann", title: "Plans" })
  }
  await memory.append("chat-2", { role: "user", content: "Hello" }, { owner: "bob" })
  await memory.append("chat-3", { role: "user", content: "Hello" })
  await memory.describe("chat-3", { owner: "ann" })
  await memory.close()
  return { file, store: ["--store", `sqlite:${file}`] }
}

describe("memfold verify and repair", () => {
  it("find rows of summaries that were changed, and write them again", async () => {
    const { file, store } = await written("damaged.db")
    expect(await memfold("verify", ...store)).toMatchObject({ code: 0, err: "" })
    const rows = () => withDriver(file, (driver) => driver.prepare("SELECT * FROM summaries").all())
    const before = rows()
    expect(before.length).toBeGreaterThan(0)
    for (const sql of ["UPDATE summaries SET summary_text = 'SECRET'", "DELETE FROM summaries"]) {
      withDriver(file, (driver) => driver.exec(sql))
      const { code, out } = await memfold("verify", ...store, "--json")
      expect(code).toBe(1)
      expect(out).not.toContain("SECRET")
      expect(lines(out)[0]).toMatchObject({ type: "finding", session: "chat-1", rule: "summaries" })
      expect(await memfold("repair", ...store)).toMatchObject({
        code: 0,
        out: expect.stringContaining("wrote the summary rows again"),
      })
      expect(rows()).toEqual(before)
      expect((await memfold("verify", ...store)).code).toBe(0)
    }
  })
})

describe("memfold compact", () => {
  it("compacts a session now, and says what it did", async () => {
    const { file, store } = await written("compact.db")
    const versions = () =>
      withDriver(file, (driver) => driver.prepare("SELECT version FROM summaries ORDER BY version").all())
    const before = versions()
    const set = ["--set", "tail_keep_size=2", "--set", "context_size=20"]
    const ran = await memfold("compact", "chat-1", ...store, ...set, "--summarizer", "echo", "--json")
    expect(ran).toMatchObject({ code: 0, err: "" })
    expect(lines(ran.out)).toMatchObject([
      { type: "compaction", session: "chat-1", outcome: "Committed", coveredTo: 58 },
    ])
    expect(versions()).toHaveLength(before.length + 1)
    const again = await memfold("compact", "chat-1", ...store, ...set, "--summarizer", "echo")
    expect(again).toMatchObject({
      code: 0,
      out: "nothing was compacted: the strategy keeps every message that has no summary yet\n",
    })
    // The events of the summaries are those that time travel asks for.
    const listed = (await memfold("summaries", "chat-1", ...store)).out
    const last = (versions().at(-1) as { readonly version: number }).version
    expect(listed).toMatch(new RegExp(`^\\S+ +${last} +active`, "m"))
    expect((await memfold("context", "chat-1", ...store, "--at", String(last))).out).toContain("◆ Compressed")
    expect((await memfold("compact", "nobody", ...store)).err).toContain('there is no session "nobody"')
  })

  it("takes the lock of a compaction over whose process is gone", async () => {
    const { file, store } = await written("lock.db")
    const memory = createMemory({
      store: `sqlite:${file}`,
      summarizer: () => new Promise(() => {}),
      strategy: "sliding-window",
      compaction: { mode: "manual" },
    })
    const { total } = await memory.state("chat-1")
    void memory.append("chat-1", { role: "user", content: "more" }).catch(() => {})
    const under = memory.compact("chat-1").catch(() => {})
    while ((await memory.state("chat-1")).running === null) await new Promise(setImmediate)
    expect(total).toBe(60)
    const busy = await memfold("compact", "chat-1", ...store, "--summarizer", "echo")
    expect(busy.out).toContain("nothing was compacted")
    const taken = await memfold("compact", "chat-1", ...store, "--summarizer", "echo", "--take-over")
    expect(taken).toMatchObject({ code: 0, out: expect.stringContaining("Compressed") })
    await memory.close()
    await under
  })
})

describe("memfold sessions --owner", () => {
  it("lists the sessions of an owner, the newest activity first, here and in a copy", async () => {
    const { store } = await written("owners.db")
    const copy = join(folder, "copy.db")
    expect((await memfold("copy", "--from", store[1]!, "--to", `sqlite:${copy}`)).code).toBe(0)
    for (const url of [store[1]!, `sqlite:${copy}`]) {
      const { out } = await memfold("sessions", "--store", url, "--owner", "ann", "--json")
      expect(lines(out)).toMatchObject([
        { session: "chat-3", owner: "ann" },
        { session: "chat-1", owner: "ann", title: "Plans" },
      ])
    }
    expect((await memfold("sessions", ...store, "--owner", "nobody")).out).toContain(
      'no sessions of "nobody"',
    )
    expect((await memfold("sessions", ...store)).out).toContain("Plans")
  })
})
