/**
 * The command line as its users meet it: the built program, real files, exit codes, and what is on which stream.
 */
import { spawn } from "node:child_process"
import { chmodSync, closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { createMemory } from "../../memfold/src/index.js"
import { inFolder, lines, program, sample, type Ran } from "./program.js"

const { folder, memfold, fresh, file } = inFolder("cli")

const chat = (messages: number, extra: (index: number) => object = () => ({})) =>
  Array.from({ length: messages }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `message ${index} says a little something`,
    ...extra(index),
  }))

interface Database {
  exec(sql: string): void
  prepare(sql: string): { get(): unknown }
  close(): void
}

/** Uses a database behind the program's back. */
const withDatabase = <A>(path: string, use: (database: Database) => A): A => {
  const storePackage = createRequire(import.meta.url).resolve("@memfold/store-sqlite/package.json")
  const client = createRequire(storePackage).resolve("@effect/sql-sqlite-node")
  const Driver = createRequire(client)("better-sqlite3") as new (file: string) => Database
  const database = new Driver(path)
  try {
    return use(database)
  } finally {
    database.close()
  }
}

const tamper = (path: string, sql: string): void => withDatabase(path, (database) => database.exec(sql))

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

  it("takes settings in snake_case and camelCase, by the names of the reference designs", async () => {
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
    const camel = await turns("fullContextTurns=2", "cachedContextTurns=1")
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
    for (const part of ["Compressed: history [", "reason window", "supersedes", "summary    [0,", "saved"]) {
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
    expect(wrong.err).toMatch(/^Invalid subcommand for memfold/)
    expect(help.out + wrong.err).not.toContain("\u001B")
  })
})

describe("a process of its own ends by itself, and prints the same as one call of many:", () => {
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

describe("a store", () => {
  it("keeps what was replayed, shows it, and verifies clean", async () => {
    const store = `sqlite:${join(folder, "kept.db")}`
    const where = ["--store", store, "--session", "work"]
    const replayed = await memfold("replay", sample("coding-agent.jsonl"), ...where, "--json")
    const then = lines(replayed.out).find(({ type }) => type === "context")
    const look = async (...args: ReadonlyArray<string>) =>
      lines((await memfold(...args, "--store", store, "--json")).out)
    expect(await look("sessions")).toMatchObject([{ session: "work" }])
    expect(await look("context", "work")).toEqual([then])
    const events = await look("events", "work")
    expect(events.map(({ version }) => version)).toEqual(events.map((_, index) => index + 1))
    expect(events.filter(({ type }) => type === "MessageAppended")).toHaveLength(196)
    const [early] = await look("context", "work", "--at", "10")
    expect(early?.["layout"]).toMatchObject([
      { section: "pinned", from: 0, to: 1 },
      { section: "uncovered", from: 1, to: 6 },
      { section: "open", from: 6, to: 10, tokens: 0 },
    ])
    const anthropic = await memfold("context", "work", "--store", store, "--format", "anthropic")
    expect(Object.keys(JSON.parse(anthropic.out) as object)).toEqual(["system", "messages"])
    expect(await memfold("verify", "--store", store)).toMatchObject({ code: 0, err: "" })
    expect(await look("verify")).toMatchObject([{ type: "verified", findings: 0 }])
  })

  it("that was tampered with fails to verify: exit 1 with each finding", async () => {
    const path = join(folder, "tampered.db")
    await memfold("replay", file("t.json", JSON.stringify(chat(60))), "--store", `sqlite:${path}`)
    tamper(path, "DELETE FROM events WHERE version = 20; UPDATE events SET data = '{' WHERE version = 30")
    const { code, out, err } = await memfold("verify", "--store", `sqlite:${path}`, "--json")
    expect({ code, err }).toEqual({ code: 1, err: "" })
    expect(lines(out)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: "finding", rule: "contiguous", version: 21 }),
        expect.objectContaining({ type: "finding", rule: "decodable", version: 30 }),
      ]),
    )
  })

  it("with a session that cannot be read: it is a finding, and the others are gone through", async () => {
    const path = join(folder, "page.db")
    const at = (session: string) => ["--store", `sqlite:${path}`, "--session", session]
    const long = file("page.json", [{ role: "user", content: "z".repeat(20_000) }])
    await memfold("replay", file("page-short.json", chat(3)), ...at("a"))
    await memfold("replay", long, ...at("broken"))
    await memfold("replay", file("page-short.json", chat(3)), ...at("c"))
    const bytes = readFileSync(path)
    // A page of nothing but the long message goes on at the page that its first four bytes name.
    const pages = Array.from({ length: bytes.length / 4_096 }, (_, page) => page * 4_096)
    const next = pages.find((page) => bytes.subarray(page + 4, page + 4_096).every((byte) => byte === 0x7a))
    bytes.fill(0xff, next ?? bytes.length, (next ?? bytes.length) + 4)
    writeFileSync(path, bytes)

    const finding = {
      session: "broken",
      version: null,
      rule: "readable",
      detail: expect.stringMatching(/damaged/),
    }
    const verified = await memfold("verify", "--store", `sqlite:${path}`, "--json")
    expect(verified).toMatchObject({ code: 1, err: "" })
    const found = lines(verified.out) as ReadonlyArray<{ readonly rule?: string; readonly detail?: string }>
    const ofFile = found.filter(({ rule }) => rule === "integrity")
    expect(ofFile[0]?.detail).toMatch(/invalid page number/)
    expect(found).toEqual([
      { type: "finding", ...finding },
      ...ofFile,
      { type: "verified", sessions: 3, events: 7, findings: 1 + ofFile.length },
    ])
    const repaired = await memfold("repair", "--store", `sqlite:${path}`, "--json")
    expect(repaired).toMatchObject({ code: 1, err: "" })
    expect(lines(repaired.out)).toEqual([
      { type: "repaired", session: "a", mended: [], left: [] },
      { type: "repaired", session: "broken", mended: [], left: [finding] },
      { type: "repaired", session: "c", mended: [], left: [] },
      { type: "repair", sessions: 3, mended: 0, left: 1 },
    ])
    for (const command of ["verify", "repair"]) {
      const { code, out, err } = await memfold(command, "--store", `sqlite:${path}`)
      expect({ code, err }).toEqual({ code: 1, err: "" })
      expect(out).toMatch(/^(readable|left) +session "broken": the log cannot be read: .*damaged/)
    }
  })

  it("whose files are damaged beside its records is a finding", async () => {
    const path = join(folder, "index.db")
    await memfold("replay", file("index.json", chat(3)), "--store", `sqlite:${path}`)
    expect((await memfold("verify", "--store", `sqlite:${path}`)).code).toBe(0)
    // The last bytes of an index's page are an entry of it.
    const end =
      "SELECT rootpage * page_size AS end FROM sqlite_schema, pragma_page_size WHERE name = 'events_by_batch'"
    const place = withDatabase(path, (database) => database.prepare(end).get()) as { readonly end: number }
    const bytes = readFileSync(path)
    bytes[place.end - 1]! ^= 1
    writeFileSync(path, bytes)
    const { code, out } = await memfold("verify", "--store", `sqlite:${path}`, "--json")
    expect(code).toBe(1)
    expect(lines(out)[0]).toMatchObject({
      type: "finding",
      rule: "integrity",
      session: null,
    })
    expect((await memfold("verify", "--store", `sqlite:${path}`)).out).toContain("integrity  the store: ")
  })

  it("is searched by session and by owner, and a wrong index is found and dropped", async () => {
    const path = join(folder, "searched.db")
    const store = `sqlite:${path}`
    const memory = createMemory({ store })
    const talk = Array.from({ length: 40 }, (_, at) => ({
      role: "user" as const,
      content: `Small talk ${at}`,
    }))
    await memory.append("trip", [...talk, { role: "user", content: "The hotel in Graz is called Sonne." }], {
      owner: "ann",
      title: "Holidays",
    })
    await memory.append("shop", { role: "user", content: "Ship it to Graz." }, { owner: "ann" })
    await memory.append("other", { role: "user", content: "Graz is mine." }, { owner: "bob" })
    await memory.recall("trip", "graz")
    await memory.close()
    const where = ["--store", store]
    const owned = await memfold("recall", "Where in Graz?", ...where, "--owner", "ann")
    expect(owned).toMatchObject({ code: 0, err: "" })
    expect(owned.out).toContain("# Session trip: Holidays\n")
    expect(owned.out).toContain("[40] user: The hotel in Graz is called Sonne.\n")
    expect(owned.out).toContain("[0] user: Ship it to Graz.\n")
    expect(owned.out).not.toContain("mine")
    const one = lines((await memfold("recall", "graz", ...where, "--session", "shop", "--json")).out)
    expect(one).toMatchObject([
      { type: "recalled", session: "shop", index: 0, role: "user", text: "Ship it to Graz." },
      { type: "recall", messages: 1, unreadable: [] },
    ])
    expect((await memfold("recall", "giraffe", ...where, "--owner", "ann")).out).toBe("nothing was found\n")
    for (const wrong of [[], ["--owner", "ann", "--session", "shop"], ["--owner", "ann", "--tokens", "-1"]])
      expect(await memfold("recall", "graz", ...where, ...wrong)).toMatchObject({ code: 2, out: "" })

    tamper(path, "UPDATE full_text_buckets SET data = zeroblob(9)")
    const verified = await memfold("verify", ...where)
    expect(verified.code).toBe(1)
    expect(verified.out).toMatch(/^index {2}session "trip", event 42: .*memfold repair drops the index/)
    expect(await memfold("recall", "Where in Graz?", ...where, "--owner", "ann")).toEqual(owned)
    expect((await memfold("repair", ...where)).out).toContain("dropped the full-text index")
    expect((await memfold("verify", ...where)).code).toBe(0)
  })

  it("whose sessions cannot be listed is an error, not a finding", async () => {
    const path = join(folder, "list.db")
    await memfold("replay", file("list.json", chat(3)), "--store", `sqlite:${path}`)
    tamper(path, "ALTER TABLE sessions RENAME COLUMN name TO called")
    for (const command of ["verify", "repair"]) {
      const { code, out, err } = await memfold(command, "--store", `sqlite:${path}`)
      expect({ code, out }).toEqual({ code: 2, out: "" })
      expect(err).toMatch(/^memfold: [^\n]+\n$/)
    }
  })

  it("says how much is free, if any is, in a unit that shows it", async () => {
    const path = join(folder, "free.db")
    await memfold("replay", file("free.json", chat(3)), "--store", `sqlite:${path}`)
    const size = async () => (await memfold("store", "size", "--store", `sqlite:${path}`)).out.split("\n")[0]
    expect(await size()).not.toContain("free")
    tamper(path, "CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(20000)); DROP TABLE t")
    expect(await size()).toMatch(/; [1-9]\d\.\d KiB are free, and vacuum gives them back$/)
  })

  it("has every acknowledged message after kill -9, and verifies clean (L14)", async () => {
    const store = `sqlite:${join(folder, "killed.db")}`
    const long = file("long.json", JSON.stringify(chat(3_000)))
    const replay = ["replay", long, "--store", store, "--session", "k", "--summarizer", "echo", "--json"]
    const child = spawn(process.execPath, [program, ...replay], { stdio: ["ignore", "pipe", "ignore"] })
    let seen = ""
    child.stdout.on("data", (data: Buffer) => {
      seen += data.toString()
      if (seen.split("\n").length > 4) child.kill("SIGKILL")
    })
    await new Promise((resolve) => child.once("close", resolve))
    const acknowledged = lines(seen.slice(0, seen.lastIndexOf("\n"))).at(-1)?.["after"] as number
    expect(await memfold("verify", "--store", store)).toMatchObject({ code: 0 })
    const events = lines((await memfold("events", "k", "--store", store, "--json")).out)
    const texts = events
      .filter(({ type }) => type === "MessageAppended")
      .map(({ data }) => (data as { text: string }).text)
    expect(texts.length).toBeGreaterThan(acknowledged)
    expect(texts.length).toBeLessThan(3_000)
    texts.forEach((text, index) => expect(text).toContain(`message ${index} says`))
  })
})

describe("an id that would steer the terminal", () => {
  const id = "a\u001B[31m\nb\u0007\u007F\u009Bc"
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  const controls = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/

  it("is shown without its control characters, in text and in errors; JSON has it as it is", async () => {
    const path = join(folder, "steering.db")
    const store = ["--store", `sqlite:${path}`]
    await memfold("replay", file("steering.json", chat(60)), ...store, "--session", id)
    const shown = async (...args: ReadonlyArray<string>) => {
      const { out, err } = await memfold(...args, ...store)
      expect(out + err).not.toMatch(controls)
      return out + err
    }
    expect((await shown("sessions")).trimEnd().split("\n")).toHaveLength(3)
    expect(await shown("context", id)).toContain('Session "a [31m b c"')
    expect(await shown("context", `no ${id}`)).toMatch(
      /^memfold: there is no session "no a \[31m b c" in .*; it has: a \[31m b c\n$/,
    )
    await shown("summaries", id)
    expect(lines((await memfold("sessions", ...store, "--json")).out)).toMatchObject([{ session: id }])
    tamper(
      path,
      "INSERT INTO types VALUES (99, 'x' || char(27) || '[8m'); UPDATE events SET type = 99 WHERE version = 3; UPDATE events SET data = '{' WHERE version = 4",
    )
    expect(await shown("events", id)).toContain("x [8m")
    expect(await shown("verify")).toContain('session "a [31m b c", event 4: ')
    expect(await shown("repair")).toContain('session "a [31m b c", event 4: ')
  })

  it("or that is very long is cut in a table", async () => {
    const store = ["--store", `sqlite:${join(folder, "long-id.db")}`]
    const long = "x".repeat(300)
    await memfold("replay", file("long-id.json", chat(3)), ...store, "--session", long)
    expect((await memfold("sessions", ...store)).out).toMatch(/^x{59}…  /m)
    expect(lines((await memfold("sessions", ...store, "--json")).out)).toMatchObject([{ session: long }])
  })
})

describe.skipIf(!existsSync("/dev/full"))("standard output on a full disk", () => {
  it("is one line on standard error and exit code 2", async () => {
    const store = `sqlite:${join(folder, "full.db")}`
    await memfold("replay", file("full.json", chat(60)), "--store", store, "--session", "s")
    for (const args of [["events", "s"], ["export"], ["verify"]]) {
      const full = openSync("/dev/full", "w")
      const child = spawn(process.execPath, [program, ...args, "--store", store], {
        stdio: ["ignore", full, "pipe"],
      })
      closeSync(full)
      let err = ""
      child.stderr?.on("data", (data: Buffer) => {
        err += data.toString()
      })
      const code = await new Promise((resolve) => child.once("close", resolve))
      expect({ code, err }).toEqual({
        code: 2,
        err: "memfold: standard output cannot be written: no space left on device\n",
      })
    }
  })
})

describe("bad input is one line on standard error and exit code 2", () => {
  const one = async (running: Promise<Ran>, ...parts: ReadonlyArray<string>) => {
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
      one(memfold("remember"), "'replay', 'lab', 'sessions'"),
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
