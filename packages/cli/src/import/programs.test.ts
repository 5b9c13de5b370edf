/** Files as the older programs wrote them, good and bad. */
import { TokenCounter } from "@memfold/core"
import { Effect } from "effect"
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { database, messagesColumns, rollingColumns, summariesColumns } from "../../test/oldDatabases.js"
import { eventsOf } from "./events.js"
import { isConsolidated, programs, type Sources } from "./programs.js"

let folder = ""
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "memfold-programs-"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const file = (name: string, content: unknown): string => {
  const path = join(folder, name)
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content))
  return path
}

const tables = (name: string, given: Parameters<typeof database>[1]): string =>
  database(join(folder, name), given)

const read = (program: string, sources: Sources) => Effect.runPromise(programs.get(program)!(sources))

/** The session that would be made, how much of it is covered, and how many messages there are. */
const outcome = async (program: string, sources: Sources) => {
  const { session, state } = await read(program, sources)
  if (isConsolidated(state)) return [session, state.coveredTo, state.messages.length]
  const imported = eventsOf(state, { session, now: 0, counter: TokenCounter.estimating })
  return [session, imported.state.coveredTo, imported.state.total]
}

/** The one line that says what is wrong: with the file's name, and without a word of what was said. */
const wrong = async (program: string, sources: Sources): Promise<string> => {
  const error = await Effect.runPromise(Effect.flip(programs.get(program)!(sources)))
  expect(error.message.split("\n")).toHaveLength(1)
  expect(error.message).not.toContain("a secret")
  return error.message.replaceAll(`${folder}/`, "")
}

const chat = (count: number, extra: (index: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `message ${index}`,
    ...extra(index),
  }))

const withIds = (count: number) => chat(count).map((one, index) => ({ id: `m${index}`, ...one }))

const transcript = (name: string, messages: unknown) => ({ file: file(name, messages), format: "auto" })

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
    expect(await wrong("sliding-window", { file: latin })).toContain("not UTF-8")
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

describe("a store of rolling summaries", () => {
  const ids = (from: number, to: number) =>
    JSON.stringify(Array.from({ length: to - from }, (_, index) => `m${from + index}`))
  const summaries = (...rows: ReadonlyArray<ReadonlyArray<unknown>>) => ({ columns: rollingColumns, rows })
  const one = ["s1", "c", "so far", "active", 1_770_000_000_000, ids(0, 4)]
  const rows = (chat: string, count: number) =>
    withIds(count).map(({ id, role, content }, index) => [id, chat, role, content, 1_770_000_000_000 + index])

  it("has its messages in a table, in the order of their times", async () => {
    const old = tables("chat.db", {
      compressed_summaries: summaries(one),
      messages: { columns: messagesColumns, rows: rows("c", 8).toReversed() },
    })
    expect(await outcome("rolling", { file: old })).toEqual(["c", 4, 8])
    const { state } = await read("rolling", { file: old })
    expect(state.messages.map(({ time }) => time)).toEqual(rows("c", 8).map((row) => row[4]))
  })

  it("may name its columns otherwise", async () => {
    const old = tables("named.db", {
      compressed_summaries: {
        columns: "summaryId, conversationId, summary, status, messageIds",
        rows: [["s1", 7, "so far", "active", ids(0, 4)]],
      },
      messages: {
        columns: "message_id, conversation_id, role, body, timestamp, vector BLOB",
        rows: rows("7", 8).map((row) => [...row, Buffer.from([1, 2])]),
      },
    })
    expect(await outcome("rolling", { file: old })).toEqual(["7", 4, 8])
    const { state } = await read("rolling", { file: old })
    expect(state.messages[0]?.metadata).toEqual({ import: { message_id: "m0" } })
  })

  it("may have chats that have not been summarized yet", async () => {
    const old = tables("chats.db", {
      compressed_summaries: summaries(one),
      messages: { columns: messagesColumns, rows: [...rows("c", 8), ...rows("d", 3)] },
    })
    expect(await wrong("rolling", { file: old })).toContain("2 conversations; name one with --thread: c, d")
    expect(await outcome("rolling", { file: old, thread: "d" })).toEqual(["d", 0, 3])
  })

  it("takes its messages from a transcript with ids, where it has no table of them", async () => {
    const old = tables("lonely.db", { compressed_summaries: summaries(one) })
    expect(await wrong("rolling", { file: old })).toBe(
      'lonely.db: there is no table "messages"; give the messages with --messages',
    )
    const messages = transcript("ids.json", withIds(8))
    expect(await outcome("rolling", { file: old, messages })).toEqual(["c", 4, 8])
    const bare = transcript("bare.json", chat(8))
    expect(await wrong("rolling", { file: old, messages: bare })).toContain("no message has an id")
  })

  it("that cannot be read says which table, column or row", async () => {
    const of = (name: string, given: Parameters<typeof database>[1]) =>
      wrong("rolling", { file: tables(name, given) })
    const messages = { columns: messagesColumns, rows: rows("c", 8) }
    const row = (position: number, value: unknown) => ({
      compressed_summaries: summaries(one.with(position, value as string)),
      messages,
    })
    expect(await of("status.db", row(3, "asleep"))).toContain(
      'status.db: summary "s1": its status is not one of',
    )
    expect(await of("ids.db", row(5, "{}"))).toContain("message_ids is no JSON list")
    expect(await of("time.db", row(4, "soon"))).toContain("its time is none")
    expect(await of("nomessages.db", { ...row(0, "s"), messages: { columns: messagesColumns } })).toContain(
      "there are no messages",
    )
    expect(
      await of("nocolumn.db", {
        compressed_summaries: summaries(one),
        messages: { columns: "id, chat_id, role" },
      }),
    ).toBe('nocolumn.db: table "messages" has no column "content"; allowed: content, text, body')
    expect(await of("nostatus.db", { compressed_summaries: { columns: "id, chat_id, summary" } })).toContain(
      'no column "status"',
    )
    expect(
      await of("roles.db", {
        ...row(0, "s"),
        messages: { columns: messagesColumns, rows: [["m0", "c", "robot", "a secret", 1]] },
      }),
    ).toContain("roles.db: message 0 has an unknown role")
  })

  it("may be a JSON file, of one chat or of several", async () => {
    const summary = { id: "s1", summary: "so far", status: "active", message_ids: ["m0", "m1"] }
    const plain = file("plain.json", { messages: withIds(4), summaries: [summary] })
    expect(await outcome("rolling", { file: plain })).toEqual(["plain", 2, 4])
    expect(await wrong("rolling", { file: plain, thread: "c" })).toContain("leave --thread out")
    const two = file("two.json", {
      messages: [...withIds(4).map((one) => ({ ...one, chat_id: "c" })), { ...withIds(1)[0], chat_id: "d" }],
      summaries: [{ ...summary, chat_id: "c" }],
    })
    expect(await wrong("rolling", { file: two })).toContain("--thread: c, d")
    expect(await outcome("rolling", { file: two, thread: "c" })).toEqual(["c", 2, 4])
    const apart = file("apart.json", { summaries: [summary] })
    expect(await wrong("rolling", { file: apart })).toContain("no state of rolling summaries")
    const messages = transcript("apart-messages.json", withIds(4))
    expect(await outcome("rolling", { file: apart, messages })).toEqual(["apart", 2, 4])
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
