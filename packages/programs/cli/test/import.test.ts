/**
 * `memfold import` and `memfold summaries` as their users meet them: files as the older programs wrote
 * them, the built program, exit codes, and what is on which stream.
 */
import { existsSync, mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { database, messagesColumns, rollingColumns, summariesColumns } from "./oldDatabases.js"
import { inFolder, lines, sample } from "@memfold/harness/program"

const { folder, memfold, file } = inFolder("import")

const storeIn = (name: string): string => `sqlite:${join(folder, name)}`

const tables = (name: string, given: Parameters<typeof database>[1], pragma?: string): string =>
  database(join(folder, name), given, pragma)

const start = Date.UTC(2026, 1, 1, 12)
const iso = (minutes: number) => new Date(start + minutes * 60_000).toISOString()

const chat = (count: number, extra: (index: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `message ${index} says a little something about the weather`,
    ...extra(index),
  }))

const look = async (store: string, ...args: ReadonlyArray<string>) =>
  lines((await memfold(...args, "--store", store, "--json")).out)

const verified = async (store: string) => {
  expect(await look(store, "verify")).toMatchObject([{ type: "verified", findings: 0 }])
}

describe("a sliding window (design 1)", () => {
  const state = (rest: object = {}) => ({
    key: "telegram:1",
    messages: chat(60, (index) => ({ timestamp: iso(index), tools_used: ["web"] })),
    last_consolidated: 20,
    last_consolidated_at: iso(59),
    ...rest,
  })

  it("goes on from where it was consolidated, with its cooldown", async () => {
    const store = storeIn("window.db")
    const path = file("telegram.json", state())
    const text = file("MEMORY.md", "They talked about the weather.\n")
    const ran = await memfold(
      "import",
      "--from",
      "sliding-window",
      path,
      "--store",
      store,
      "--summary",
      text,
      "--json",
    )
    expect(ran).toMatchObject({ code: 0, err: "" })
    expect(lines(ran.out)).toMatchObject([
      { type: "imported-summary", was: "active", is: "active", from: 0, to: 20, time: iso(59), notes: [] },
      {
        type: "imported",
        from: "sliding-window",
        session: "telegram",
        messages: 60,
        coveredTo: 20,
        duplicate: false,
      },
    ])
    await verified(store)
    const [context] = await look(store, "context", "telegram")
    expect(context?.["layout"]).toMatchObject([
      { section: "summary", from: 0, to: 20 },
      { section: "uncovered", from: 20, to: 60 },
    ])
    const messages = context?.["messages"] as ReadonlyArray<unknown>
    expect(messages[0]).toEqual({
      role: "system",
      content: "[Conversation Summary]\nThey talked about the weather.",
    })
    // Nothing that only the older program knew goes to a provider.
    expect(messages[1]).toEqual({ role: "user", content: chat(60)[20]?.content })
    // 40 messages are the tail; the 61st is one more than that, and the cooldown of 15 minutes decides.
    const next = (minutes: number) => [
      { role: "user", content: "one message more, of some length", time: iso(minutes) },
    ]
    const goOn = (minutes: number) =>
      memfold(
        "replay",
        file(`next-${minutes}.json`, next(minutes)),
        "--store",
        store,
        "--session",
        "telegram",
        "--json",
      )
    expect(lines((await goOn(70)).out).filter(({ type }) => type === "compaction")).toEqual([])
    expect(lines((await goOn(75)).out)[0]).toMatchObject({ type: "compaction", from: 20, reason: "cooldown" })
    await verified(store)
  })

  it("has the summary written once where it is not given", async () => {
    const store = storeIn("written.db")
    const echo = ["--store", store, "--summarizer", "echo", "--json"]
    await memfold("import", "--from", "sliding-window", file("echoed.json", state()), ...echo)
    expect(await look(store, "summaries", "echoed")).toMatchObject([
      { text: "[0,20)", status: "active", messages: 60 },
    ])
    await verified(store)
  })

  it("is imported once; a session that has other content is left alone", async () => {
    const store = storeIn("twice.db")
    const path = file("twice.json", state())
    const bring = (...args: ReadonlyArray<string>) =>
      memfold("import", "--from", "sliding-window", path, "--store", store, ...args)
    await bring()
    const before = await look(store, "events", "twice")
    const again = await bring()
    expect(again).toMatchObject({ code: 0, err: "" })
    expect(again.out).toContain('was already imported into session "twice"; nothing was written')
    expect(lines((await bring("--json")).out)).toMatchObject([
      { type: "imported", duplicate: true, events: 0 },
    ])
    file("twice.json", state({ last_consolidated: 24 }))
    const other = await bring()
    expect(other).toMatchObject({ code: 2, out: "" })
    expect(other.err).toContain('session "twice"')
    expect(other.err).toContain("--session")
    expect(await look(store, "events", "twice")).toEqual(before)
  })

  it("is only tried without a store", async () => {
    const ran = await memfold("import", "--from", "sliding-window", file("tried.json", state()))
    expect(ran).toMatchObject({ code: 0, err: "" })
    expect(ran.out).toContain("20 in the active summary, 40 uncovered")
    expect(ran.out).toContain("Only checked")
  })
})

describe("a store of summaries with split turns (design 3)", () => {
  const transcript = () => file("thread.json", chat(60))
  const store3 = (name: string, rows: ReadonlyArray<ReadonlyArray<unknown>>) =>
    tables(name, { summaries: { columns: summariesColumns, rows } }, "PRAGMA journal_mode = WAL")
  const joined = "history\n\n---\n\n**Turn Context (split turn):**\n\nprefix"

  it("brings every summary of a thread, the split turn in its words", async () => {
    const store = storeIn("split.db")
    const old = store3("leon.db", [
      ["s1", "t1", "first", 10, 20, 0, null, 0, "2026-02-01 12:00:20"],
      ["s2", "t1", joined, 31, 40, 1, "prefix", 1, "2026-02-01 12:00:40"],
    ])
    const given = ["--messages", transcript(), "--store", store]
    const ran = await memfold("import", "--from", "split-turn", old, ...given, "--json")
    expect(ran).toMatchObject({ code: 0, err: "" })
    expect(lines(ran.out)).toMatchObject([
      { summary: "s1", was: "superseded", is: "superseded", from: 0, to: 10 },
      { summary: "s2", was: "active", is: "active", from: 0, to: 31 },
      { type: "imported", session: "t1", messages: 60, coveredTo: 31 },
    ])
    await verified(store)
    expect(await look(store, "summaries", "t1")).toMatchObject([
      { summary: "s1", status: "superseded", supersededBy: "s2", messages: 20, splitTurn: false },
      { summary: "s2", status: "active", supersededBy: null, messages: 40, splitTurn: true, text: joined },
    ])
    const text = (await memfold("summaries", "t1", "--store", store)).out
    expect(text).toMatch(/s1 +\d+ +superseded +0 to 9 +20 .*s2/)
    expect(text).toMatch(/s2 +\d+ +active +0 to 30 +40 .*Split Turn/)
  })

  it("brings every conversation of a file at once, a damaged summary left to be made anew", async () => {
    const store = storeIn("all.db")
    const old = store3("all-old.db", [
      ["s1", "t1", "first", 10, 20, 0, null, 1, "2026-02-01 12:00:20"],
      ["s2", "t2", "second", 10, 20, 0, null, 1, "yesterday"],
    ])
    const places = ["all/t1.json", "all/t2.json"].map((name) => {
      mkdirSync(join(folder, "all"), { recursive: true })
      return file(name, chat(60))
    })
    const given = ["--messages", join(folder, "all"), "--store", store, "--json"]
    const ran = await memfold("import", "--from", "split-turn", old, "--all", ...given)
    expect(ran).toMatchObject({ code: 0, err: "" })
    expect(lines(ran.out)).toMatchObject([
      { summary: "s1", is: "active" },
      { type: "imported", session: "t1", messages: 60, coveredTo: 10 },
      { summary: "s2", is: "left-out", notes: [expect.stringContaining("created_at is no time")] },
      { type: "imported", session: "t2", messages: 60, coveredTo: 0 },
    ])
    await verified(store)
    rmSync(places[1]!)
    const lacks = await memfold("import", "--from", "split-turn", old, "--all", ...given)
    expect(lacks.err).toContain('has no transcript of conversation "t2"')
    const both = await memfold("import", "--from", "split-turn", old, "--all", "--thread", "t1", ...given)
    expect(both.err).toContain("--all does not go with --thread")
  })

  it("brings every conversation of an export of another program, each under the name that a pick gives it", async () => {
    const store = storeIn("export.db")
    const said = (turns: ReadonlyArray<string>) => ({
      conversations: turns.map((value, at) => ({ from: at % 2 === 0 ? "human" : "gpt", value })),
    })
    const exported = file("conversations.json", [said(["Hello", "Hi"]), said(["And this?"])])
    const given = ["import", "--from", "transcript", exported, "--store", store, "--json"]
    const ran = await memfold(...given, "--all")
    expect(ran).toMatchObject({ code: 0, err: "" })
    expect(lines(ran.out)).toMatchObject([
      { type: "imported", session: "conversations-0", messages: 2 },
      { type: "imported", session: "conversations-1", messages: 1 },
    ])
    const again = await memfold(...given, "--pick", "1")
    expect(lines(again.out)).toMatchObject([{ session: "conversations-1", duplicate: true }])
    expect((await memfold(...given, "--all", "--pick", "2")).err).toContain("--all does not go with --pick")
  })
})

describe("a table of rolling summaries (design 4)", () => {
  const ids = (from: number, to: number) =>
    JSON.stringify(Array.from({ length: to - from }, (_, index) => `m${from + index}`))
  const rows = chat(50).map(({ role, content }, index) => [
    `m${index}`,
    "c",
    role,
    content,
    start + index * 60_000,
  ])
  const old = (name: string, status: (index: number) => string) =>
    tables(name, {
      compressed_summaries: {
        columns: rollingColumns,
        rows: [0, 1, 2].map((index) => [
          `s${index}`,
          "c",
          `summary ${index}`,
          status(index),
          start + (index * 10 + 15) * 60_000,
          ids(index * 10, index * 10 + 10),
        ]),
      },
      messages: { columns: messagesColumns, rows: rows.toReversed() },
    })

  it("is healed where several were active: blocks of one summary, merged by the next compaction", async () => {
    const store = storeIn("rolling.db")
    const path = old("chat.db", () => "active")
    const ran = await memfold("import", "--from", "rolling", path, "--store", store, "--json")
    expect(lines(ran.out).at(-1)).toMatchObject({ session: "c", messages: 50, coveredTo: 30, leftOut: 0 })
    await verified(store)
    const before = await look(store, "summaries", "c")
    expect(before.map(({ status }) => status)).toEqual(["superseded", "superseded", "active"])
    expect(before.at(-1)).toMatchObject({
      text: "summary 0\n\nsummary 1\n\nsummary 2",
      segments: [
        { kind: "block", from: 0, to: 10 },
        { kind: "block", from: 10, to: 20 },
        { kind: "block", from: 20, to: 30 },
      ],
    })
    const more = file("more.json", [{ role: "user", content: "And now something else entirely." }])
    const goOn = ["--strategy", "rolling-buffer", "--summarizer", "echo", "--session", "c", "--store", store]
    await memfold("replay", more, ...goOn)
    const after = await look(store, "summaries", "c")
    expect(after.at(-1)).toMatchObject({ status: "active", segments: [{ kind: "history", from: 0 }] })
    await verified(store)
  })

  it("keeps what was superseded, and what was invalid", async () => {
    const store = storeIn("statuses.db")
    const path = old("statuses-old.db", (index) => ["superseded", "active", "invalid"][index] ?? "")
    const ran = await memfold("import", "--from", "rolling", path, "--store", store)
    expect(ran.out).toContain("20 in the active summary, 30 uncovered")
    const all = await look(store, "summaries", "c")
    expect(all.map(({ summary, status, supersededBy }) => [summary, status, supersededBy])).toEqual([
      ["s0", "superseded", "s1"],
      ["s1", "active", null],
      ["s2", "invalid", null],
    ])
    await verified(store)
  })
})

describe("bad input is one line on standard error, exit code 2, and nothing written", () => {
  it("of a file, of what goes with it, and of the call", async () => {
    const store = storeIn("untouched.db")
    const one = async (args: ReadonlyArray<string>, ...parts: ReadonlyArray<string>) => {
      const ran = await memfold("import", ...args, "--store", store)
      expect({ args, code: ran.code, out: ran.out }).toEqual({ args, code: 2, out: "" })
      expect(ran.err.trimEnd().split("\n")).toHaveLength(1)
      for (const part of parts) expect(ran.err).toContain(part)
      expect(ran.err).not.toContain("a secret")
    }
    const said = [{ role: "user", content: "a secret" }]
    const fine = file("fine.json", { messages: said, last_consolidated: 1 })
    await Promise.all([
      one(["--from", "sliding-window", "nowhere.json"], "nowhere.json", "no such file"),
      one(
        ["--from", "sliding-window", file("beyond.json", { messages: said, last_consolidated: 2 })],
        "beyond.json",
        "there are 1 messages",
      ),
      one(["--from", "split-turn", fine], "fine.json", "not a SQLite database"),
      one(["--from", "round-robin", fine], "round-robin", "sliding-window, split-turn, rolling"),
      one(["--from", "sliding-window", fine, "--summarizer", "magic"], "magic", "extractive"),
      one(["--from", "sliding-window", fine, "--session", " "], "--session: the id must not be empty"),
      one([fine], "--from"),
    ])
    expect(existsSync(join(folder, "untouched.db"))).toBe(false)
  })
})

describe("the samples", () => {
  it.each([
    ["sliding-window", "old-sliding-window.jsonl"],
    ["rolling", "old-rolling.json"],
  ])("of %s import, verify clean, and have a summary", async (from, name) => {
    const store = storeIn(`sample-${from}.db`)
    const ran = await memfold("import", "--from", from, sample(name), "--store", store, "--json")
    expect(ran).toMatchObject({ code: 0, err: "" })
    expect(lines(ran.out).at(-1)).toMatchObject({ leftOut: 0 })
    expect(lines(ran.out).at(-1)?.["coveredTo"]).toBeGreaterThan(0)
    await verified(store)
  })
})

describe("summaries", () => {
  it("of a session that has none, or is not there", async () => {
    const store = storeIn("few.db")
    await memfold("replay", file("few.json", chat(3)), "--store", store)
    const [few, many, absent] = await Promise.all([
      memfold("summaries", "few", "--store", store),
      memfold("summaries", "many", "--store", store),
      memfold("summaries", "few", "--store", "sqlite:absent.db"),
    ])
    expect(few).toMatchObject({ code: 0, out: 'session "few" has no summaries\n' })
    expect(many).toMatchObject({ code: 2, out: "" })
    expect(many.err).toContain('no session "many"')
    expect(absent).toMatchObject({ code: 2, out: "" })
    expect(existsSync(join(folder, "absent.db"))).toBe(false)
  })
})
