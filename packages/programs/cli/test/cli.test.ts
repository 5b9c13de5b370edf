/**
 * The command line as its users meet it: the built program, real files, exit codes, and what is on which stream.
 */
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { inFolder, lines, sample, type CallResult } from "@memfold/harness/program"
import { tamper } from "./databases.js"

const { folder, memfold, fresh, file } = inFolder("cli")

const chat = (messages: number, extra: (index: number) => object = () => ({})) =>
  Array.from({ length: messages }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `message ${index} says a little something`,
    ...extra(index),
  }))

describe("replay --json", () => {
  it("prints compactions, the context and the totals, and nothing else", async () => {
    const path = file("plain.json", JSON.stringify(chat(80)))
    const { code, out, err } = await memfold("replay", path, "--summarizer", "echo", "--json")
    expect({ code, err }).toEqual({ code: 0, err: "" })
    const all = lines(out)
    // Design 1: a tail of 40 and a window of 12, so at 52, 64 and 76 messages.
    expect(all.slice(0, 3)).toMatchObject([
      { type: "compaction", after: 51, from: 0, to: 12, reason: "window", supersedes: null },
      { after: 63, from: 12, to: 24, parts: [{ kind: "history", from: 12, to: 24 }] },
      { after: 75, from: 24, to: 36, supersedes: all[1]?.["summaryId"] },
    ])
    expect(all[1]?.["supersedes"]).toBe(all[0]?.["summaryId"])
    expect(all[3]).toMatchObject({
      type: "context",
      layout: [
        { section: "summary", from: 0, to: 36 },
        { section: "uncovered", from: 36, to: 80 },
      ],
    })
    const messages = all[3]?.["messages"] as ReadonlyArray<object>
    expect(messages).toHaveLength(45)
    expect(messages[0]).toEqual({ role: "system", content: "[Conversation Summary]\n[0,36)" })
    expect(messages[1]).toEqual({ role: "user", content: "message 36 says a little something" })
    expect(all[4]).toMatchObject({ type: "totals", messages: 80, compactions: 3, summarizerCalls: 3 })
    expect(Object.keys(all[4] ?? {}).toSorted()).toEqual(
      ["compactions", "messages", "summarizerCalls", "tokensIfRaw", "tokensSent", "type"].toSorted(),
    )
    expect(all).toHaveLength(5)
  })

  it("takes settings in snake_case and camelCase, by the names of the reference designs, also behind an equals sign", async () => {
    const path = file(
      "settings.jsonl",
      chat(14)
        .map((message) => JSON.stringify(message))
        .join("\n"),
    )
    const fixed = ["--strategy", "rounds", "--summarizer", "echo", "--json"]
    const turns = (...settings: ReadonlyArray<string>) =>
      memfold("replay", path, ...fixed, ...settings.flatMap((setting) => ["--set", setting]))
    const snake = await turns("full_context_turns=2", "cached_context_turns=1")
    const camel = await memfold(
      "replay",
      path,
      ...fixed,
      "--set=fullContextTurns=2",
      "--set=cachedContextTurns=1",
    )
    const compactions = lines(snake.out).filter(({ type }) => type === "compaction")
    expect(compactions.map(({ after, from, to, reason }) => [after, from, to, reason])).toEqual([
      [5, 0, 2, "rounds"],
      [7, 2, 4, "rounds"],
      [9, 4, 6, "rounds"],
      [11, 6, 8, "rounds"],
      [13, 8, 10, "rounds"],
    ])
    const ranges = (out: string) => lines(out).map(({ from, to }) => [from, to])
    expect(ranges(camel.out)).toEqual(ranges(snake.out))
  })

  it("takes the messages' own times as the clock; without times no cooldown passes", async () => {
    const settings = [
      "--set",
      "tail_keep_size=2",
      "--set",
      "context_size=10",
      "--summarizer",
      "echo",
      "--json",
    ]
    const hourly = chat(6, (index) => ({ time: new Date(Date.UTC(2026, 0, 1, index)).toISOString() }))
    const timed = await memfold("replay", file("timed.json", JSON.stringify(hourly)), ...settings)
    expect(lines(timed.out).filter(({ type }) => type === "compaction")).toMatchObject([
      { after: 2, from: 0, to: 1, reason: "cooldown" },
      { after: 3, from: 1, to: 2, reason: "cooldown" },
      { after: 4, from: 2, to: 3, reason: "cooldown" },
      { after: 5, from: 3, to: 4, reason: "cooldown" },
    ])
    const still = await memfold("replay", file("still.json", JSON.stringify(chat(6))), ...settings)
    expect(lines(still.out).map(({ type }) => type)).toEqual(["context", "totals"])
  })

  it("splits a turn that is too large, in a session with one user message", async () => {
    const long = "a longer piece of work that goes on and on ".repeat(20)
    const messages = [
      { role: "user", content: "Please do everything." },
      ...Array.from({ length: 12 }, (_, step) => ({ role: "assistant", content: `step ${step}: ${long}` })),
    ]
    const path = file("turn.json", JSON.stringify({ messages }))
    const settings = ["--strategy", "split-turn", "--set", "context_limit=2000", "--summarizer", "echo"]
    const { out } = await memfold("replay", path, ...settings, "--json")
    expect(lines(out)[0]).toMatchObject({
      type: "compaction",
      reason: "threshold",
      from: 0,
      parts: [{ kind: "turn-prefix", from: 0 }],
    })
  })
})

describe("what a person reads", () => {
  it("replay shows the timeline, the layout and the sums, without colours when piped", async () => {
    const { code, out } = await fresh("replay", sample("support-zh.jsonl"))
    expect(code).toBe(0)
    for (const part of [
      "Compressed: history 0 to ",
      "reason window",
      "supersedes",
      "summary    0 to ",
      "saved",
    ]) {
      expect(out).toContain(part)
    }
    expect(out).not.toContain("\u001B")
  })

  it("help and a wrong call have no colours when piped, either", async () => {
    const [help, wrong] = [await fresh("replay", "--help"), await fresh("nonsense")]
    expect(help).toMatchObject({ code: 0, err: "" })
    expect(help.out).toContain("\nOPTIONS\n")
    expect(help.out).toContain("\n  memfold replay [--strategy NAME] ")
    expect(wrong).toMatchObject({ code: 2, out: "" })
    expect(wrong.err).toBe('memfold: there is no command "nonsense"; memfold --help lists the commands\n')
    expect(help.out + wrong.err).not.toContain("\u001B")
  })
})

describe("a process for one command ends by itself, and prints what a call within this process prints:", () => {
  const at = (name: string) => ["--store", `sqlite:${join(folder, name)}`]
  const kept = at("fresh.db")
  beforeAll(async () => {
    await memfold("replay", sample("support-zh.jsonl"), ...kept, "--session", "s")
    await memfold("export", "fresh.jsonl", ...kept)
    await memfold("replay", sample("support-zh.jsonl"), ...at("damaged.db"))
    tamper(join(folder, "damaged.db"), "DELETE FROM events WHERE version = 20")
  })
  it.each<[number, string, ...ReadonlyArray<string>]>([
    [0, "sessions", ...kept],
    [0, "events", "s", ...kept],
    [0, "context", "s", ...kept],
    [0, "recall", "订单", ...kept, "--session", "s"],
    [0, "summaries", "s", ...kept],
    [0, "import", "fresh.jsonl", "--json"],
    [0, "export", ...kept],
    [2, "copy", "--from", "sqlite:fresh.db", "--to", "sqlite:./fresh.db"],
    [1, "verify", ...at("damaged.db")],
    [0, "repair", ...kept, "--json"],
    [0, "store", "size", ...kept],
    [2, "lab", sample("support-zh.jsonl"), "--policy", "best"],
  ])("exit code %d of %s", async (code, ...args) => {
    const [one, ofMany] = await Promise.all([fresh(...args), memfold(...args)])
    expect(one.code).toBe(code)
    expect(one.out + one.err).not.toBe("")
    expect(ofMany).toEqual(one)
  })
})

describe("bad input is one line on standard error and exit code 2", () => {
  const one = async (running: Promise<CallResult>, ...parts: ReadonlyArray<string>) => {
    const ran = await running
    expect(ran.code).toBe(2)
    expect(ran.out).toBe("")
    expect(ran.err.trimEnd().split("\n")).toHaveLength(1)
    for (const part of parts) expect(ran.err).toContain(part)
    expect(ran.err).not.toContain("a secret")
  }

  it("a missing file, a folder, an empty file, broken JSON, a message without a role", async () => {
    const path = file("twice.json", JSON.stringify(chat(2)))
    const latin = join(folder, "latin.json")
    writeFileSync(latin, Buffer.from('[{"role":"user","content":"caf\xe9"}]', "latin1"))
    await Promise.all([
      one(memfold("replay", "nowhere.json"), "nowhere.json", "no such file"),
      one(memfold("replay", folder), "it is a folder"),
      one(memfold("replay", latin), "latin.json", "UTF-8"),
      one(memfold("replay", path, path), "two files", '"twice"'),
      one(memfold("replay", file("empty.json", "")), "empty.json", "empty"),
      one(
        memfold("replay", file("broken.json", '[{"role":"user","content":"a secret"},{"role":')),
        "broken.json",
      ),
      one(
        memfold("replay", file("norole.json", '[{"content":"a secret"}]')),
        "norole.json",
        "role",
        "assistant",
      ),
      one(memfold("replay", file("time.json", '[{"role":"user","content":"x","time":"yesterday"}]')), "time"),
    ])
  })

  it("an unknown strategy, summarizer, format, setting, store or option, each with what is allowed", async () => {
    const path = file("fine.json", JSON.stringify(chat(3)))
    const replay = (...args: ReadonlyArray<string>) => memfold("replay", path, ...args)
    await Promise.all([
      one(replay("--strategy", "best"), '"best"', "sliding-window, rounds, split-turn, rolling-buffer"),
      one(replay("--summarizer", "magic"), "extractive, echo"),
      one(replay("--format", "xml"), "xml", "openai"),
      one(replay("--set", "tail=4"), '"tail"', "tailKeepSize"),
      one(replay("--set", "tail_keep_size"), "key=value"),
      one(replay("--set", "tail_keep_size=80"), "tail_keep_size (80)", "context_size (75)"),
      one(replay("--set", "tail_keep_size=many"), "tailKeepSize"),
      one(replay("--store", "floppy:a"), "floppy:a", "memory:, sqlite:PATH"),
      one(replay("--loud"), "--loud"),
      one(memfold("replay"), "memfold replay needs FILE, as in: memfold replay chat.json"),
      one(memfold("wrap", "vim"), "memfold: wrap:", "claude, codex, opencode"),
      one(memfold("serve", "--port", "high"), "memfold: serve:", "high"),
      one(memfold("remember"), 'no command "remember"; memfold --help lists'),
    ])
  })

  it("a store that is not there, foreign, or read-only; a session that is not there", async () => {
    const path = file("ok.json", JSON.stringify(chat(3)))
    const notes = "just some notes, long enough to be no header of anything\n".repeat(40)
    const foreign = file("notes.txt", notes)
    const store = `sqlite:${join(folder, "small.db")}`
    await memfold("replay", path, "--store", store, "--session", "here")
    await Promise.all([
      one(memfold("sessions", "--store", "sqlite:absent.db"), "absent.db", "does not exist"),
      one(memfold("replay", path, "--store", `sqlite:${foreign}`), "not a SQLite database"),
      one(memfold("context", "elsewhere", "--store", store), '"elsewhere"', "here"),
      one(memfold("context", "here", "--store", store, "--at", "0"), "--at 0", "1 to 3"),
      one(memfold("context", "here", "--store", store, "--at", "4"), "--at 4", "1 to 3"),
    ])
    expect(existsSync(join(folder, "absent.db"))).toBe(false)
    expect(readFileSync(foreign, "utf8")).toBe(notes)
    chmodSync(join(folder, "small.db"), 0o444)
    await one(memfold("replay", path, "--store", store, "--session", "here"), "read-only")
    expect(await memfold("context", "here", "--store", store)).toMatchObject({ code: 0 })
  })

  it("a transcript that breaks off midway keeps what came before, and says so", async () => {
    const whole = chat(5).map((message) => JSON.stringify(message))
    const path = file("cut.jsonl", `${whole.join("\n")}\n{"role":"user","conte`)
    const store = `sqlite:${join(folder, "cut.db")}`
    const ran = await memfold("replay", path, "--store", store, "--json")
    expect(ran.code).toBe(2)
    expect(ran.err).toContain("cut.jsonl:6")
    expect(ran.err).toContain('the 5 messages before that place were appended to session "cut"')
    expect(lines((await memfold("events", "cut", "--store", store, "--json")).out)).toHaveLength(5)
    expect(await memfold("verify", "--store", store)).toMatchObject({ code: 0 })
  })
})
