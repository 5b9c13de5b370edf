/** Files as the older programs wrote them, good and bad. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { summariesColumns } from "../../test/oldDatabases.js"
import { chat, oldFiles, outcome, read } from "../../test/oldFiles.js"
import type { Sources } from "./programs.js"

const { file, folder, tables, transcript, wrong } = oldFiles()

describe("a file of another kind", () => {
  it("is named, with what it is", async () => {
    const notes = file("notes.txt", "just some notes\n".repeat(100))
    const sqlite = tables("some.db", { other: { columns: "x" } })
    mkdirSync(join(folder, "sub"), { recursive: true })
    const latin = join(folder, "latin.json")
    writeFileSync(latin, Buffer.from('{"messages":["caf\xe9"]}', "latin1"))
    expect(await wrong("sliding-window", { file: "nowhere.json" })).toBe(
      "nowhere.json: there is no such file",
    )
    expect(await wrong("split-turn", { file: "nowhere.db" })).toBe("nowhere.db: there is no such file")
    expect(await wrong("rolling", { file: join(folder, "sub") })).toBe("sub: it is a folder")
    expect(await wrong("sliding-window", { file: latin })).toContain("neither UTF-8 nor UTF-16")
    expect(await wrong("sliding-window", { file: file("empty.json", "") })).toBe(
      "empty.json: the file is empty",
    )
    expect(await wrong("sliding-window", { file: notes })).toContain("notes.txt: not JSON")
    expect(await wrong("sliding-window", { file: sqlite })).toContain("--from split-turn or --from rolling")
    expect(await wrong("split-turn", { file: notes })).toBe("notes.txt: it is not a SQLite database")
    expect(await wrong("split-turn", { file: file("empty.db", "") })).toContain("not a SQLite database")
    expect(await wrong("split-turn", { file: sqlite })).toBe(
      'some.db: there is no table "summaries"; it has other',
    )
    expect(await wrong("rolling", { file: notes })).toContain("notes.txt: not JSON")
    expect(await wrong("rolling", { file: sqlite })).toContain('no table "compressed_summaries"')
    expect(await wrong("rolling", { file: file("list.json", []) })).toContain("no state of rolling summaries")
  })

  it("that is damaged says so", async () => {
    const damaged = tables("damaged.db", { summaries: { columns: summariesColumns } })
    writeFileSync(damaged, readFileSync(damaged).fill(7, 100))
    expect(await wrong("split-turn", { file: damaged })).toMatch(
      /^damaged\.db: it (is damaged|cannot be read)/,
    )
  })
})

describe("a state of a sliding window", () => {
  const said = [{ role: "user", content: "a secret" }]
  const state = (name: string, rest: object) => file(name, { messages: said, ...rest })

  it("that cannot be read says what is wrong and where", async () => {
    const of = (name: string, rest: object) => wrong("sliding-window", { file: state(name, rest) })
    expect(await of("none.json", {})).toContain("none.json: it has no last_consolidated")
    expect(await of("beyond.json", { last_consolidated: 2 })).toContain("is 2, and there are 1 messages")
    expect(await of("robot.json", { messages: [{ role: "robot", content: "a secret" }] })).toContain(
      "unknown role",
    )
    const cut = `${JSON.stringify({ _type: "metadata", last_consolidated: 0 })}\n{"role":"user","content":"a secr`
    expect(await wrong("sliding-window", { file: file("cut.jsonl", cut) })).toContain("cut.jsonl:2: not JSON")
  })

  it("takes the text of its summary from a file, and nothing else", async () => {
    const path = state("fine.json", { last_consolidated: 1 })
    const { state: read1 } = await read("sliding-window", {
      file: path,
      summary: file("MEMORY.md", "So far.\n"),
    })
    expect(read1).toMatchObject({ text: "So far.", coveredTo: 1 })
    const blank = file("blank.md", " \n")
    expect(await wrong("sliding-window", { file: path, summary: blank })).toBe(
      "blank.md: the summary has no text",
    )
    expect(await wrong("sliding-window", { file: path, summary: "gone.md" })).toContain("no such file")
    expect(await wrong("sliding-window", { file: path, thread: "t" })).toContain("--thread does not go with")
    const messages = transcript("unused.json", chat(2))
    expect(await wrong("sliding-window", { file: path, messages })).toContain("--messages does not go with")
    expect(await wrong("rolling", { file: path, summary: blank })).toContain("--summary does not go with")
  })
})

describe("a store of summaries with split turns", () => {
  const row = (id: string, thread: string, index: unknown) => [
    id,
    thread,
    "a secret",
    index,
    9,
    0,
    null,
    1,
    null,
  ]
  const store = (name: string, ...rows: ReadonlyArray<ReadonlyArray<unknown>>) =>
    tables(name, { summaries: { columns: summariesColumns, rows } })

  it("asks for the messages, which are not in it", async () => {
    const old = store("leon.db", row("s1", "t1", 4))
    expect(await wrong("split-turn", { file: old })).toContain("leon.db: the messages")
    expect(await wrong("split-turn", { file: old })).toContain("give their transcript with --messages")
    const messages = transcript("thread.json", chat(10))
    expect(await outcome("split-turn", { file: old, messages })).toEqual(["t1", 4, 10])
    const anthropic = {
      ...transcript("blocks.json", [{ role: "user", content: [{ type: "text", text: "Hi" }] }]),
      format: "anthropic",
    }
    // The summary of four messages does not fit a transcript with one; it is written anew when that is due.
    expect(await outcome("split-turn", { file: old, messages: anthropic })).toEqual(["t1", 0, 1])
    expect(
      await wrong("split-turn", { file: old, messages: { file: "gone.json", format: "auto" } }),
    ).toContain("gone.json")
    expect(await wrong("split-turn", { file: old, messages: { ...messages, format: "xml" } })).toContain(
      "xml",
    )
  })

  it("does not take a recorded prompt's size for one of its own", async () => {
    const said = [
      { role: "user", content: "Hi" },
      {
        id: "msg_1",
        type: "message",
        role: "assistant",
        content: [{ type: "text", text: "Hello" }],
        stop_reason: "end_turn",
        usage: { input_tokens: 9_000, output_tokens: 12 },
      },
    ]
    const old = store("usage.db", row("s1", "t1", 1))
    const { state } = await read("split-turn", { file: old, messages: transcript("usage.json", said) })
    expect(state.messages[1]?.usage).toEqual({ output: 12 })
  })

  it("has a thread, which has to be named where there are several", async () => {
    const old = store("threads.db", row("s1", "t1", 4), row("s2", "t2", 6))
    const messages = transcript("thread2.json", chat(10))
    const of = (rest: Partial<Sources>) => outcome("split-turn", { file: old, messages, ...rest })
    const not = (rest: Partial<Sources>) => wrong("split-turn", { file: old, messages, ...rest })
    expect(await of({ thread: "t2" })).toEqual(["t2", 6, 10])
    expect(await of({ session: "t1" })).toEqual(["t1", 4, 10])
    expect(await not({})).toContain("there are 2 conversations; name one with --thread: t1, t2")
    expect(await not({ session: "mine" })).toContain("--thread: t1, t2")
    expect(await not({ thread: "t3", session: "t1" })).toContain('no conversation "t3"; it has t1, t2')
  })

  it("that cannot be read says which table, column or row", async () => {
    const messages = transcript("thread3.json", chat(10))
    const of = (old: string) => wrong("split-turn", { file: old, messages })
    const columns = tables("columns.db", { summaries: { columns: "summary_id, thread_id, summary_text" } })
    expect(await of(columns)).toBe('columns.db: table "summaries" has no column "compact_up_to_index"')
    expect(await of(store("rows.db"))).toBe("rows.db: there is no conversation in it")
  })

  it("is not written to, even where it could be", async () => {
    const old = store("kept.db", row("s1", "t1", 4))
    const before = readFileSync(old)
    const messages = transcript("thread4.json", chat(10))
    for (const mode of [0o644, 0o444]) {
      chmodSync(old, mode)
      await read("split-turn", { file: old, messages })
      expect(readFileSync(old).equals(before)).toBe(true)
      expect(readdirSync(folder).filter((name) => name.startsWith("kept.db"))).toEqual(["kept.db"])
    }
  })
})

describe("the samples", () => {
  it.each([
    ["sliding-window", "old-sliding-window.jsonl", 12, 20],
    ["rolling", "old-rolling.json", 12, 18],
  ])("of %s are read", async (program, name, coveredTo, messages) => {
    const path = fileURLToPath(new URL(`../../samples/${name}`, import.meta.url))
    expect((await outcome(program, { file: path })).slice(1)).toEqual([coveredTo, messages])
  })
})
