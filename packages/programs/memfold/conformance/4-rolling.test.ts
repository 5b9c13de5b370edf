/** Reference design 4, rolling compression, row by row; the rows are in docs/conformance.md. */
import { Message, type Prompt, type Summarizer, type TokenCounter } from "@memfold/core"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest"
import {
  createMemory,
  type CreateOptions,
  SummaryMode,
  Keep,
  Strategy,
  BatchSize,
  Trigger,
} from "../src/index.js"
import { change, damage, each, files, memfold, once, rows, textsOf, using } from "./stored.js"
import { watched } from "./talk.js"

const { copyOf, fresh } = files()

/** Compacts every ten messages, and keeps the newest `kept`. */
const everyTen = (fold: SummaryMode.SummaryMode, kept = 10) =>
  Strategy.make({
    name: fold === SummaryMode.rolling ? "rolling" : "independent",
    when: Trigger.backlog({ messages: 10 }),
    keep: Keep.lastMessages(kept),
    batchSize: BatchSize.messages(10),
    summaryMode: fold,
  })

type Options = Partial<CreateOptions<"memfold">>

const open = (file: string, options: Options = {}) =>
  createMemory({
    store: `sqlite:${file}`,
    format: "memfold",
    strategy: everyTen(SummaryMode.rolling),

    summarizer: "echo",
    ...options,
    compaction: { mode: "inline", ...options.compaction },
  })

type Memory = ReturnType<typeof open>

const on = <A>(file: string, use: (memory: Memory) => Promise<A>, options: Options = {}) =>
  using(open(file, options), use)

/** The design counts its messages from 1. */
const text = (number: number) => `message ${number} says a little something about order KX-${1_000 + number}`
const messages = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, position) => {
    const number = from + position
    return number % 2 === 1 ? Message.user(text(number)) : Message.assistant(text(number))
  })

/** A summarizer that answers `summary 1`, `summary 2` and so on, and remembers what it was asked. */
const numbering = () => {
  const requests: Array<Summarizer.Request> = []
  const summarizer: Summarizer.Service = {
    name: "numbering",
    summarize: (request) => Effect.sync(() => ({ text: `summary ${requests.push(request)}` })),
  }
  return { requests, summarizer }
}

/** The statuses in the database, oldest first. */
const statuses = (file: string) =>
  rows(file, "SELECT summary, status FROM compressed_summaries ORDER BY compressed_at ASC").map(
    ({ summary, status }) => [summary, status],
  )

/** The sections of a context: `summary [0,30)`. */
const layoutOf = ({ layout }: Awaited<ReturnType<Memory["context"]>>) =>
  layout.map(({ section, from, to }) => `${section} [${from},${to})`)

/** The design's fifty messages with three compactions: the newest twenty stay. */
let fifty = ""
let asked: ReadonlyArray<Summarizer.Request> = []
let context: Awaited<ReturnType<Memory["context"]>>

beforeAll(async () => {
  fifty = fresh()
  const { requests, summarizer } = numbering()
  context = await on(
    fifty,
    async (memory) => {
      await each(memory, "chat", messages(1, 50))
      return memory.context("chat")
    },
    { strategy: everyTen(SummaryMode.rolling, 20), summarizer },
  )
  asked = requests
})

describe("the problem", () => {
  it("4.1 the old way: every compaction adds a summary of its own, and all of them are sent", async () => {
    const { summarizer } = numbering()
    await on(
      fresh(),
      async (memory) => {
        await each(memory, "chat", messages(1, 50))
        const { messages: sent } = await memory.context("chat")
        expect(Message.text(sent[0] ?? Message.user(""))).toBe(
          "[Conversation Summary]\nsummary 1\n\nsummary 2\n\nsummary 3",
        )
        expect(sent.slice(1).map((message) => Message.text(message))).toEqual(
          messages(31, 50).map((message) => Message.text(message)),
        )
      },
      { strategy: everyTen(SummaryMode.blocks, 20), summarizer },
    )
  })

  it("4.2 that way, summaries pile up; rolling, they do not", async () => {
    const parts = async (fold: SummaryMode.SummaryMode, count: number) =>
      on(
        fresh(),
        async (memory) => {
          await memory.append("chat", messages(1, count))
          return (await memory.state("chat")).summary?.segments.length
        },
        { strategy: everyTen(fold) },
      )
    expect([await parts(SummaryMode.blocks, 50), await parts(SummaryMode.blocks, 90)]).toEqual([4, 8])
    expect([await parts(SummaryMode.rolling, 50), await parts(SummaryMode.rolling, 90)]).toEqual([1, 1])
  })
})

describe("rolling compression", () => {
  /** The database after `count` messages. */
  const after = async (count: number) => {
    const file = fresh()
    const { requests, summarizer } = numbering()
    await on(file, (memory) => each(memory, "chat", messages(1, count)), {
      strategy: everyTen(SummaryMode.rolling, 20),
      summarizer,
    })
    const said = requests.map((request) => [
      request.previous,
      request.messages.map((message) => Message.text(message)),
    ])
    return { said, statuses: statuses(file) }
  }
  const texts = (from: number, to: number) => messages(from, to).map((message) => Message.text(message))

  it("4.3 the first: [messages 1-10] → summary 1, active", async () => {
    expect(await after(30)).toEqual({
      said: [[undefined, texts(1, 10)]],
      statuses: [["summary 1", "active"]],
    })
  })

  it("4.4 the second: [summary 1] + [messages 11-20] → summary 2; 1 superseded, 2 active", async () => {
    const { said, statuses: found } = await after(40)
    expect(said[1]).toEqual(["summary 1", texts(11, 20)])
    expect(found).toEqual([
      ["summary 1", "superseded"],
      ["summary 2", "active"],
    ])
  })

  it("4.5 the third: [summary 2] + [messages 21-30] → summary 3; 1 and 2 superseded, 3 active", async () => {
    const { said, statuses: found } = await after(50)
    expect(said[2]).toEqual(["summary 2", texts(21, 30)])
    expect(found).toEqual([
      ["summary 1", "superseded"],
      ["summary 2", "superseded"],
      ["summary 3", "active"],
    ])
  })

  it("4.6 sent to the model: [summary 3] + [messages 31-50]", () => {
    expect(textsOf(context)).toEqual(["[Conversation Summary]\nsummary 3", ...texts(31, 50)])
  })

  it("4.7 each chat has one active summary", async () => {
    const file = fresh()
    await on(file, async (memory) => {
      for (const chat of ["one", "two"]) await memory.append(chat, messages(1, 80))
    })
    const active =
      "SELECT chat_id, count(*) AS n FROM compressed_summaries WHERE status = 'active' GROUP BY chat_id"
    expect(rows(file, active)).toEqual([
      { chat_id: "one", n: 1 },
      { chat_id: "two", n: 1 },
    ])
  })

  it("4.8 a new summary is written from the old one, so that the thread goes on", () => {
    expect(asked.map(({ previous }) => previous)).toEqual([undefined, "summary 1", "summary 2"])
  })

  it("4.9 nothing is in it twice: every message is summarized once", () => {
    expect(asked.flatMap((request) => request.messages.map((message) => Message.text(message)))).toEqual(
      texts(1, 30),
    )
  })

  it("4.10 older summaries stay as superseded, and the history can be traced", async () => {
    const summaries = await on(fifty, (memory) => memory.summaries("chat"))
    const [one, two, three] = summaries
    expect(summaries.map(({ text: said }) => said)).toEqual(["summary 1", "summary 2", "summary 3"])
    expect(one?.supersededBy).toBe(two?.id)
    expect(two?.supersededBy).toBe(three?.id)
    expect(three?.supersededBy).toBeNull()
  })
})

describe("generateSummary", () => {
  /** The prompts that a model gets, one a compaction. */
  const prompts = async () => {
    const found: Array<Prompt.Prompt> = []
    const ask = async (prompt: Prompt.Prompt) => `answer number ${found.push(prompt)}`
    await on(fresh(), (memory) => memory.append("chat", messages(1, 30)), { summarizer: ask })
    return found
  }

  it("4.11 has a parameter previousSummary, which may be left out", () => {
    expect(asked[0]?.previous).toBeUndefined()
    expect(asked[1]?.previous).toBe("summary 1")
  })

  it("4.12 with an old summary: another prompt, which merges it with the new messages", async () => {
    const [first, second] = await prompts()
    expect(second?.system).not.toBe(first?.system)
    expect(second?.system).toContain("merge")
    expect(second?.user).toContain("answer number 1")
    expect(second?.user).toContain(text(11))
  })

  it("4.13 without one: the new messages are compressed by themselves", async () => {
    const [first] = await prompts()
    expect(first?.system).not.toContain("merge")
    expect(first?.user).toContain(text(1))
    expect(first?.user).toContain(text(10))
    expect(first?.user).not.toContain(text(11))
  })
})

describe("compress", () => {
  it("4.14 takes the newest active summary", () => {
    expect(asked.map(({ previous }) => previous).slice(1)).toEqual(["summary 1", "summary 2"])
  })

  it("4.15 hands its text to the model as context", async () => {
    const seen: Array<string> = []
    const ask = async ({ user }: Prompt.Prompt) => `order so far: ${seen.push(user)}`
    await on(fresh(), (memory) => memory.append("chat", messages(1, 40)), { summarizer: ask })
    expect(seen).toHaveLength(3)
    expect(seen[0]).not.toContain("order so far")
    expect(seen[1]).toContain("order so far: 1")
    expect(seen[2]).toContain("order so far: 2")
    expect(seen[2]).not.toContain("order so far: 1")
  })

  it("4.16 marks the old summary superseded once the new one is there", async () => {
    const file = fresh()
    const failing = async () => {
      throw new Error("no model today")
    }
    await on(file, (memory) => memory.append("chat", messages(1, 20)), {
      summarizer: async () => "the first",
    })
    expect(statuses(file)).toEqual([["the first", "active"]])
    const spy = vi.spyOn(console, "error").mockImplementation(() => {})
    onTestFinished(() => spy.mockRestore())
    await on(file, (memory) => memory.append("chat", messages(21, 30)), {
      summarizer: failing,
      compaction: { summarizerRetries: 0 },
    })
    expect(statuses(file)).toEqual([["the first", "active"]])
    await on(file, (memory) => memory.compact("chat"), { summarizer: async () => "the second" })
    expect(statuses(file)).toEqual([
      ["the first", "superseded"],
      ["the second", "active"],
    ])
  })

  it("4.17 saves the new summary as active", () => {
    expect(statuses(fifty).at(-1)).toEqual(["summary 3", "active"])
  })
})

describe("applyCompression", () => {
  it("4.18 uses the newest active summary alone", () => {
    const sent = textsOf(context).join("\n")
    expect(sent).toContain("summary 3")
    expect(sent).not.toContain("summary 1")
    expect(sent).not.toContain("summary 2")
  })

  it("4.19 goes through no list of summaries: there is one in a context", async () => {
    expect(context.messages.filter(({ role }) => role === "system")).toHaveLength(1)
    const { summary, supersededCount: superseded } = await on(fifty, (memory) => memory.state("chat"))
    expect([summary?.segments.length, superseded]).toEqual([1, 2])
  })

  it("4.20 puts it where the compressed messages began, and leaves all of them out", () => {
    expect(layoutOf(context)).toEqual(["summary [0,30)", "uncovered [30,50)"])
    expect(context.messages).toHaveLength(21)
    expect(context.messages[0]?.role).toBe("system")
  })

  it("4.21 getActiveCompressedSummariesByChatId() finds none but the active ones", () => {
    const found = rows(
      fifty,
      "SELECT summary FROM compressed_summaries WHERE chat_id = 'chat' AND status = 'active'",
    )
    expect(found).toEqual([{ summary: "summary 3" }])
  })

  it("4.22 it finds one at most", async () => {
    const file = fresh()
    await on(file, async (memory) => {
      for (let number = 1; number <= 60; number++) {
        await memory.append("chat", messages(number, number))
        const active = (await memory.summaries("chat")).filter(({ status }) => status === "active")
        expect(active).toHaveLength(number < 20 ? 0 : 1)
      }
    })
  })
})

describe("status", () => {
  it("4.24 active: applied to the list of messages", async () => {
    const active = await on(fifty, async (memory) =>
      (await memory.summaries("chat")).filter(({ status }) => status === "active"),
    )
    expect(active.map(({ text: said }) => `[Conversation Summary]\n${said}`)).toEqual([textsOf(context)[0]])
  })

  it("4.25 superseded: replaced by a newer one, and kept", () => {
    expect(statuses(fifty).filter(([, status]) => status === "superseded")).toEqual([
      ["summary 1", "superseded"],
      ["summary 2", "superseded"],
    ])
  })

  it("4.26 invalid: a summary that is none", async () => {
    const file = copyOf(fifty)
    damage(file, "CASE WHEN data LIKE '%summary 3%' THEN '{' ELSE data END")
    const spy = vi.spyOn(console, "error").mockImplementation(() => {})
    onTestFinished(() => spy.mockRestore())
    const { summarizer } = watched()
    const found = await on(
      file,
      async (memory) => {
        await memory.compact("chat", { which: "due" })
        return memory.summaries("chat")
      },
      { strategy: everyTen(SummaryMode.rolling, 20), summarizer },
    )
    expect(found.map(({ status }) => status)).toEqual(["superseded", "superseded", "invalid", "active"])
    expect(statuses(file).map(([, status]) => status)).toEqual([
      "superseded",
      "superseded",
      "invalid",
      "active",
    ])
  })

  it("4.27 the query for the active summary", () => {
    const query = `SELECT * FROM compressed_summaries
WHERE chat_id = ? AND status = 'active'
ORDER BY compressed_at DESC`
    expect(rows(fifty, query, "chat")).toMatchObject([
      { chat_id: "chat", status: "active", summary: "summary 3" },
    ])
    expect(rows(fifty, query, "nobody")).toEqual([])
  })

  it("4.28 ORDER BY compressed_at DESC has the newest one first", () => {
    const newest = rows(fifty, "SELECT summary FROM compressed_summaries ORDER BY compressed_at DESC LIMIT 1")
    expect(newest).toEqual([{ summary: "summary 3" }])
  })
})

describe("the effect: fifty messages, every ten compacted", () => {
  /** A text says how many tokens it takes. A message of the chat takes four more for being one. */
  const saying: TokenCounter.Service = {
    name: "saying",
    count: (said) => [...said.matchAll(/(\d+) tokens/g)].reduce((sum, [, tokens]) => sum + Number(tokens), 0),
  }
  const chat = Array.from({ length: 50 }, (_, index) =>
    index % 2 === 0 ? Message.user("46 tokens") : Message.assistant("46 tokens"),
  )

  /** What is sent in the end, by sections, where the summarizer writes so much each time. */
  const sent = (fold: SummaryMode.SummaryMode, sizes: ReadonlyArray<number>) => {
    let call = 0
    const summarizer: Summarizer.Service = {
      name: "sized",
      summarize: () => Effect.sync(() => ({ text: `${sizes[call++]} tokens` })),
    }
    return on(
      fresh(),
      async (memory) => {
        await each(memory, "chat", chat)
        const { layout, tokens } = await memory.context("chat")
        const sizesOf = (await memory.summaries("chat")).map((one) => one.tokens)
        return { calls: call, layout, tokens, sizesOf }
      },
      { strategy: everyTen(fold), summarizer, tokenCounter: saying },
    )
  }
  // The one message that summaries are sent in takes four tokens by itself, as all messages do.
  const independent = once(() => sent(SummaryMode.blocks, [96, 100, 100, 100]))
  const rolling = once(() => sent(SummaryMode.rolling, [96, 110, 130, 146]))

  it("4.29 before: 100 + 100 + 100 + 100 + 500 = 900 tokens", async () => {
    const { calls, layout, sizesOf, tokens } = await independent()
    expect(calls).toBe(4)
    expect(sizesOf).toEqual([100, 200, 300, 400])
    expect(layout).toMatchObject([
      { section: "summary", from: 0, to: 40, tokens: 400 },
      { section: "uncovered", from: 40, to: 50, tokens: 500 },
    ])
    expect(tokens).toBe(900)
  })

  it("4.30 after: 150 + 500 = 650 tokens", async () => {
    const { calls, layout, tokens } = await rolling()
    expect(calls).toBe(4)
    expect(layout).toMatchObject([
      { section: "summary", from: 0, to: 40, tokens: 150 },
      { section: "uncovered", from: 40, to: 50, tokens: 500 },
    ])
    expect(tokens).toBe(650)
  })

  it("4.31 saved: (900 - 650) / 900 = 27.8 %", async () => {
    const [before, after] = [(await independent()).tokens, (await rolling()).tokens]
    expect(`${(((before - after) / before) * 100).toFixed(1)} %`).toBe("27.8 %")
  })
})

describe("what the design tests", () => {
  it("4.32 the old summary is marked superseded: the query for all summaries of a chat", () => {
    const query = `SELECT id, status, compressed_at,
       LENGTH(summary) as summary_length,
       json_array_length(message_ids) as message_count
FROM compressed_summaries
WHERE chat_id = ?
ORDER BY compressed_at ASC;`
    expect(rows(fifty, query, "chat")).toMatchObject([
      { status: "superseded", summary_length: 9, message_count: 10 },
      { status: "superseded", summary_length: 9, message_count: 20 },
      { status: "active", summary_length: 9, message_count: 30 },
    ])
  })

  it("4.33 there is one active summary: the query that counts them", () => {
    const query = `SELECT COUNT(*) as active_count
FROM compressed_summaries
WHERE chat_id = ? AND status = 'active';`
    expect(rows(fifty, query, "chat")).toEqual([{ active_count: 1 }])
  })

  /** A chat in which each ten messages have a fact of their own, summarized without a model. */
  const facts = ["KX-4471", "VB-2093", "QT-8815", "ZM-6620"]
  const told = once(() =>
    on(
      fresh(),
      async (memory) => {
        const chat = Array.from({ length: 50 }, (_, index) => {
          const fact = facts[Math.floor(index / 10)]
          const said =
            index % 10 === 0 && fact !== undefined
              ? `My parcel number ${index / 10 + 1} has the number ${fact}, please write it down.`
              : `Well, that is how it is, and we can go on with the next thing now, number ${index}.`
          return index % 2 === 0 ? Message.user(said) : Message.assistant(said)
        })
        await each(memory, "chat", chat)
        return (await memory.summaries("chat")).at(-1)
      },
      { summarizer: ExtractiveSummarizer.make() },
    ),
  )

  it("4.34 coherence: the newest active summary can be read", async () => {
    expect(await told()).toMatchObject({ status: "active", coveredTo: 40, supersededBy: null })
  })

  it("4.35 coherence: it has the key facts of all messages before", async () => {
    const newest = await told()
    for (const fact of facts) expect(newest?.text).toContain(fact)
  })

  it("4.36 coherence: it repeats nothing", async () => {
    const newest = await told()
    for (const fact of facts) expect(newest?.text.split(fact)).toHaveLength(2)
  })
})

describe("notes", () => {
  /** What the older program left: fifty messages, and four summaries that are all active. */
  const old = {
    messages: messages(1, 50).map((message, index) => ({
      id: `m${index + 1}`,
      role: message.role,
      content: Message.text(message),
      created_at: 1_774_000_000_000 + index * 60_000,
    })),
    summaries: [1, 2, 3, 4].map((number) => ({
      id: `summary-${number}`,
      chat_id: "old",
      summary: `They spoke of the messages up to ${number * 10}.`,
      status: "active",
      message_ids: Array.from({ length: 10 }, (_, index) => `m${(number - 1) * 10 + index + 1}`),
      compressed_at: 1_774_000_000_000 + number * 600_000,
    })),
  }

  /** What becomes of what was imported when the conversation goes on. */
  const goneOnWith = async (file: string) => {
    const { requests, summarizer } = numbering()
    const found = await on(
      file,
      async (memory) => {
        const before = await memory.context("old")
        await memory.append("old", messages(51, 60))
        return { before, after: await memory.context("old") }
      },
      { summarizer },
    )
    return { ...found, requests }
  }

  it("4.37 several summaries that are active from before are dealt with at the next compaction", async () => {
    const [file, json] = [fresh(), fresh("json")]
    writeFileSync(json, JSON.stringify(old))
    const imported = await memfold(
      "import",
      "--from",
      "rolling",
      json,
      "--session",
      "old",
      "--store",
      `sqlite:${file}`,
    )
    expect(imported).toMatchObject({ code: 0, err: "" })
    const { before, after, requests } = await goneOnWith(file)
    const [summary = ""] = textsOf(before)
    for (const { summary: said } of old.summaries) expect(summary).toContain(said)
    expect(requests).toHaveLength(1)
    for (const { summary: said } of old.summaries) expect(requests[0]?.previous).toContain(said)
    expect(textsOf(after)[0]).toBe("[Conversation Summary]\nsummary 1")
    expect(rows(file, "SELECT count(*) AS n FROM summaries WHERE is_active = 1")).toEqual([{ n: 1 }])
  })

  it("4.38 nobody moves data by hand: a database of before is read as it is", async () => {
    const [file, database] = [fresh(), fresh()]
    change(
      database,
      `CREATE TABLE compressed_summaries
         (id TEXT, chat_id TEXT, summary TEXT, status TEXT, compressed_at INTEGER, message_ids TEXT);
       CREATE TABLE messages (id TEXT, chat_id TEXT, role TEXT, content TEXT, created_at INTEGER);`,
    )
    const quoted = (value: unknown) => `'${String(value).replaceAll("'", "''")}'`
    for (const one of old.messages) {
      const values = [one.id, "old", one.role, one.content, one.created_at].map(quoted)
      change(database, `INSERT INTO messages VALUES (${values.join(", ")})`)
    }
    for (const one of old.summaries) {
      const ids = JSON.stringify(one.message_ids)
      const values = [one.id, one.chat_id, one.summary, one.status, one.compressed_at, ids].map(quoted)
      change(database, `INSERT INTO compressed_summaries VALUES (${values.join(", ")})`)
    }
    const imported = await memfold("import", "--from", "rolling", database, "--store", `sqlite:${file}`)
    expect(imported).toMatchObject({ code: 0, err: "" })
    const { before, after } = await goneOnWith(file)
    expect(layoutOf(before)).toEqual(["summary [0,40)", "uncovered [40,50)"])
    expect(layoutOf(after)).toEqual(["summary [0,50)", "uncovered [50,60)"])
  })

  it("4.39 the old summary goes to the model each time, and all in all it is less", async () => {
    const half = { name: "half", count: (said: string) => Math.ceil(said.length / 2) }
    const total = async (fold: SummaryMode.SummaryMode) =>
      on(
        fresh(),
        async (memory) => {
          let tokens = 0
          for (const message of messages(1, 120)) {
            await memory.append("chat", message)
            tokens += (await memory.context("chat")).tokens
          }
          return tokens
        },
        {
          strategy: everyTen(fold),
          tokenCounter: half,
          summarizer: async () =>
            "A summary of a hundred characters or so, as the design has them in its example of 50.",
        },
      )
    expect(asked.slice(1).every(({ previous }) => previous !== undefined)).toBe(true)
    expect(await total(SummaryMode.rolling)).toBeLessThan(await total(SummaryMode.blocks))
  })

  it("4.40 the quality depends on the model: a stronger one can be given for compactions", async () => {
    const strong: Summarizer.Service = {
      name: "a stronger model",
      summarize: () => Effect.succeed({ text: "well said" }),
    }
    await on(
      fresh(),
      async (memory) => {
        await memory.append("chat", messages(1, 20))
        const events = memory.events("chat", { fromVersion: 22 })
        for await (const { event } of events) expect(event).toMatchObject({ summarizer: "a stronger model" })
        expect(textsOf(await memory.context("chat"))[0]).toBe("[Conversation Summary]\nwell said")
      },
      { summarizer: strong },
    )
  })
})

describe("in short", () => {
  it("4.41 one active summary a chat, however long it goes on", async () => {
    const { layout, summaries } = await on(fresh(), async (memory) => {
      await memory.append("chat", messages(1, 300))
      return { layout: layoutOf(await memory.context("chat")), summaries: await memory.summaries("chat") }
    })
    expect(summaries).toHaveLength(29)
    expect(summaries.filter(({ status }) => status === "active")).toHaveLength(1)
    expect(layout).toEqual(["summary [0,290)", "uncovered [290,300)"])
  })
})
