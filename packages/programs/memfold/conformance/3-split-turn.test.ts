/** Reference design 3, the summary store and the split turn, row by row; the rows are in docs/conformance.md. */
import { Memory as Engine, Message, orphans, Prune, type Session, TokenCounter } from "@memfold/core"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { gpt } from "@memfold/tokens-gpt"
import { Effect, Logger, LogLevel } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { beforeAll, describe, expect, expectTypeOf, it, onTestFinished, vi } from "vitest"
import { ofTokens } from "@memfold/testing"
import { quarter } from "@memfold/testing/fakes"
import { start } from "@memfold/harness/children"
import { inFolder } from "@memfold/harness/program"
import { driverPath, lockProgram, openDriver } from "@memfold/harness/sqlite"
import * as Repair from "@memfold/cli/command/repair"
import * as Replay from "@memfold/cli/command/replay"
import * as Verify from "@memfold/cli/command/verify"
import {
  createMemory,
  type CreateOptions,
  SummaryMode,
  Keep,
  SplitTurn,
  Strategy,
  Trigger,
} from "../src/index.js"
import {
  change,
  damage,
  type Left,
  each,
  everyLeft,
  files,
  fillDisk,
  giveEvents,
  makeRoom,
  memfold,
  once,
  rows,
  type StoreUse,
  spied,
  takeEvents,
  textsOf,
  using,
} from "./stored.js"
import { commandLine, gather, held, until, watched } from "./talk.js"

const { copyOf, fresh } = files()
/** The command line where nothing rests on its being a new process. */
const { memfold: called } = inFolder("split-turn")

/** The instruction for turn prefixes, as the design has it. */
const instruction =
  "This summary covers the prefix of a split turn. Focus on the original request, " +
  "early progress, and any details needed to understand the retained suffix."

type Options = Partial<CreateOptions<"memfold">>

/** A memory on a file, with a window of 1,000 tokens: it compacts above 700 and splits turns above 600. */
const open = (file: string, options: Options = {}) =>
  createMemory({
    store: `sqlite:${file}`,
    format: "memfold",
    strategy: "split-turn",
    settings: { contextLimit: 1_000 },
    summarizer: "echo",
    tokenCounter: quarter,
    logger: "warning",
    ...options,
    compaction: { mode: "inline", ...options.compaction },
  })

type Memory = ReturnType<typeof open>

/** Opens a memory on a file, uses it, closes it. */
const on = <A>(file: string, use: (memory: Memory) => Promise<A>, options: Options = {}) =>
  using(open(file, options), use)

const user = (tokens: number) => ofTokens("user", tokens)
const assistant = (tokens: number) => ofTokens("assistant", tokens)
const system = (tokens: number) => ofTokens("system", tokens)
const answers = (count: number, tokens: number) => Array.from({ length: count }, () => assistant(tokens))

/** Exchanges of two messages that take 100 tokens together. */
const exchanges = (count: number) => Array.from({ length: count }, () => [user(40), assistant(60)]).flat()

/** A call of a tool, and what it answered. */
const work = (
  id: string,
  output: string,
  options: { readonly isError?: true; readonly name?: string } = {},
) => [
  Message.call([{ id, name: options.name ?? "build", arguments: "{}" }]),
  Message.result({ id, output, ...(options.isError === undefined ? {} : { isError: true }) }),
]

/** Two exchanges, and a turn of 610 tokens: more than what fits, and more than 60 % of the window by itself. */
const largeTurn = [...exchanges(2), user(50), ...answers(10, 56)]

/** What becomes of messages that come together: the summaries, and the context. */
const after = (messages: ReadonlyArray<Message.Message>, settings: object = {}, options: Options = {}) =>
  on(
    fresh(),
    async (memory) => {
      await memory.append("s", messages)
      return { summaries: await memory.summaries("s"), context: await memory.context("s") }
    },
    { settings: { contextLimit: 1_000, ...settings }, ...options },
  )

/** The parts of the first summary: `history [0,4)`. */
const partsOf = async (messages: ReadonlyArray<Message.Message>, settings: object = {}) => {
  const { summaries } = await after(messages, settings)
  return summaries[0]?.segments.map(({ kind, from, to }) => `${kind} [${from},${to})`) ?? []
}

/** Summarizes nothing, and clears what tools said. */
const masking = Strategy.make({
  name: "masking",
  when: Trigger.contextAbove(0),
  keep: Keep.lastMessages(2),
  summaryMode: SummaryMode.none,
  prune: [Prune.hardClear({ keep: Keep.lastMessages(2) })],
})

/** What memfold says on standard error, kept from the test's own output. */
const warnings = () => {
  const said: Array<string> = []
  const spy = vi.spyOn(console, "error").mockImplementation((...all) => void said.push(all.join(" ")))
  onTestFinished(() => spy.mockRestore())
  return said
}

/** A chat of 28 messages, compacted twice, and what its last context was. */
let chat = ""
let chatContext: Awaited<ReturnType<Memory["context"]>>
/** The large turn, split; and its context. */
let split = ""
let splitContext: Awaited<ReturnType<Memory["context"]>>

beforeAll(async () => {
  chat = fresh()
  chatContext = await on(chat, async (memory) => {
    await each(memory, "chat", exchanges(14))
    return memory.context("chat")
  })
  split = fresh()
  splitContext = await on(split, async (memory) => {
    await memory.append("chat", largeTurn)
    return memory.context("chat")
  })
})

/** The column of the table `summaries`, as SQLite declares it, and its values in the two conversations. */
const column = (name: string) => {
  const declared = rows(chat, "PRAGMA table_info(summaries)").find((one) => one["name"] === name)
  const valuesIn = (file: string) =>
    rows(file, "SELECT * FROM summaries ORDER BY version").map((row) => row[name])
  return {
    type: declared?.["type"],
    notNull: declared?.["notnull"] === 1,
    default: declared?.["dflt_value"],
    chat: valuesIn(chat),
    split: valuesIn(split),
  }
}

/** A chat whose summary cannot be saved at first: the first `failures` tries fail. */
const savedAfter = async (failures: number) => {
  const file = fresh()
  await on(file, (memory) => memory.append("other", user(10)))
  fillDisk(file)
  const { seen, store } = spied(file, (operation, { saves }) => {
    if (operation === "save" && saves === failures + 1) makeRoom(file)
  })
  return on(
    file,
    async (memory) => {
      await each(memory, "chat", exchanges(7))
      const appended = await memory.append("chat", user(40))
      return {
        file,
        seen,
        appended,
        context: await memory.context("chat"),
        summaries: await memory.summaries("chat"),
      }
    },
    { store },
  )
}

/** A chat that is opened anew; the first `failures` reads of its log fail. */
const readAfter = async <A>(failures: number, use: (memory: Memory, seen: StoreUse) => Promise<A>) => {
  const file = copyOf(chat)
  const { requests, summarizer } = watched()
  takeEvents(file)
  const { seen, store } = spied(file, (operation, { reads }) => {
    if (operation === "read" && reads === failures + 1) giveEvents(file)
  })
  const answer = await on(file, (memory) => use(memory, seen), { store, summarizer })
  return { answer, requests, seen, file }
}

/** A conversation whose stored summaries were damaged, opened anew and gone on with. */
const rebuilt = async (
  file = chat,
  {
    data = "'{'",
    left = "checksums",
    next = user(10),
    options = {},
  }: { data?: string; left?: Left; next?: Message.Message; options?: Options } = {},
) => {
  const copy = copyOf(file)
  damage(copy, data, left)
  const { requests, summarizer } = watched()
  const said = warnings()
  return on(
    copy,
    async (memory) => {
      const before = await memory.context("chat")
      await memory.append("chat", next)
      return {
        file: copy,
        before,
        requests,
        said,
        context: await memory.context("chat"),
        summaries: await memory.summaries("chat"),
        state: await memory.state("chat"),
      }
    },
    { summarizer, ...options },
  )
}

describe("the problem", () => {
  it("3.1 a restart loses no summary: no model is paid for it again", async () => {
    const { requests, summarizer } = watched()
    const { summary } = await on(chat, (memory) => memory.state("chat"), { summarizer })
    expect(summary?.segments.map(({ text }) => text)).toEqual(["[0,25)"])
    expect(requests).toEqual([])
  })

  it("3.2 a restart does not load the whole history into the context", async () => {
    const context = await on(chat, (memory) => memory.context("chat"))
    expect(context.messages).toHaveLength(4)
    expect(context).toEqual(chatContext)
  })

  it("3.3 summaries are stored in a place of their own", () => {
    const tables = rows(chat, "SELECT name FROM sqlite_master WHERE type = 'table'").map(({ name }) => name)
    expect(tables).toContain("summaries")
    expect(rows(chat, "SELECT summary_text FROM summaries")).toHaveLength(2)
  })
})

describe("decisions", () => {
  it("3.4 storage: summaries are apart from the messages, which stay as they were", async () => {
    const events = await on(chat, (memory) => gather(memory.events("chat")))
    const messages = events.flatMap(({ event }) => (event._tag === "MessageAppended" ? [event.message] : []))
    expect(messages).toEqual(exchanges(14))
  })

  it("3.5 the summary is a system message", () => {
    expect(chatContext.messages.map(({ role }) => role)).toEqual(["system", "assistant", "user", "assistant"])
  })

  it("3.6 a turn that is too large is split, and summarized in two layers", () => {
    expect(textsOf(splitContext)[0]).toContain("[0,4)")
    expect(textsOf(splitContext)[0]).toContain("[4,14)")
    expect(splitContext.messages).toHaveLength(2)
  })

  it("3.7 the threshold is 70 % of the window, in tokens, and a setting", async () => {
    expect((await after(exchanges(7))).summaries).toHaveLength(0)
    expect((await after([...exchanges(6), user(40), assistant(61)])).summaries).toHaveLength(1)
    expect((await after([user(300), assistant(300), user(101)])).summaries).toHaveLength(1)
    expect((await after(exchanges(5), { compactionThreshold: 0.5 })).summaries).toHaveLength(0)
    expect((await after(exchanges(6), { compactionThreshold: 0.5 })).summaries).toHaveLength(1)
  })

  it("3.8 recovery: what fails is tried again, what is damaged is rebuilt", async () => {
    expect((await savedAfter(1)).summaries.map(({ status }) => status)).toEqual(["active"])
    const { context } = await rebuilt()
    expect(textsOf(context)[0]).toBe("[Conversation Summary]\n[0,27)")
  })

  it("3.9 thread_id is required: nothing is kept without it", async () => {
    await on(fresh(), async (memory) => {
      for (const missing of [undefined, null, "", "  "]) {
        await expect(memory.append(missing as string, user(10))).rejects.toMatchObject({
          _tag: "InvalidInput",
        })
      }
      expect(await gather(memory.sessions())).toEqual([])
    })
  })
})

describe("the table", () => {
  const createdAt = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/

  it("3.10 summary_id TEXT PRIMARY KEY", async () => {
    const { type, notNull, ...values } = column("summary_id")
    expect({ type, notNull }).toEqual({ type: "TEXT", notNull: true })
    const summaries = await on(chat, (memory) => memory.summaries("chat"))
    expect(values.chat).toEqual(summaries.map(({ id }) => id))
    expect(new Set([...values.chat, ...values.split]).size).toBe(3)
    // Another row with the same id, in every other column different.
    const again = (id: string, version: number) =>
      `INSERT INTO summaries SELECT ${id}, thread_id, 'again', 1, 2, 0, NULL, 0, created_at, 'superseded', NULL, session,
         ${version}, time, tokens FROM summaries WHERE thread_id = 'chat' AND is_active = 1`
    const copy = copyOf(chat)
    for (const id of ["summary_id", `'${summaries[0]?.id}'`]) {
      expect(() => change(copy, again(id, 1_000))).toThrow(
        "UNIQUE constraint failed: summaries.session, summaries.summary_id",
      )
    }
    change(copy, again("'another'", 1_000))
    expect(() => change(copy, "UPDATE summaries SET summary_id = 'another'")).toThrow(
      "UNIQUE constraint failed",
    )
    // Whoever finds a row by its id finds one.
    const { id } = summaries.at(-1)!
    expect(rows(chat, "SELECT is_active FROM summaries WHERE summary_id = ?", id)).toEqual([{ is_active: 1 }])
    // Also where the session was forked.
    const forked = copyOf(chat)
    await on(forked, (memory) => memory.fork("chat", "fork"))
    expect(rows(forked, "SELECT thread_id FROM summaries WHERE summary_id = ?", id)).toEqual([
      { thread_id: "chat" },
    ])
    expect(rows(forked, "SELECT 1 FROM summaries WHERE thread_id = 'fork'")).toHaveLength(summaries.length)
  })

  it("3.11 thread_id TEXT NOT NULL", () => {
    expect(column("thread_id")).toMatchObject({ type: "TEXT", notNull: true, chat: ["chat", "chat"] })
  })

  it("3.12 summary_text TEXT NOT NULL", async () => {
    expect(column("summary_text")).toMatchObject({
      type: "TEXT",
      notNull: true,
      chat: ["[0,13)", "[0,25)"],
      split: ["[0,4)\n\n---\n\n**Turn Context (split turn):**\n\n[4,14)"],
    })
    // The history stays in it when the turn is split again, and the summary is superseded.
    const copy = copyOf(split)
    await on(copy, (memory) => memory.append("chat", answers(12, 56)))
    expect(rows(copy, "SELECT summary_text, is_active FROM summaries ORDER BY version")).toEqual([
      { summary_text: "[0,4)\n\n---\n\n**Turn Context (split turn):**\n\n[4,14)", is_active: 0 },
      { summary_text: "[0,4)\n\n---\n\n**Turn Context (split turn):**\n\n[4,24)", is_active: 1 },
    ])
  })

  it("3.13 compact_up_to_index INTEGER NOT NULL", () => {
    expect(column("compact_up_to_index")).toMatchObject({
      type: "INTEGER",
      notNull: true,
      chat: [13, 25],
      split: [14],
    })
  })

  it("3.14 compacted_at INTEGER NOT NULL", () => {
    expect(column("compacted_at")).toMatchObject({
      type: "INTEGER",
      notNull: true,
      chat: [15, 27],
      split: [15],
    })
  })

  it("3.15 is_split_turn BOOLEAN DEFAULT FALSE", () => {
    expect(column("is_split_turn")).toMatchObject({
      type: "BOOLEAN",
      default: "FALSE",
      chat: [0, 0],
      split: [1],
    })
  })

  it("3.16 split_turn_prefix TEXT", () => {
    expect(column("split_turn_prefix")).toMatchObject({
      type: "TEXT",
      notNull: false,
      chat: [null, null],
      split: ["[4,14)"],
    })
  })

  it("3.17 is_active BOOLEAN DEFAULT TRUE", () => {
    expect(column("is_active")).toMatchObject({ type: "BOOLEAN", default: "TRUE", chat: [0, 1], split: [1] })
  })

  it("3.18 created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP", async () => {
    const { type, default: given, chat: times } = column("created_at")
    expect({ type, given }).toEqual({ type: "TIMESTAMP", given: "CURRENT_TIMESTAMP" })
    const summaries = await on(chat, (memory) => memory.summaries("chat"))
    for (const [position, time] of times.entries()) {
      expect(time).toMatch(createdAt)
      const seconds = Math.floor((summaries[position]?.time ?? 0) / 1_000)
      expect(Date.parse(`${String(time).replace(" ", "T")}Z`)).toBe(seconds * 1_000)
    }
  })
})

describe("detecting a split turn", () => {
  it("3.19 the trigger: new content above 50 % of the window", async () => {
    const turn = (tokens: number) => [...exchanges(3), user(tokens - 450), ...answers(10, 45)]
    expect(await partsOf(turn(500), { splitMargin: 1 })).toEqual(["history [0,6)"])
    expect(await partsOf(turn(501), { splitMargin: 1 })).toEqual(["history [0,6)", "turn-prefix [6,16)"])
  })

  it("3.20 the current turn is cut in a prefix, which is summarized, and a suffix, which is kept", async () => {
    expect(splitContext.layout.map(({ section, from, to }) => [section, from, to])).toEqual([
      ["summary", 0, 14],
      ["uncovered", 14, 15],
    ])
    expect(splitContext.messages[1]?.parts).toEqual(largeTurn[14]?.parts)
    // The newest message is kept, even where all of the turn would fit the prefix, or it is all of the turn.
    const fitting = [...exchanges(4), user(40), ...answers(10, 35)]
    const parts = await partsOf(fitting, { splitBudget: 0.3, adaptiveSplit: true })
    expect(parts).toEqual(["history [0,8)", "turn-prefix [8,18)"])
    expect(await partsOf([...exchanges(2), user(650)])).toEqual(["history [0,4)"])
  })

  it("3.21 the result: a summary of the history and one of the turn's prefix", async () => {
    expect(await partsOf(largeTurn)).toEqual(["history [0,4)", "turn-prefix [4,14)"])
  })
})

describe("the life of a summary", () => {
  it("3.22 it is made when the context is above 70 %", async () => {
    await on(fresh(), async (memory) => {
      await each(memory, "s", exchanges(7))
      expect(await memory.summaries("s")).toEqual([])
      await memory.append("s", user(40))
      const events = await gather(memory.events("s", { fromVersion: 16 }))
      expect(events.map(({ event }) => event._tag)).toEqual(["CompactionStarted", "SummaryCommitted"])
      expect(events[0]?.event).toMatchObject({ reason: "threshold" })
    })
  })

  it("3.23 it is saved, and the one before it marked inactive", () => {
    expect(rows(chat, "SELECT is_active FROM summaries ORDER BY version")).toEqual([
      { is_active: 0 },
      { is_active: 1 },
    ])
  })

  it("3.24 a write that fails is tried again, up to three times", async () => {
    const { seen, summaries } = await savedAfter(3)
    expect(seen.saves).toBe(4)
    expect(summaries.map(({ status, text }) => [status, text])).toEqual([["active", "[0,13)"]])
  })

  it("3.25 after a restart it is read from the store", async () => {
    const [active] = rows(chat, "SELECT summary_id FROM summaries WHERE is_active = 1")
    const state = await on(chat, (memory) => memory.state("chat"))
    expect(state.summary?.id).toBe(active?.["summary_id"])
  })

  it("3.26 a read that fails is tried again, up to three times", async () => {
    const { answer, seen } = await readAfter(3, (memory) => memory.context("chat"))
    expect(seen.reads).toBe(4)
    expect(answer).toEqual(chatContext)
  })

  it("3.27 a damaged one is rebuilt from the messages", async () => {
    for (const left of everyLeft) {
      const { requests, summaries, file } = await rebuilt(chat, { left })
      expect(requests.map(({ from, to }) => [from, to])).toEqual([[0, 27]])
      expect(summaries.map(({ status, text }) => [status, text])).toEqual([
        ["invalid", ""],
        ["invalid", ""],
        ["active", "[0,27)"],
      ])
      expect(rows(file, "SELECT status FROM summaries ORDER BY version").map(({ status }) => status)).toEqual(
        ["invalid", "invalid", "active"],
      )
    }
  })
})

describe("phase 1: the summary store", () => {
  it("3.30 PRAGMA busy_timeout=30000", async () => {
    const file = fresh()
    await on(file, (memory) => memory.append("s", user(10)))
    const fromHere = createRequire(import.meta.url)
    const Driver = fromHere(driverPath) as new (file: string) => {
      exec: (sql: string) => void
      close: () => void
    }
    const other = new Driver(file)
    other.exec("BEGIN IMMEDIATE")
    await on(file, async (memory) => {
      await memory.state("s")
      let answered = false
      const appended = memory.append("s", user(10)).finally(() => (answered = true))
      // The append waits for the lock, and the process goes on meanwhile.
      for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve))
      expect(answered).toBe(false)
      other.exec("COMMIT")
      other.close()
      expect(await appended).toMatchObject({ from: 1, to: 2 })
    })
  })

  it("3.31 PRAGMA journal_mode=WAL", () => {
    expect(rows(chat, "PRAGMA journal_mode")).toEqual([{ journal_mode: "wal" }])
  })

  it("3.32 SummaryData: a summary is a typed record", async () => {
    const [record] = await on(split, (memory) => memory.summaries("chat"))
    expectTypeOf(record).toEqualTypeOf<Session.SummaryRecord | undefined>()
    expect(record).toEqual({
      id: expect.any(String),
      version: 17,
      status: "active",
      supersededBy: null,
      coveredTo: 14,
      total: 15,
      carried: 0,
      segments: [
        { kind: "history", from: 0, to: 4, text: "[0,4)" },
        { kind: "turn-prefix", from: 4, to: 14, text: "[4,14)" },
      ],
      origins: ["assistant", "assistant"],
      files: { read: [], modified: [] },
      wording: expect.objectContaining({ role: "system" }),
      text: "[0,4)\n\n---\n\n**Turn Context (split turn):**\n\n[4,14)",
      tokens: expect.any(Number),
      time: expect.any(Number),
    })
  })

  it("3.33 save_summary: the old one turns inactive and the new one active at once", () => {
    const commits = rows(
      chat,
      `SELECT type FROM log WHERE batch_id = (SELECT batch_id FROM log WHERE type = 'SummarySuperseded')
       ORDER BY version`,
    )
    expect(commits).toEqual([{ type: "SummaryCommitted" }, { type: "SummarySuperseded" }])
    expect(() => change(chat, "UPDATE summaries SET is_active = 1, status = 'active'")).toThrow("UNIQUE")
  })

  it("3.34 save_summary has the retries built in", async () => {
    const once = await savedAfter(1)
    expect(once.seen.saves).toBe(2)
    expect(once.summaries).toHaveLength(1)
    warnings()
    const never = await savedAfter(4)
    expect(never.seen.saves).toBe(4)
    expect(never.summaries).toHaveLength(0)
  })

  it("3.35 get_latest_summary: WHERE is_active=TRUE ORDER BY created_at DESC LIMIT 1", () => {
    const latest = "SELECT * FROM summaries WHERE is_active=TRUE ORDER BY created_at DESC LIMIT 1"
    expect(rows(chat, latest)).toMatchObject([{ thread_id: "chat", summary_text: "[0,25)" }])
  })

  it("3.36 get_latest_summary has the retries built in", async () => {
    const once = await readAfter(1, (memory) => memory.state("chat"))
    expect([once.seen.reads, once.answer.summary?.coveredTo]).toEqual([2, 25])
    const never = await readAfter(4, async (memory, seen) => {
      await expect(memory.state("chat")).rejects.toMatchObject({ _tag: "LogError", session: "chat" })
      return seen.reads
    })
    expect(never.answer).toBe(4)
  })

  it("3.37 get_latest_summary: None without a summary, and for a damaged one", async () => {
    await on(fresh(), async (memory) => {
      await memory.append("s", exchanges(2))
      expect((await memory.state("s")).summary).toBeNull()
    })
    for (const left of everyLeft) {
      const file = copyOf(chat)
      damage(file, "'{'", left)
      expect((await on(file, (memory) => memory.state("chat"))).summary).toBeNull()
    }
  })

  it("3.38 list_summaries: all of them, for audits", async () => {
    const summaries = await on(chat, (memory) => memory.summaries("chat"))
    expect(summaries.map(({ status, text }) => [status, text])).toEqual([
      ["superseded", "[0,13)"],
      ["active", "[0,25)"],
    ])
  })
})

describe("phase 2: the split turn", () => {
  /** The prompts that a model gets for some messages. */
  const promptsFor = async (messages: ReadonlyArray<Message.Message>) => {
    const prompts: Array<{ readonly system: string; readonly user: string }> = []
    const ask = async (prompt: { readonly system: string; readonly user: string }) =>
      `answer ${prompts.push(prompt)}`
    const { context } = await after(messages, {}, { summarizer: ask })
    return { prompts, context }
  }
  const said = (word: string, tokens: number) => `${word} `.padEnd(4 * (tokens - 4), "word")
  const talk = [
    Message.user(said("alpha", 100)),
    Message.assistant(said("beta", 100)),
    Message.user(said("gamma", 50)),
    ...answers(10, 56),
  ]

  it("3.39 new_content_tokens = total_tokens - summarizable_tokens", async () => {
    for (const history of [2, 5]) {
      const turn = [...exchanges(history), user(50), ...answers(10, 55)]
      expect(await partsOf(turn)).toEqual([`history [0,${2 * history})`])
    }
    // A system prompt stays as it is, and is part of the total.
    const turn = [...exchanges(2), user(50), ...answers(10, 55)]
    expect(await partsOf([system(10), ...turn])).toEqual(["history [0,5)", "turn-prefix [5,15)"])
  })

  it("3.40 max_history_tokens = context_limit * 0.5 * 1.2", async () => {
    const turn = (tokens: number) => [...exchanges(4), user(tokens - 1_100), ...answers(10, 110)]
    expect(await partsOf(turn(1_200), { contextLimit: 2_000 })).toEqual(["history [0,8)"])
    expect(await partsOf(turn(1_201), { contextLimit: 2_000 })).toEqual([
      "history [0,8)",
      "turn-prefix [8,18)",
    ])
  })

  it("3.41 a split when new_content_tokens > max_history_tokens", async () => {
    const turn = (tokens: number) => [...exchanges(2), user(tokens - 550), ...answers(10, 55)]
    expect(await partsOf(turn(600))).toEqual(["history [0,4)"])
    expect(await partsOf(turn(601))).toEqual(["history [0,4)", "turn-prefix [4,14)"])
  })

  it("3.42 detect_split_turn: whether, and which messages are the prefix", async () => {
    const started = async (file: string) => {
      const events = await on(file, (memory) => gather(memory.events("chat")))
      return events.flatMap(({ event }) => (event._tag === "CompactionStarted" ? [event.parts] : []))
    }
    expect(await started(split)).toEqual([
      [
        { kind: "history", from: 0, to: 4 },
        { kind: "turn-prefix", from: 4, to: 14 },
      ],
    ])
    expect((await started(chat)).flat().map(({ kind }) => kind)).toEqual(["history", "history"])
  })

  it("3.43 _extract_turn_prefix: cut at a border of tokens", async () => {
    // 50 and five times 100 are 550; the next 80 would be more than 600.
    const turn = [user(50), ...answers(5, 100), assistant(80), assistant(100)]
    expect(await partsOf(turn)).toEqual(["turn-prefix [0,6)"])
  })

  it("3.44 _adjust_boundary: no call is cut from its result", async () => {
    const calls = ["1", "2", "3", "4"].flatMap((id) => work(id, "word".repeat(180)))
    // The border of tokens is behind the fourth call: 50, three times 202, and its 14.
    expect(await partsOf([user(50), ...calls], { contextLimit: 1_150 })).toEqual(["turn-prefix [0,7)"])
  })

  it("3.45 compact_with_split_turn: a history summary with the standard instruction", async () => {
    const { prompts } = await promptsFor(talk)
    expect(prompts).toHaveLength(2)
    expect(prompts[0]?.system).not.toContain("split turn")
    expect(prompts[0]?.user).toContain("alpha")
    expect(prompts[0]?.user).not.toContain("gamma")
  })

  it("3.46 compact_with_split_turn: a summary of the prefix with the special instruction", async () => {
    const { prompts } = await promptsFor(talk)
    expect(prompts[1]?.system).toContain("Focus on the original request")
    expect(prompts[1]?.user).toContain("gamma")
    expect(prompts[1]?.user).not.toContain("alpha")
  })

  it("3.47 the two are joined as {history}\\n\\n---\\n\\n**Turn Context (split turn):**\\n\\n{prefix}", async () => {
    const { context } = await promptsFor(talk)
    expect(textsOf(context)[0]).toBe(
      "[Conversation Summary]\nanswer 1\n\n---\n\n**Turn Context (split turn):**\n\nanswer 2",
    )
    // Without any history there is nothing to join it to.
    const alone = await promptsFor([user(50), ...answers(12, 56)])
    expect(textsOf(alone.context)[0]).toBe(
      "[Conversation Summary]\n**Turn Context (split turn):**\n\nanswer 1",
    )
  })

  it("3.48 should_compact takes a threshold, 0.7 by default", async () => {
    expect(SplitTurn.defaults.compactionThreshold).toBe(0.7)
    expect((await after(exchanges(6), { threshold: 0.5 })).summaries).toHaveLength(1)
  })

  it("3.49 the instruction for turn prefixes, word for word", async () => {
    const { prompts } = await promptsFor(talk)
    expect(prompts.map(({ system }) => system.includes(instruction))).toEqual([false, true])
  })
})

describe("phase 3: the summary store in use", () => {
  it("3.50 __init__(db_path, checkpointer): one store is both", async () => {
    const file = fresh()
    await using(createMemory({ store: `sqlite:${file}` }), (memory) =>
      memory.append("s", { role: "user", content: "Hello" }),
    )
    expect(rows(file, "SELECT type FROM log")).toEqual([{ type: "MessageAppended" }])
    expect(rows(file, "SELECT count(*) AS n FROM summaries")).toEqual([{ n: 0 }])
  })

  it("3.51 the summary store is there once the file is opened", async () => {
    const file = fresh()
    await on(file, (memory) => gather(memory.sessions()))
    expect(existsSync(file)).toBe(true)
    expect(rows(file, "SELECT * FROM summaries")).toEqual([])
  })

  it("3.52 what a rebuild needs is kept: the messages that a summary covers", async () => {
    const state = await on(chat, (memory) => memory.state("chat"))
    expect(state.coveredTo).toBe(25)
    const kept = rows(chat, "SELECT count(*) AS n FROM log WHERE type = 'MessageAppended'")
    expect(kept).toEqual([{ n: 28 }])
  })

  it("3.53 _compaction_threshold is 0.7 by default", async () => {
    // A text counts as many tokens as it says, and a message four more.
    const saying = { name: "saying", count: (text: string) => Number(text) || 0 }
    const found = (...tokens: ReadonlyArray<number>) =>
      after(
        tokens.map((count) => Message.user(String(count - 4))),
        {},
        { settings: {}, tokenCounter: saying },
      )
    const { contextLimit } = SplitTurn.defaults
    expect(contextLimit).toBe(200_000)
    expect((await found(70_000, 70_000)).summaries).toHaveLength(0)
    expect((await found(70_000, 70_001)).summaries).toHaveLength(1)
  })

  it("3.54 a summary is restored when a model is to be called and none is at hand", async () => {
    await on(chat, async (memory) => {
      expect(textsOf(await memory.context("chat"))[0]).toBe("[Conversation Summary]\n[0,25)")
    })
  })

  it("3.55 thread_id comes with the request", async () => {
    const file = copyOf(chat)
    await on(file, async (memory) => {
      await memory.append("other", largeTurn)
      expect(textsOf(await memory.context("chat"))[0]).toBe("[Conversation Summary]\n[0,25)")
      expect(textsOf(await memory.context("other"))[0]).toContain("[4,14)")
    })
  })

  it("3.56 without thread_id: an error, and no fallback", async () => {
    await on(fresh(), async (memory) => {
      await expect(memory.context(undefined as unknown as string)).rejects.toMatchObject({
        _tag: "InvalidInput",
        message: "A session id is required: a text that is not empty",
      })
    })
  })

  it("3.57 restoring asks the store, with its retries", async () => {
    const { answer, seen } = await readAfter(1, (memory) => memory.context("chat"))
    expect(seen.reads).toBe(2)
    expect(textsOf(answer)[0]).toBe("[Conversation Summary]\n[0,25)")
  })

  it("3.58 restoring, no summary: the first run, and nothing is done", async () => {
    const file = fresh()
    await on(file, (memory) => memory.append("s", exchanges(3)))
    const { requests, summarizer } = watched()
    const context = await on(file, (memory) => memory.context("s"), { summarizer })
    expect(context.messages).toEqual(exchanges(3))
    expect(requests).toEqual([])
    expect(rows(file, "SELECT DISTINCT type FROM log")).toEqual([{ type: "MessageAppended" }])
  })

  it("3.59 restoring, damaged: the summary is rebuilt", async () => {
    for (const left of everyLeft) {
      const { before, context, requests } = await rebuilt(chat, { left })
      expect(before.messages).toHaveLength(28)
      expect(requests).toHaveLength(1)
      expect(textsOf(context)[0]).toBe("[Conversation Summary]\n[0,27)")
    }
  })

  it("3.60 restoring: what was read is checked, and rebuilt when it is wrong", async () => {
    const wrong = [
      // It leaves messages out.
      "json_set(data, '$.segments[0].from', 3)",
      // It ends elsewhere than it says.
      "json_set(data, '$.coveredTo', 12)",
      // It covers more than there is.
      "json_set(data, '$.coveredTo', 99, '$.segments[0].to', 99)",
      // It says nothing.
      "json_set(data, '$.segments[0].text', '')",
    ]
    for (const data of wrong) {
      // Where the checksums are gone, too, what the data say is found to be wrong.
      for (const left of everyLeft) {
        const { context, summaries } = await rebuilt(chat, { data, left })
        expect(summaries.map(({ status }) => status)).toEqual(["invalid", "invalid", "active"])
        expect(textsOf(context)[0]).toBe("[Conversation Summary]\n[0,27)")
      }
    }
  })

  it("3.61 restoring: a summary that is right is kept at hand", async () => {
    const { seen, store } = spied(chat)
    await on(
      chat,
      async (memory) => {
        await memory.context("chat")
        const { records, heads } = seen
        expect(await memory.context("chat")).toEqual(chatContext)
        // The newest position alone: whether there is anything new.
        expect([seen.records - records, seen.heads - heads]).toEqual([0, 1])
      },
      { store },
    )
  })

  it("3.62 rebuilding: the history of this thread is loaded, and of no other", async () => {
    const file = copyOf(chat)
    await on(file, (memory) => memory.append("other", largeTurn))
    damage(file, "CASE session WHEN 1 THEN '{' ELSE data END")
    const { requests, summarizer } = watched()
    warnings()
    await on(file, (memory) => memory.append("chat", user(10)), { summarizer })
    expect(requests.map(({ session }) => session)).toEqual(["chat"])
  })

  it("3.63 rebuilding: the messages are taken from there, those the summary covered as well", async () => {
    for (const left of everyLeft) {
      const { requests } = await rebuilt(chat, { left })
      expect(requests[0]?.messages).toEqual(exchanges(14).slice(0, 27))
      expect(requests[0]?.previous).toBeUndefined()
    }
  })

  it("3.64 rebuilding: not unless should_compact says so", async () => {
    const { context, requests, summaries } = await rebuilt(chat, {
      options: { settings: { contextLimit: 10_000 } },
    })
    expect(requests).toEqual([])
    expect(summaries.map(({ status }) => status)).toEqual(["invalid", "invalid"])
    expect(context.messages).toHaveLength(29)
  })

  it("3.65 rebuilding: all of the compaction, the split turn included", async () => {
    const { summaries } = await rebuilt(split, { next: assistant(10) })
    expect(summaries.at(-1)?.segments).toEqual([
      { kind: "history", from: 0, to: 4, text: "[0,4)" },
      { kind: "turn-prefix", from: 4, to: 14, text: "[4,14)" },
    ])
  })

  it("3.66 rebuilding: the new summary is saved", async () => {
    const { file } = await rebuilt()
    const saved = rows(file, "SELECT summary_text, is_active FROM summaries ORDER BY version")
    expect(saved.at(-1)).toEqual({ summary_text: "[0,27)", is_active: 1 })
    expect(saved.map((row) => row["is_active"])).toEqual([0, 0, 1])
    const { requests, summarizer } = watched()
    await on(file, (memory) => memory.append("chat", assistant(10)), { summarizer })
    expect(requests).toEqual([])
  })

  it("3.67 rebuilding: the new summary is used from then on", async () => {
    const { context, state } = await rebuilt()
    expect(state.summary?.coveredTo).toBe(27)
    expect(context.layout.map(({ section, from, to }) => [section, from, to])).toEqual([
      ["summary", 0, 27],
      ["uncovered", 27, 28],
      ["current", 28, 29],
    ])
  })

  it("3.68 compacting: a split turn takes its prefix out of what is kept", async () => {
    const state = await on(split, (memory) => memory.state("chat"))
    expect(state.uncovered.slice().map(({ index }) => index)).toEqual([14])
  })

  it("3.69 compacting: saved with retries; after three, the error is logged and all goes on", async () => {
    const said = warnings()
    const { appended, context, seen } = await savedAfter(4)
    expect(seen.saves).toBe(4)
    expect(appended).toMatchObject({ from: 14, to: 15 })
    expect(context.messages).toHaveLength(15)
    expect(said.join("\n")).toContain("database or disk is full")
  })
})

describe("phase 3: the metadata of the first message kept", () => {
  const marks = ({ messages }: typeof chatContext) => messages.map(({ metadata }) => metadata?.["memfold"])
  const mark = (context: typeof chatContext) => marks(context)[1] as Record<string, unknown>

  it("3.70 leon_metadata is on the first message kept, and on no other", () => {
    expect(marks(chatContext).map((one) => one !== undefined)).toEqual([false, true, false, false])
    expect(marks(splitContext).map((one) => one !== undefined)).toEqual([false, true])
  })

  it("3.71 compression_triggered: True", async () => {
    expect(mark(chatContext)["compressionTriggered"]).toBe(true)
    const { context } = await after(exchanges(3))
    expect(marks(context)).toEqual(Array.from({ length: 6 }, () => undefined))
  })

  it("3.72 summary_id", () => {
    const [active] = rows(chat, "SELECT summary_id FROM summaries WHERE is_active = 1")
    expect(mark(chatContext)["summaryId"]).toBe(active?.["summary_id"])
  })

  it("3.73 compact_up_to_index", () => {
    expect([mark(chatContext)["compactUpToIndex"], mark(splitContext)["compactUpToIndex"]]).toEqual([25, 14])
  })

  it("3.74 compacted_at: len(messages)", async () => {
    expect([mark(chatContext)["compactedAt"], mark(splitContext)["compactedAt"]]).toEqual([27, 15])
    // What is pruned later on is no compaction of messages.
    const later = await on(copyOf(chat), async (memory) => {
      await memory.append("chat", [user(10), ...work("1", "word".repeat(200)), assistant(10), assistant(10)])
      await memory.compact("chat", { which: "due", strategy: masking })
      return memory.context("chat")
    })
    expect(later.messages.some(({ metadata }) => JSON.stringify(metadata)?.includes("pruned"))).toBe(true)
    expect(mark(later)["compactedAt"]).toBe(27)
  })

  it("3.75 is_split_turn", () => {
    expect([mark(chatContext)["isSplitTurn"], mark(splitContext)["isSplitTurn"]]).toEqual([false, true])
  })

  it("3.76 compacted_time", () => {
    const [active] = rows(chat, "SELECT time FROM summaries WHERE is_active = 1")
    expect(mark(chatContext)["compactedTime"]).toBe(active?.["time"])
  })

  it("3.77 the context is [SystemMessage(summary)] + messages[compact_up_to_index:]", () => {
    const [summary, ...kept] = chatContext.messages
    expect(summary?.role).toBe("system")
    expect(kept.map(({ role, parts }) => ({ role, parts }))).toEqual(exchanges(14).slice(25))
  })

  it("3.78 its format is [Conversation Summary]\\n{summary_text}", () => {
    expect(textsOf(chatContext)[0]).toBe("[Conversation Summary]\n[0,25)")
  })
})

describe("phase 4: configuration", () => {
  it("3.80 db_path, checkpointer and compaction_threshold=0.7 are what a memory is made with", async () => {
    const file = fresh()
    const compacted = (compaction_threshold: number, messages: ReadonlyArray<Message.Message>) =>
      on(
        file,
        async (memory) => {
          await memory.append(`at ${compaction_threshold}`, messages)
          return (await memory.summaries(`at ${compaction_threshold}`)).length
        },
        { settings: { context_limit: 1_000, compaction_threshold } },
      )
    expect(await compacted(0.7, exchanges(8))).toBe(1)
    expect(await compacted(0.9, exchanges(8))).toBe(0)
  })
})

describe("verification 1: unit tests", () => {
  it("3.82 a summary that was saved is the latest one", async () => {
    const { summaries, context } = await after(exchanges(8))
    expect(summaries.map(({ text }) => text)).toEqual(["[0,14)"])
    expect(textsOf(context)[0]).toBe("[Conversation Summary]\n[0,14)")
  })

  it("3.83 of several summaries the newest alone is active", async () => {
    const statuses = await on(fresh(), async (memory) => {
      await each(memory, "s", exchanges(30))
      return (await memory.summaries("s")).map(({ status }) => status)
    })
    expect(statuses.length).toBeGreaterThan(3)
    expect(statuses).toEqual([...statuses.slice(1).map(() => "superseded"), "active"])
  })

  it("3.84 the summary of a split turn is stored as one", () => {
    expect(rows(split, "SELECT is_split_turn, split_turn_prefix FROM summaries")).toEqual([
      { is_split_turn: 1, split_turn_prefix: "[4,14)" },
    ])
  })
})

describe("verification 2: sixty messages and a restart", () => {
  let file = ""
  let before: typeof chatContext

  beforeAll(async () => {
    file = fresh()
    before = await using(
      createMemory({
        store: `sqlite:${file}`,
        format: "memfold",
        strategy: "split-turn",
        settings: { contextLimit: 1_000 },
        compaction: { mode: "inline" },
      }),
      async (memory) => {
        for (let index = 0; index < 60; index++) {
          const text = `Message ${index} is about order KX-${1_000 + index}, which was sent to street ${index}.`
          await memory.append("s", index % 2 === 0 ? Message.user(text) : Message.assistant(text))
        }
        return memory.context("s")
      },
    )
  })

  it("3.86 phase 1: sixty messages bring about a compaction", () => {
    expect(textsOf(before)[0]).toMatch(/^\[Conversation Summary\]\n/)
    expect(before.messages.length).toBeLessThan(60)
  })

  it("3.87 phase 2: after a restart the summary is back", async () => {
    const { requests, summarizer } = watched()
    expect(await on(file, (memory) => memory.context("s"), { summarizer })).toEqual(before)
    expect(requests).toEqual([])
  })

  it("3.88 phase 3: the store has it", () => {
    const [active] = rows(file, "SELECT summary_text FROM summaries WHERE is_active = 1")
    expect(textsOf(before)[0]).toBe(`[Conversation Summary]\n${String(active?.["summary_text"])}`)
  })

  it("3.89 the log says that a summary was restored", async () => {
    const said: Array<unknown> = []
    const listening = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message }) => void said.push(message)),
    )
    await Engine.make({ strategy: SplitTurn() }).pipe(
      Effect.flatMap((memory) => memory.context("s")),
      Effect.provide([SqliteEventLog.layer({ filename: file }), ExtractiveSummarizer.layer()]),
      Logger.withMinimumLogLevel(LogLevel.Info),
      Effect.provide(listening),
      Effect.scoped,
      Effect.runPromise,
    )
    expect(said).toEqual([["a summary was restored"]])
  })
})

describe("verification 3: a huge message", () => {
  /** As the design counts: two characters are a token. */
  const half = { name: "half", count: (text: string) => Math.ceil(text.length / 2) }
  const huge = Message.user("x".repeat(50_000))
  let file = ""

  beforeAll(async () => {
    file = fresh()
    await on(
      file,
      (memory) =>
        each(memory, "s", [
          Message.user("Hello, can you read something for me?"),
          Message.assistant("Of course, please send it to me."),
          huge,
          Message.assistant("I have read all of it."),
        ]),
      { settings: { contextLimit: 32_000 }, tokenCounter: half },
    )
  })

  it("3.90 50k characters are about 25k tokens, and compacted in a window of 32k", async () => {
    expect(half.count("x".repeat(50_000))).toBe(25_000)
    // The default counter says about the same, so that this message is compacted in such a window without another one.
    const estimated = TokenCounter.estimating.count("x".repeat(50_000))
    expect(estimated / 25_000).toBeGreaterThanOrEqual(1)
    expect(estimated / 25_000).toBeLessThan(1.1)
    const text = await using(
      createMemory({
        store: "memory:",
        format: "memfold",
        strategy: "split-turn",
        summarizer: "echo",
        compaction: { mode: "inline" },
        settings: { contextLimit: 32_000 },
      }),
      async (memory) => {
        await memory.append("s", [huge, Message.assistant("Read.")])
        return textsOf(await memory.context("s"))
      },
    )
    expect(text).toEqual(["[Conversation Summary]\n**Turn Context (split turn):**\n\n[0,1)", "Read."])
    const { context } = await after(
      [huge, Message.assistant("Read.")],
      { contextLimit: 32_000 },
      { tokenCounter: half },
    )
    expect(context.tokens).toBeLessThan(100)
  })

  it("3.91 the store says is_split_turn=True", () => {
    expect(rows(file, "SELECT is_split_turn FROM summaries WHERE is_active=TRUE")).toEqual([
      { is_split_turn: 1 },
    ])
  })

  it("3.92 the summary has two layers", async () => {
    const context = await on(file, (memory) => memory.context("s"))
    expect(textsOf(context)).toEqual([
      "[Conversation Summary]\n[0,2)\n\n---\n\n**Turn Context (split turn):**\n\n[2,3)",
      "I have read all of it.",
    ])
  })
})

describe("verification 4: a rebuild", () => {
  it("3.93 a summary, damaged by hand in the database, is rebuilt after the restart", async () => {
    // Cut off, and in a way that can still be read: another word in the text of the summary, as a flipped bit leaves it.
    const [cut, flipped] = ["substr(data, 1, 40)", "replace(data, '[0,25)', '[0,24)')"]
    const kinds = [
      ...everyLeft.map((left) => [cut, left] as const),
      // That it was written otherwise, only its checksum says.
      ...(["all", "checksums"] as const).map((left) => [flipped, left] as const),
    ]
    for (const [data, left] of kinds) {
      const { before, context, requests, state, summaries } = await rebuilt(chat, { data, left })
      expect(textsOf(before)[0]).not.toMatch(/\[0,2[45]\)/)
      expect(requests).toHaveLength(1)
      expect(textsOf(context)[0]).toBe("[Conversation Summary]\n[0,27)")
      expect(state.damaged).toEqual([])
      expect(summaries.at(-1)).toMatchObject({ status: "active", coveredTo: 27 })
    }
  })

  it("3.94 the log says that it is rebuilt", async () => {
    // Also where nobody has asked for a log.
    for (const options of [{}, { logger: "error" as const }]) {
      const { said } = await rebuilt(chat, { options })
      expect(said.join("\n")).toContain("a damaged summary was invalidated; it is rebuilt from the log")
    }
  })
})

describe("verification 5: the database", () => {
  it("3.95 the query for the last five summaries", async () => {
    const [file, transcript] = [fresh(), fresh("json")]
    // A message a minute.
    const messages = Array.from({ length: 60 }, (_, minute) => ({
      role: minute % 2 === 0 ? "user" : "assistant",
      content: `message ${minute} ${"says a few words ".repeat(20)}`,
      time: Date.UTC(2026, 0, 31, 12, minute),
    }))
    writeFileSync(transcript, JSON.stringify(messages))
    const options = ["--strategy", "split-turn", "--set", "context_limit=1000", "--summarizer", "echo"]
    const where = ["--store", `sqlite:${file}`, "--session", "chat"]
    await commandLine(Replay.command, ...options, ...where, transcript)

    const found = rows(
      file,
      "SELECT summary_id, thread_id, is_split_turn, is_active, created_at FROM summaries ORDER BY created_at DESC LIMIT 5;",
    )
    const summaries = await on(file, (memory) => memory.summaries("chat"))
    expect(summaries.length).toBeGreaterThan(5)
    const newestFirst = summaries.slice(-5).toReversed()
    expect(found).toEqual(
      newestFirst.map(({ id, total, status }) => ({
        summary_id: id,
        thread_id: "chat",
        is_split_turn: 0,
        is_active: status === "active" ? 1 : 0,
        created_at: `2026-01-31 12:${total - 1}:00`,
      })),
    )
  })

  it("3.96 each thread has one summary with is_active=1", async () => {
    const file = fresh()
    await on(file, async (memory) => {
      for (const session of ["one", "two", "three"]) await each(memory, session, exchanges(20))
    })
    expect(
      rows(file, "SELECT thread_id, sum(is_active) AS active FROM summaries GROUP BY thread_id ORDER BY 1"),
    ).toEqual([
      { thread_id: "one", active: 1 },
      { thread_id: "three", active: 1 },
      { thread_id: "two", active: 1 },
    ])
  })
})

describe("verification 6: the program itself", () => {
  const store = once(fresh)
  const where = () => ["--store", `sqlite:${store()}`, "--session", "work"]
  const limited = ["--strategy", "split-turn", "--set", "context_limit=1400"]
  const transcript = (from: number, count: number) => {
    const file = fresh("json")
    const messages = Array.from({ length: count }, (_, position) => ({
      role: (from + position) % 2 === 0 ? "user" : "assistant",
      content: `message ${from + position} is about order KX-${1_000 + from + position} and its way to the customer`,
    }))
    writeFileSync(file, JSON.stringify(messages))
    return file
  }
  const sent = once(() => memfold("replay", transcript(0, 90), ...where(), ...limited))
  const lookedAt = async (...args: ReadonlyArray<string>) => {
    const { out } = await memfold("context", "work", "--store", `sqlite:${store()}`, "--json", ...args)
    return (JSON.parse(out) as { readonly messages: ReadonlyArray<{ readonly content: string }> }).messages
  }

  it("3.97 many messages sent bring about a compaction", async () => {
    const { code, out } = await sent()
    expect(code).toBe(0)
    expect(out).toContain("reason threshold")
  })

  it("3.98 started again and gone on with: the summary is back", async () => {
    await sent()
    const before = await lookedAt()
    expect(before[0]?.content).toMatch(/^\[Conversation Summary\]\n/)
    expect(before.length).toBeLessThan(90)
    const { code } = await memfold("replay", transcript(90, 2), ...where(), ...limited)
    expect(code).toBe(0)
    const after = await lookedAt()
    expect(after.slice(0, before.length)).toEqual(before)
    expect(after.slice(before.length).map(({ content }) => content.slice(0, 10))).toEqual([
      "message 90",
      "message 91",
    ])
  })

  it("3.99 time travel shows the [Conversation Summary] message as it was", async () => {
    await sent()
    const [first] = rows(store(), "SELECT version FROM log WHERE type = 'SummaryCommitted' ORDER BY version")
    const seq = Number(first?.["version"])
    const early = await lookedAt("--at", String(seq - 2))
    expect(early[0]?.content).toBe("message 0 is about order KX-1000 and its way to the customer")
    const [summary] = await lookedAt("--at", String(seq))
    const [saved] = rows(store(), "SELECT summary_text FROM summaries ORDER BY version LIMIT 1")
    expect(summary?.content).toBe(`[Conversation Summary]\n${String(saved?.["summary_text"])}`)
  })
})

describe("edge case 1: several compactions", () => {
  it("3.100 the second one marks the first summary is_active=FALSE", () => {
    expect(rows(chat, "SELECT summary_text FROM summaries WHERE is_active = FALSE")).toEqual([
      { summary_text: "[0,13)" },
    ])
  })

  it("3.101 only the newest summary is used; the older ones stay for audits", async () => {
    expect(textsOf(chatContext).filter((text) => text.includes("[0,"))).toEqual([
      "[Conversation Summary]\n[0,25)",
    ])
    expect(await on(chat, (memory) => memory.summaries("chat"))).toHaveLength(2)
  })
})

describe("edge case 2: the border of a split turn", () => {
  it("3.102 never lies between a call and its result", async () => {
    for (let size = 20; size <= 200; size += 20) {
      const calls = Array.from({ length: Math.ceil(900 / size) }, (_, id) =>
        work(String(id), "word".repeat(size)),
      )
      const { context } = await after([user(50), ...calls.flat()])
      const [, first] = context.messages
      expect(context.layout[0]?.section).toBe("summary")
      expect(Message.calls(first ?? user(10))).toHaveLength(1)
      expect(orphans(context.messages)).toEqual([])
    }
  })
})

describe("edge case 3: many writers", () => {
  it("3.103 WAL, a busy timeout and transactions: none gets in another's way", async () => {
    const file = fresh()
    const [one, other] = [open(file), open(file)]
    await Promise.all([each(one, "s", exchanges(20)), each(other, "s", exchanges(20))])
    expect((await one.state("s")).total).toBe(80)
    await Promise.all([one.close(), other.close()])
    expect(rows(file, "SELECT count(*) AS n FROM summaries WHERE is_active = 1")).toEqual([{ n: 1 }])
    expect(rows(file, "PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }])

    // Another process has the lock: a writer waits for it, and a writer that may not wait gets an error.
    const holder = start(lockProgram, driverPath, file, "BEGIN IMMEDIATE", "60000")
    expect(await holder.line()).toBe("locked")
    const { store } = spied(file, undefined, { busyTimeout: 0 })
    const refused = on(file, (memory) => memory.append("s", user(10)), { store })
    await expect(refused).rejects.toThrow("is locked by another process")
    const waits = on(file, (memory) => memory.append("s", user(10)))
    holder.kill()
    expect(await waits).toMatchObject({ from: 80, to: 81 })
  })
})

/** Every operation that is about one session. */
const operations = (memory: Memory, session: string): Readonly<Record<string, () => Promise<unknown>>> => ({
  append: () => memory.append(session, user(10)),
  context: () => memory.context(session),
  state: () => memory.state(session),
  events: () => gather(memory.events(session)),
  summaries: () => memory.summaries(session),
  settle: () => memory.compact(session, { which: "due" }),
  compact: () => memory.compact(session),
  clear: () => memory.clear(session),
  delete: () => memory.delete(session),
})

describe("edge case 4: no thread_id", () => {
  it("3.104 an error that says clearly what is missing", async () => {
    await on(fresh(), async (memory) => {
      const error: unknown = await memory.append("", user(10)).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ _tag: "InvalidInput" })
      expect(String(error)).toContain("A session id is required")
    })
  })

  it("3.105 nothing is kept under another name instead", async () => {
    const file = fresh()
    await on(file, async (memory) => {
      await expect(memory.append("", user(10))).rejects.toThrow("session id")
      expect(await memory.append("s", user(20))).toMatchObject({ from: 0, to: 1 })
    })
    expect(rows(file, "SELECT name FROM sessions")).toEqual([{ name: "s" }])
    expect(rows(file, "SELECT count(*) AS n FROM events")).toEqual([{ n: 1 }])
  })
})

describe("edge case 5: the store cannot be read", () => {
  it("3.106 reading is tried again by itself, three times at most", async () => {
    const { answer, seen } = await readAfter(3, (memory) => memory.context("chat"))
    expect([seen.reads, answer.messages.length]).toEqual([4, 4])
  })

  it("3.107 when the data turn out to be damaged, they are rebuilt", async () => {
    for (const left of everyLeft) {
      const file = copyOf(chat)
      damage(file, "'{'", left)
      takeEvents(file)
      const { requests, summarizer } = watched()
      const { seen, store } = spied(file, (operation, { reads }) => {
        if (operation === "read" && reads === 2) giveEvents(file)
      })
      warnings()
      const context = await on(
        file,
        async (memory) => {
          await memory.compact("chat", { which: "due" })
          return memory.context("chat")
        },
        { store, summarizer },
      )
      expect(seen.reads).toBeGreaterThan(2)
      expect(requests).toHaveLength(1)
      expect(textsOf(context)[0]).toContain("[Conversation Summary]\n[0,")
    }
  })

  it("3.108 any other error is told, and memfold goes on", async () => {
    // The log is the conversation, too: without it there is nothing to go on with, until it can be read again.
    const file = copyOf(chat)
    await on(file, async (memory) => {
      takeEvents(file)
      await expect(memory.context("chat")).rejects.toMatchObject({ _tag: "LogError", operation: "read" })
      giveEvents(file)
      expect(await on(file, (another) => another.context("chat"))).toEqual(chatContext)
    })
    // What is stored besides the log is made again, or done without where another program has changed the log's own tables.
    const said = warnings()
    change(file, "ALTER TABLE projections RENAME TO gone")
    expect(await on(file, (memory) => memory.context("chat"))).toEqual(chatContext)
    expect(said.join("\n")).toContain("they are made again")
    change(file, "ALTER TABLE events ADD COLUMN note TEXT; DROP TABLE projections")
    expect(await on(file, (memory) => memory.context("chat"))).toEqual(chatContext)
    expect(said.join("\n")).toContain("a snapshot could not be read")
  })
})

describe("edge case 6: the store cannot be written", () => {
  it("3.109 the database is locked, or the disk is full", async () => {
    const file = fresh()
    await on(file, (memory) => each(memory, "chat", exchanges(7)))
    const locker = openDriver(file)
    const { seen, store } = spied(
      file,
      (operation, { saves }) => {
        if (operation === "save" && saves === 1) locker.exec("BEGIN IMMEDIATE")
        if (operation === "save" && saves === 3) locker.exec("ROLLBACK")
      },
      { busyTimeout: 0 },
    )
    const summaries = await on(
      file,
      async (memory) => {
        await memory.append("chat", user(40))
        return memory.summaries("chat")
      },
      { store },
    )
    expect(seen.saves).toBe(3)
    expect(summaries.map(({ text }) => text)).toEqual(["[0,13)"])
    expect((await savedAfter(1)).summaries).toHaveLength(1)
  })

  it("3.110 writing is tried again by itself, three times at most", async () => {
    expect((await savedAfter(3)).seen.saves).toBe(4)
    warnings()
    expect((await savedAfter(9)).seen.saves).toBe(4)
  })

  it("3.111 then the error is logged, and memfold goes on without that summary", async () => {
    const said = warnings()
    const { appended, context, file } = await savedAfter(9)
    expect(appended.to).toBe(15)
    expect(said.join("\n")).toContain("a compaction could not run")
    expect(context.messages.map(({ role }) => role)).not.toContain("system")
    makeRoom(file)
    const later = await on(file, async (memory) => {
      await memory.append("chat", assistant(60))
      return memory.context("chat")
    })
    expect(textsOf(later)[0]).toBe("[Conversation Summary]\n[0,14)")
  })
})

describe("edge case 7: damaged data", () => {
  it("3.112 the data of a summary are not complete, or of a wrong form", async () => {
    const forms = [
      "''",
      "'null'",
      "'{}'",
      "substr(data, 1, length(data) / 2)",
      "json_remove(data, '$.segments[0].text')",
      "json_set(data, '$.segments[0].text', 7)",
      "json_set(data, '$.coveredTo', -1)",
      "json_remove(data, '$.wording')",
    ]
    const found: Array<readonly [data: string, statuses: ReadonlyArray<string>]> = []
    for (const data of forms) {
      const { summaries } = await rebuilt(chat, { data, left: "nothing" })
      found.push([data, summaries.map(({ status }) => status)])
    }
    expect(found).toEqual(forms.map((data) => [data, ["invalid", "invalid", "active"]]))
  })

  it("3.113 the history is loaded, the compaction runs anew, and the new summary is saved", async () => {
    const { file, requests, state } = await rebuilt()
    expect(requests[0]?.messages).toHaveLength(27)
    expect(state.summary).toMatchObject({ coveredTo: 27, segments: [{ text: "[0,27)" }] })
    const [active] = rows(file, "SELECT summary_id FROM summaries WHERE is_active = 1")
    expect(active?.["summary_id"]).toBe(state.summary?.id)
  })
})

describe("edge case 8: nothing to rebuild from", () => {
  it("3.114 a rebuild that cannot be made is logged and left out", async () => {
    const failing = async () => {
      throw new Error("no model today")
    }
    const { said, summaries } = await rebuilt(chat, {
      options: { summarizer: failing, compaction: { summarizerRetries: 0 } },
    })
    expect(said.join("\n")).toContain("a compaction failed")
    expect(summaries.map(({ status }) => status)).toEqual(["invalid", "invalid"])
    // A damaged message cannot be made anew: the session goes on without it, the layout names it, and a repair sets it aside.
    const file = copyOf(chat)
    await on(file, (memory) => memory.append("other", user(10)))
    change(
      file,
      "DELETE FROM projections WHERE kind = 'snapshot'; UPDATE events SET data = '{' WHERE session = 1 AND version = 3",
    )
    await on(file, async (memory) => {
      expect(textsOf(await memory.context("chat"))).toEqual(textsOf(chatContext))
      expect(await memory.messages("chat", { limit: 30 })).toMatchObject({ total: 28, unreadable: [2] })
      expect((await memory.context("other")).messages).toHaveLength(1)
    })
    // The newest one is no longer covered.
    change(
      file,
      "DELETE FROM projections WHERE kind = 'snapshot'; UPDATE events SET data = '{' WHERE id = (SELECT max(id) FROM events WHERE session = 1 AND type = (SELECT id FROM types WHERE name = 'MessageAppended'))",
    )
    await on(file, async (memory) => {
      const { layout } = await memory.context("chat")
      expect(layout).toContainEqual({ section: "unreadable", from: 27, to: 28, tokens: 0 })
      await memory.append("chat", user(10))
      expect((await memory.state("chat")).total).toBe(29)
    })
    const store = `sqlite:${file}`
    const repairs = await commandLine(Repair.command, "--store", store)
    expect(repairs.join("\n")).toContain("aside, which cannot be read")
    expect((await commandLine(Verify.command, "--store", store)).at(-1)).toContain("clean")
  })

  it("3.115 all goes on without a summary: less good, and usable", async () => {
    const failing = async () => {
      throw new Error("no model today")
    }
    warnings()
    const { context, state } = await rebuilt(chat, {
      options: { summarizer: failing, compaction: { summarizerRetries: 0 } },
    })
    expect(state).toMatchObject({ summary: null, total: 29 })
    expect(context.messages).toHaveLength(29)
  })
})

describe("edge case 9: the threshold", () => {
  it("3.116 70 % is too much: lower it, to 0.6 say", async () => {
    const lower = { compactionThreshold: 0.6 }
    expect((await after(exchanges(6), lower)).summaries).toHaveLength(0)
    expect((await after([...exchanges(5), user(40), assistant(61)], lower)).summaries).toHaveLength(1)
  })

  it("3.117 70 % is too little: raise it, to 0.8 say", async () => {
    const higher = { compactionThreshold: 0.8 }
    expect((await after(exchanges(8), higher)).summaries).toHaveLength(0)
    expect((await after([...exchanges(7), user(40), assistant(61)], higher)).summaries).toHaveLength(1)
  })

  it("3.118 each model may have its own", async () => {
    await on(fresh(), async (memory) => {
      await memory.append("s", exchanges(4), { settings: { contextLimit: 2_000 } })
      expect(await memory.summaries("s")).toHaveLength(0)
      await memory.compact("s", { which: "due", settings: { contextLimit: 500 } })
      expect(await memory.summaries("s")).toHaveLength(1)
    })
  })
})

describe("enhancement 1: metadata of pruned messages", () => {
  const output = "0123456789".repeat(800)
  /** A conversation with an output of 8,000 characters in its last turn, in a window of 10,000 tokens. */
  const pruned = async (method: "soft-trim" | "hard-clear") => {
    const messages = [...exchanges(50), user(20), ...work("1", output), assistant(1_100), assistant(20)]
    const { context } = await after(messages, { contextLimit: 10_000, pruneToolOutputs: method })
    const result = context.messages.find(({ role }) => role === "tool") ?? user(10)
    return { result, metadata: result.metadata?.["memfold"] as Readonly<Record<string, unknown>> }
  }

  it("3.119 pruned: True", async () => {
    const { result, metadata } = await pruned("soft-trim")
    expect(metadata["pruned"]).toBe(true)
    expect(Message.text(result).length).toBeLessThan(output.length)
    const { context } = await after([...exchanges(8), ...work("1", "short")], {
      pruneToolOutputs: "soft-trim",
    })
    expect(JSON.stringify(context.messages)).not.toContain("pruned")
  })

  it("3.120 original_length", async () => {
    expect((await pruned("soft-trim")).metadata["originalLength"]).toBe(8_000)
    expect((await pruned("hard-clear")).metadata["originalLength"]).toBe(8_000)
  })

  it("3.121 pruned_method: soft-trim or hard-clear", async () => {
    const soft = await pruned("soft-trim")
    expect(soft.metadata["prunedMethod"]).toBe("soft-trim")
    expect(Message.text(soft.result)).toBe(
      `${output.slice(0, 1_500)}\n[… 5000 characters of tool output cut …]\n${output.slice(-1_500)}`,
    )
    const hard = await pruned("hard-clear")
    expect(hard.metadata["prunedMethod"]).toBe("hard-clear")
    expect(Message.text(hard.result)).toBe("[Old tool output cleared: 8000 characters]")
    // An output is not old before a model has answered it, however large it is.
    const unseen = [...exchanges(50), user(20), ...work("1", "0123456789".repeat(5_000))]
    const { context } = await after(unseen, { contextLimit: 10_000, pruneToolOutputs: "hard-clear" })
    expect(Message.text(context.messages.at(-1)!)).toContain("0123456789")
    expect(JSON.stringify(context.messages)).not.toContain("hard-clear")
  })
})

describe("enhancement 2: tool failures", () => {
  /** What is said about failures behind a summary of a turn with these failed calls. */
  const failuresOf = async (
    outputs: ReadonlyArray<string>,
    said: { readonly isError?: true } = { isError: true },
  ) => {
    const calls = outputs.flatMap((output, id) => work(String(id), output, said))
    const turn = [user(20), ...calls, ...work("fine", "all is well"), assistant(2_700), assistant(100)]
    const { summaries } = await after([...exchanges(1), ...turn], { contextLimit: 4_000 })
    expect(summaries[0]?.segments.map(({ kind }) => kind)).toEqual(["history", "turn-prefix"])
    const [history, prefix] = summaries[0]?.segments ?? []
    return { history: history?.text ?? "", prefix: prefix?.text ?? "" }
  }
  const linesOf = (text: string) => text.split("\n").filter((line) => line.startsWith("- build: "))

  it("3.122 the failures in a split turn are collected, each with its tool", async () => {
    const { prefix } = await failuresOf(["no such file: a.ts", "exit code 2"])
    expect(linesOf(prefix)).toEqual(["- build: no such file: a.ts", "- build: exit code 2"])
    expect(prefix).not.toContain("all is well")
    // A format that has no word for a failure has it in the output alone.
    const outputs = ["Error: no such file: a.ts", "tests: 3\n[exit code 1]", "0 errors"]
    expect(linesOf((await failuresOf(outputs, {})).prefix)).toEqual([
      "- build: Error: no such file: a.ts",
      "- build: tests: 3 [exit code 1]",
    ])
  })

  it("3.123 at most 8 of them", async () => {
    const { prefix } = await failuresOf(Array.from({ length: 11 }, (_, index) => `failure ${index}`))
    expect(linesOf(prefix)).toHaveLength(8)
    expect(linesOf(prefix).at(-1)).toBe("- build: failure 10")
    expect(prefix).toContain("3 earlier")
  })

  it("3.124 each of at most 240 characters", async () => {
    const { prefix } = await failuresOf(["x".repeat(1_000), "y".repeat(100)])
    const [long, short] = linesOf(prefix).map((line) => line.slice("- ".length))
    expect(long).toHaveLength(240)
    expect(short).toBe(`build: ${"y".repeat(100)}`)
  })

  it("3.125 they stand behind the summary of the turn's prefix", async () => {
    const { history, prefix } = await failuresOf(["exit code 2"])
    expect(history).toBe("[0,2)")
    expect(prefix).toMatch(/^\[2,\d+\)\n\n\*\*Tool failures:\*\*\n- build: exit code 2$/)
    // They go on word for word when the turn is split again.
    const failing = (id: string, output: string) => [
      ...work(id, output, { isError: true }),
      ...answers(12, 60),
    ]
    await on(fresh(), async (memory) => {
      await memory.append("s", [user(20), ...failing("1", "exit code 2")])
      await memory.append("s", failing("2", "exit code 3"))
      const texts = (await memory.summaries("s")).map(({ segments }) => segments[0]?.text)
      expect(texts[0]).toMatch(/^\[0,\d+\)\n\n\*\*Tool failures:\*\*\n- build: exit code 2$/)
      expect(texts[1]).toMatch(
        /^\[0,\d+\)\n\n\*\*Tool failures:\*\*\n- build: exit code 2\n- build: exit code 3$/,
      )
    })
  })
})

describe("enhancement 3: files", () => {
  const touching = (name: string, id: string, args: object, output = "done") => [
    Message.call([{ id, name, arguments: JSON.stringify(args) }]),
    Message.result({ id, output }),
  ]
  const turn = [
    user(50),
    ...touching("read_file", "1", { path: "src/a.ts" }),
    ...touching("read_file", "2", { path: "src/b.ts" }),
    ...touching("edit_file", "3", { file_path: "src/b.ts" }),
    ...touching("write_file", "4", { path: "src/c.ts" }),
    ...answers(7, 100),
  ]
  const next = [
    user(50),
    ...touching("read_file", "5", { path: "src/d.ts" }),
    ...touching("write_file", "6", { path: "src/e.ts" }),
    ...answers(7, 100),
  ]
  /** The summary after these turns, each of which is compacted before the next one. */
  const summaryAfter = (...turns: ReadonlyArray<ReadonlyArray<Message.Message>>) =>
    on(fresh(), async (memory) => {
      for (const messages of turns) await memory.append("s", messages)
      expect(await memory.summaries("s")).toHaveLength(turns.length)
      return textsOf(await memory.context("s"))[0]
    })

  it("3.126 a section <read-files>", async () => {
    expect(await summaryAfter(turn)).toContain("<read-files>\nsrc/a.ts\n</read-files>")
    expect(await summaryAfter(turn, next)).toContain("<read-files>\nsrc/a.ts\nsrc/d.ts\n</read-files>")
  })

  it("3.127 a section <modified-files>", async () => {
    expect(await summaryAfter(turn)).toContain("<modified-files>\nsrc/b.ts\nsrc/c.ts\n</modified-files>")
    expect(await summaryAfter(turn, next)).toContain(
      "<modified-files>\nsrc/b.ts\nsrc/c.ts\nsrc/e.ts\n</modified-files>",
    )
    // A call that failed has changed nothing, whether its result says so in a field or in words; a patch in a command changes files.
    const [failedCall, failedResult] = touching("edit_file", "9", { path: "src/y.ts" }, "no")
    const patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/f.ts\n*** End Patch\nEOF"
    const failing = [
      user(50),
      ...touching("edit_file", "7", { path: "src/x.ts" }, "File not found: src/x.ts"),
      ...touching("read_file", "8", { path: "src/z.ts" }, "cat: src/z.ts: No such file or directory"),
      failedCall!,
      {
        ...failedResult!,
        parts: failedResult!.parts.map((part) =>
          part.type === "tool-result" ? { ...part, isError: true } : part,
        ),
      },
      ...touching("shell", "10", { command: ["bash", "-lc", patch] }),
      ...answers(7, 100),
    ]
    const text = await summaryAfter(failing)
    expect(text).toContain("<modified-files>\nsrc/f.ts\n</modified-files>")
    expect(text).not.toContain("<read-files>")
  })
})

describe("enhancement 4: what a terminal shows", () => {
  const shown = once(async () => {
    const file = fresh("json")
    const long = "a longer piece of work that goes on and on ".repeat(20)
    const turn = [
      { role: "user", content: "Please do everything." },
      ...Array.from({ length: 12 }, (_, step) => ({ role: "assistant", content: `step ${step}: ${long}` })),
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "1", type: "function", function: { name: "build", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "1", content: "x".repeat(1_234) },
      { role: "assistant", content: "Done." },
    ]
    const talk = Array.from({ length: 90 }, (_, index) => ({
      role: index % 2 === 0 ? "user" : "assistant",
      content: `message ${index} is about order KX-${1_000 + index} and its way to the customer`,
    }))
    writeFileSync(file, JSON.stringify([...talk, ...turn]))
    const { out } = await called("replay", file, "--strategy", "split-turn", "--set", "context_limit=1500")
    return out.split("\n")
  })

  it('3.128 "Compressed" at a compaction', async () => {
    const compactions = (await shown()).filter((line) => line.includes("reason threshold"))
    expect(compactions.length).toBeGreaterThan(1)
    expect(compactions.every((line) => line.includes("Compressed"))).toBe(true)
  })

  it('3.129 "Split Turn" at a compaction that split a turn', async () => {
    const compactions = (await shown()).filter((line) => line.includes("reason threshold"))
    const split = compactions.filter((line) => line.includes("turn-prefix"))
    expect(split.length).toBeGreaterThan(0)
    expect(split.length).toBeLessThan(compactions.length)
    expect(compactions.filter((line) => line.includes("Split Turn"))).toEqual(split)
  })

  it("3.130 long outputs of tools are folded", async () => {
    const line = (await shown()).find((one) => one.includes("xxxx")) ?? ""
    expect(line).toContain("1,234 characters")
    expect(line.length).toBeLessThan(200)
  })
})

/** A turn of messages of one size. */
const answersTo = (count: number, tokens: number) => [user(tokens), ...answers(count, tokens)]

describe("enhancement 5: an adaptive share for the prefix", () => {
  const adaptive = { adaptiveSplit: true }

  it("3.131 large messages: a smaller prefix, 0.15 of the window", async () => {
    expect(SplitTurn(adaptive).split?.prefix({ messages: 5, tokens: 150_000 })).toBe(30_000)
    expect(await partsOf(answersTo(5, 140), { ...adaptive, contextLimit: 1_000 })).toEqual([
      "turn-prefix [0,1)",
    ])
  })

  it("3.132 small messages: a larger prefix, 0.4 of the window", async () => {
    expect(SplitTurn(adaptive).split?.prefix({ messages: 150, tokens: 150_000 })).toBe(80_000)
    expect(await partsOf(answersTo(70, 10), { ...adaptive, contextLimit: 1_000 })).toEqual([
      "turn-prefix [0,40)",
    ])
  })
})

describe("risks", () => {
  it("3.133 a summary cannot be written: three retries, then the error is logged and all goes on", async () => {
    const said = warnings()
    const { appended, seen } = await savedAfter(4)
    expect([seen.saves, appended.to]).toEqual([4, 15])
    expect(said).not.toEqual([])
  })

  it("3.134 a summary cannot be read: three retries, and damage is looked for and mended", async () => {
    expect((await readAfter(3, (memory) => memory.state("chat"))).answer.summary?.coveredTo).toBe(25)
    expect((await rebuilt()).state.summary?.coveredTo).toBe(27)
  })

  it("3.135 damaged data: the summary is rebuilt from the log", async () => {
    const { requests } = await rebuilt(chat, { data: "'not even JSON'" })
    expect(requests.map(({ messages }) => messages.length)).toEqual([27])
  })

  it("3.136 a slow rebuild: only after damage, and beside the conversation", async () => {
    const file = copyOf(chat)
    damage(file, "'{'")
    warnings()
    const { ask, asked, letGo } = held()
    await on(
      file,
      async (memory) => {
        expect(await memory.append("chat", user(10))).toMatchObject({ to: 29 })
        await until(() => asked.length === 1)
        expect((await memory.context("chat")).messages).toHaveLength(29)
        letGo()
        await until(async () => (await memory.state("chat")).summary !== null)
      },
      { compaction: { mode: "background" }, summarizer: ask },
    )
    expect(asked).toHaveLength(1)
  })

  it("3.137 a split where none was needed: a margin of 20 %, and tokens counted to the high side", async () => {
    const turn = (tokens: number) => [...exchanges(3), user(tokens - 450), ...answers(10, 45)]
    expect(SplitTurn.defaults.splitMargin).toBe(1.2)
    expect(await partsOf(turn(600))).toEqual(["history [0,6)"])
    expect((await partsOf(turn(601))).map((part) => part.split(" ")[0])).toEqual(["history", "turn-prefix"])
    // Without the margin of 20 %, the same turn is split.
    expect(await partsOf(turn(600), { splitMargin: 1 })).toHaveLength(2)
    const exact = await gpt()
    const margin = TokenCounter.estimateMargin
    const files = ["coding-agent.jsonl", "support-zh.jsonl"].map((sample) =>
      readFileSync(new URL(`../../cli/samples/${sample}`, import.meta.url), "utf8"),
    )
    // No text of a conversation is counted too low with the estimate's own margin, which guards every limit.
    for (const line of files.flatMap((file) => file.trim().split("\n"))) {
      expect(TokenCounter.estimating.count(line) * margin).toBeGreaterThanOrEqual(exact.count(line))
    }
    const question = "What would you like me to look at first? ".repeat(40)
    const context = 2 * (TokenCounter.estimating.count(question) + TokenCounter.messageOverhead)
    const compactedIn = (contextLimit: number) =>
      using(
        createMemory({
          store: "memory:",
          format: "memfold",
          strategy: "split-turn",
          summarizer: "echo",
          compaction: { mode: "inline" },
          settings: { contextLimit, keepRecentShare: 0.01 },
        }),
        async (memory) => {
          await memory.append("s", [Message.user(question), Message.assistant(question)])
          await memory.append("s", Message.user("Go on."))
          return (await memory.summaries("s")).length
        },
      )
    expect(await compactedIn(Math.floor(((context + 10) * margin * 0.95) / 0.7))).toBe(1)
    expect(await compactedIn(Math.ceil(((context + 10) * margin * 1.05) / 0.7))).toBe(0)
    for (const sample of ["coding-agent.jsonl", "support-zh.jsonl"]) {
      const text = readFileSync(new URL(`../../cli/samples/${sample}`, import.meta.url), "utf8")
      expect(TokenCounter.estimating.count(text)).toBeGreaterThanOrEqual(exact.count(text))
    }
  })

  it("3.138 a file with other tables stays as it is, and can be read; the design's own is imported", async () => {
    const file = copyOf(chat)
    // Opening it again changes nothing.
    const before = rows(file, "SELECT * FROM log")
    expect(await on(file, (memory) => memory.context("chat"))).toEqual(chatContext)
    for (const [schema, advice] of [
      [0, "start a new file"],
      [7, "update memfold"],
    ] as const) {
      change(file, `PRAGMA user_version = ${schema}`)
      await expect(on(file, (memory) => memory.context("chat"))).rejects.toThrow(
        `has schema ${schema}, this memfold knows schema 6; ${advice}`,
      )
      const out = fresh("jsonl")
      expect(await called("export", out, "--store", `sqlite:${file}`)).toMatchObject({ code: 0 })
      const moved = `sqlite:${fresh()}`
      expect(await called("import", out, "--store", moved)).toMatchObject({ code: 0 })
      expect(await on(moved.slice("sqlite:".length), (memory) => memory.context("chat"))).toEqual(chatContext)
      expect((await called("verify", "--store", `sqlite:${file}`)).out).toContain("clean")
    }
    expect(rows(file, "SELECT * FROM log")).toEqual(before)
    const [theirs, messages, taken] = [fresh(), fresh("json"), fresh()]
    change(
      theirs,
      `CREATE TABLE summaries (
    summary_id TEXT PRIMARY KEY,
    thread_id TEXT NOT NULL,
    summary_text TEXT NOT NULL,
    compact_up_to_index INTEGER NOT NULL,
    compacted_at INTEGER NOT NULL,
    is_split_turn BOOLEAN DEFAULT FALSE,
    split_turn_prefix TEXT,
    is_active BOOLEAN DEFAULT TRUE,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
);
INSERT INTO summaries VALUES ('s1', 't1', 'They said hello.', 2, 4, 0, NULL, 0, '2026-02-01 12:00:00');
INSERT INTO summaries VALUES ('s2', 't1', 'They said hello, and more.', 4, 6, 0, NULL, 1, '2026-02-01 13:00:00');`,
    )
    const said = Array.from({ length: 6 }, (_, index) => ({
      role: index % 2 === 0 ? "user" : "assistant",
      content: `message ${index}`,
    }))
    writeFileSync(messages, JSON.stringify(said))
    const options = ["--messages", messages, "--store", `sqlite:${taken}`, "--session", "t1"]
    expect(await called("import", "--from", "split-turn", theirs, ...options)).toMatchObject({
      code: 0,
      err: "",
    })
    const context = await on(taken, (memory) => memory.context("t1"))
    expect(textsOf(context)).toEqual([
      "[Conversation Summary]\nThey said hello, and more.",
      "message 4",
      "message 5",
    ])
  })

  it("3.139 the cost of queries: an append reads nothing, a context the newest position", async () => {
    const file = copyOf(chat)
    const { seen, store } = spied(file)
    await on(
      file,
      async (memory) => {
        await memory.context("chat")
        const { reads, heads } = seen
        await memory.append("chat", assistant(10))
        expect([seen.reads - reads, seen.heads - heads]).toEqual([0, 0])
        await memory.context("chat")
        expect([seen.reads - reads, seen.heads - heads]).toEqual([0, 1])
      },
      { store },
    )
  })

  it("3.140 nothing to rebuild from: the error is logged, and all goes on", async () => {
    const failing = async () => {
      throw new Error("no model today")
    }
    const { context, said } = await rebuilt(chat, {
      options: { summarizer: failing, compaction: { summarizerRetries: 0 } },
    })
    expect(said.join("\n")).toContain("a compaction failed")
    expect(context.messages).toHaveLength(29)
  })

  it("3.141 a large summary: below 5 KB, and far smaller than the history", async () => {
    const sentences = (index: number) =>
      Array.from(
        { length: 12 },
        (_, line) =>
          `Point ${index}.${line}: part ${index * 12 + line} costs ${line * 7} euros and goes to dock ${index}.`,
      ).join(" ")
    const history = Array.from({ length: 200 }, (_, index) =>
      index % 2 === 0 ? Message.user(sentences(index)) : Message.assistant(sentences(index)),
    )
    const { summaries } = await after(
      history,
      { contextLimit: 32_000 },
      { summarizer: ExtractiveSummarizer.make() },
    )
    const bytes = Buffer.byteLength(summaries.at(-1)?.text ?? "")
    expect(bytes).toBeGreaterThan(0)
    expect(bytes).toBeLessThan(5 * 1_024)
    expect(bytes).toBeLessThan(Buffer.byteLength(JSON.stringify(history)) / 20)
  })

  it("3.142 code that gives no thread_id: an error that says what to do", async () => {
    await on(fresh(), async (memory) => {
      for (const operation of Object.values(operations(memory, ""))) {
        await expect(operation()).rejects.toThrow("A session id is required: a text that is not empty")
      }
    })
  })
})

describe("why summaries have a store of their own", () => {
  it("3.143 messages and summaries are two things", () => {
    const types = rows(chat, "SELECT type, count(*) AS n FROM log GROUP BY type ORDER BY type")
    expect(types).toEqual([
      { type: "CompactionStarted", n: 2 },
      { type: "MessageAppended", n: 28 },
      { type: "SummaryCommitted", n: 2 },
      { type: "SummarySuperseded", n: 1 },
    ])
    expect(rows(chat, "SELECT data FROM log WHERE type = 'MessageAppended' AND data LIKE '%[0,%'")).toEqual(
      [],
    )
  })

  it("3.144 a summary is found by thread_id, without reading messages", () => {
    const plan = rows(
      chat,
      "EXPLAIN QUERY PLAN SELECT * FROM summaries WHERE thread_id = 'chat' AND is_active = TRUE",
    )
    const steps = plan.map(({ detail }) => String(detail))
    expect(steps).toHaveLength(1)
    expect(steps[0]).toMatch(/^SEARCH summaries USING INDEX/)
  })

  it("3.145 the whole history stays, and any point of it can be gone back to", async () => {
    await on(chat, async (memory) => {
      expect((await memory.context("chat", { atVersion: 15 })).messages).toEqual(exchanges(8).slice(0, 15))
      expect(textsOf(await memory.context("chat", { atVersion: 17 }))[0]).toBe(
        "[Conversation Summary]\n[0,13)",
      )
    })
  })

  it("3.146 every summary is kept, with its time", async () => {
    const summaries = await on(chat, (memory) => memory.summaries("chat"))
    const started = rows(chat, "SELECT min(time) AS first, max(time) AS last FROM events")[0]
    for (const { time } of summaries) {
      expect(time).toBeGreaterThanOrEqual(Number(started?.["first"]))
      expect(time).toBeLessThanOrEqual(Number(started?.["last"]))
    }
  })
})

describe("why thread_id is required", () => {
  it("3.148 what is stored is found again by it", async () => {
    const file = copyOf(chat)
    await on(file, (memory) => memory.append("other", exchanges(1)))
    await on(file, async (memory) => {
      expect((await memory.context("chat")).messages).toHaveLength(4)
      expect((await memory.context("other")).messages).toHaveLength(2)
      expect((await memory.context("nobody")).messages).toHaveLength(0)
    })
  })

  it("3.149 a clear error, and no silent fallback", async () => {
    await on(fresh(), async (memory) => {
      await expect(memory.compact(null as unknown as string, { which: "due" })).rejects.toMatchObject({
        _tag: "InvalidInput",
      })
    })
  })

  it("3.150 every operation with state asks for it", async () => {
    await on(fresh(), async (memory) => {
      for (const [name, operation] of Object.entries(operations(memory, undefined as unknown as string))) {
        const error: unknown = await operation().catch((thrown: unknown) => thrown)
        expect([name, error]).toMatchObject([name, { _tag: "InvalidInput" }])
      }
    })
  })
})

describe("why a rebuild starts from the log", () => {
  it("3.151 the log is the truth: the table of summaries can go, and nothing is missing", async () => {
    const known = await on(chat, (memory) => memory.summaries("chat"))
    for (const harm of [
      "DELETE FROM summaries",
      "UPDATE summaries SET summary_text = 'something else', compact_up_to_index = 3",
      "UPDATE summaries SET is_active = 0, status = 'invalid'",
      "DROP TABLE summaries",
      "DROP TABLE summaries; CREATE TABLE summaries (id INTEGER, text TEXT)",
      "DROP TABLE summaries; DROP TABLE projections; DROP VIEW log",
    ]) {
      // Read from the log's start, and from a snapshot.
      for (const snapshots of ["", "DELETE FROM projections WHERE kind = 'snapshot';"]) {
        const file = copyOf(chat)
        change(file, snapshots + harm)
        await on(file, async (memory) => {
          expect(await memory.context("chat")).toEqual(chatContext)
          expect(await memory.summaries("chat")).toEqual(known)
          await each(memory, "chat", exchanges(7))
          expect((await memory.state("chat")).coveredTo).toBeGreaterThan(25)
        })
        const statuses = rows(file, "SELECT status FROM summaries ORDER BY version")
        expect(statuses.length).toBeGreaterThan(known.length)
        expect(statuses.filter(({ status }) => status === "active")).toHaveLength(1)
        expect(rows(file, "SELECT count(*) AS n FROM log")).not.toEqual([{ n: 0 }])
      }
    }
  })

  it("3.152 it needs nobody's help", async () => {
    const { before, context } = await rebuilt()
    expect(before.messages).toHaveLength(28)
    expect(context.messages).toHaveLength(3)
    // Each column of the active row is checked when the session is opened.
    const right = rows(chat, "SELECT * FROM summaries ORDER BY version")
    for (const harm of [
      "created_at = '1999-01-01 00:00:00'",
      "is_split_turn = 1",
      "split_turn_prefix = 'x'",
      "is_split_turn = NULL",
      "summary_text = 'x'",
      "compact_up_to_index = 1",
      "compacted_at = 1",
      "superseded_by = 'x'",
      "tokens = 1",
      "time = 1",
    ]) {
      const file = copyOf(chat)
      change(file, `UPDATE summaries SET ${harm} WHERE is_active = 1`)
      expect(rows(file, "SELECT * FROM summaries ORDER BY version")).not.toEqual(right)
      await on(file, (memory) => memory.context("chat"))
      expect(rows(file, "SELECT * FROM summaries ORDER BY version")).toEqual(right)
    }
  })

  it("3.153 it happens after damage, and not whenever something fails", async () => {
    const { file, requests } = await readAfter(4, async (memory) => {
      await expect(memory.compact("chat", { which: "due" })).rejects.toMatchObject({ _tag: "LogError" })
    })
    giveEvents(file)
    expect(requests).toEqual([])
    expect(rows(file, "SELECT * FROM log WHERE type = 'SummaryInvalidated'")).toEqual([])
    expect(await on(file, (memory) => memory.context("chat"))).toEqual(chatContext)
  })

  it("3.154 trying again comes first", async () => {
    const { answer, requests, seen } = await readAfter(3, async (memory) => {
      await memory.compact("chat", { which: "due" })
      return memory.context("chat")
    })
    expect(seen.reads).toBeGreaterThanOrEqual(4)
    expect(answer).toEqual(chatContext)
    expect(requests).toEqual([])
  })
})

describe("why 70 %", () => {
  it("3.155 30 % of the window is left for the answer", async () => {
    for (const prompt of [[], [system(200)]]) {
      await on(fresh(), async (memory) => {
        for (const message of [...prompt, ...exchanges(12), user(50), ...answers(20, 60), ...exchanges(6)]) {
          await memory.append("s", message)
          expect((await memory.context("s")).tokens).toBeLessThanOrEqual(700)
        }
        expect((await memory.summaries("s")).length).toBeGreaterThan(2)
      })
    }
  })

  it("3.156 it can be set as the use demands", async () => {
    for (const compactionThreshold of [0.5, 0.6, 0.7, 0.8, 0.9]) {
      await on(
        fresh(),
        async (memory) => {
          const limit = Math.round(1_000 * compactionThreshold)
          await memory.append("s", exchanges(limit / 100))
          expect(await memory.summaries("s")).toHaveLength(0)
          await memory.append("s", user(10))
          expect(await memory.summaries("s")).toHaveLength(1)
        },
        { settings: { contextLimit: 1_000, compactionThreshold } },
      )
    }
  })
})
