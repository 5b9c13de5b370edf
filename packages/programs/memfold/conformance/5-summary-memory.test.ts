/** Reference design 5, the summary memory, row by row; the rows are in docs/conformance.md. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { createMemory, type CreateOptions } from "../src/index.js"
import { chat, contentsOf, gather, held, inFolder, oneByOne, text, toolUse, until, watched } from "./talk.js"

const open = (options: Partial<CreateOptions> = {}) =>
  createMemory({
    store: "memory:",
    strategy: "rolling-buffer",
    settings: { buffer_size: 4 },
    summarizer: "echo",
    ...options,
    compaction: { mode: "inline", ...options.compaction },
  })

/** The texts of the messages in `[from, to)`. */
const texts = (from: number, to: number) => chat(to - from, from).map(({ content }) => content)

describe("summary memory", () => {
  it("5.1 older messages become one rolling summary, written by a model", async () => {
    const model = watched()
    const memory = open({ summarizer: model.summarizer })
    await oneByOne(memory, "s", chat(30), async () => {})
    const summaries = await memory.summaries("s")
    expect(summaries.map(({ text, status }) => [text, status])).toEqual([
      ["[0,5)", "superseded"],
      ["[0,10)", "superseded"],
      ["[0,15)", "superseded"],
      ["[0,20)", "superseded"],
      ["[0,25)", "active"],
    ])
    expect(model.requests.length).toBe(5)
  })

  it("5.2 recent messages stay word for word", async () => {
    const memory = open()
    await oneByOne(memory, "s", chat(30), async (position) => {
      const recent = Math.min(position + 1, 4)
      const contents = contentsOf(await memory.context("s"))
      expect(contents.slice(-recent)).toEqual(texts(position + 1 - recent, position + 1))
    })
  })

  it("5.3 the summary is one system message", async () => {
    const memory = open()
    await oneByOne(memory, "s", chat(30), async () => {})
    const { messages } = await memory.context("s")
    expect(messages.filter(({ role }) => role === "system")).toEqual([messages[0]])
  })
})

describe("use", () => {
  it("5.4 it is made of a store, a model and a buffer size", async () => {
    const memory = createMemory({
      store: "memory:",
      summarizer: async () => "what they said",
      strategy: "rolling-buffer",
      settings: { buffer_size: 4 },
      compaction: { mode: "inline" },
    })
    await memory.append("user-1", chat(9))
    expect(contentsOf(await memory.context("user-1"))).toEqual([
      "Summary of earlier conversation: what they said",
      ...texts(5, 9),
    ])
  })

  it("5.5 the example: four messages with a buffer of 4 come back as they are", async () => {
    const memory = open()
    const said = [
      { role: "user" as const, content: "Tell me about Rust." },
      { role: "assistant" as const, content: "Rust is a systems programming language..." },
      { role: "user" as const, content: "What about ownership?" },
      { role: "assistant" as const, content: "Ownership is Rust's core memory model..." },
    ]
    for (const message of said) await memory.append("user-1", message)
    expect((await memory.context("user-1")).messages).toEqual(said)
    expect(await memory.summaries("user-1")).toEqual([])
  })

  it("5.6 sessions have a memory each", async () => {
    const memory = open()
    await memory.append("user-1", chat(9))
    await memory.append("user-2", chat(3))
    expect(contentsOf(await memory.context("user-1"))).toEqual([
      "Summary of earlier conversation: [0,5)",
      ...texts(5, 9),
    ])
    expect(contentsOf(await memory.context("user-2"))).toEqual(texts(0, 3))
  })
})

describe("how it works", () => {
  it("5.7 append() stores the message first, then looks at how many there are", async () => {
    const memory = open({
      summarizer: async () => {
        throw new Error("the model is down")
      },
      compaction: { summarizerRetries: 0 },
    })
    await oneByOne(memory, "s", chat(12), async (position) => {
      expect(contentsOf(await memory.context("s"))).toEqual(texts(0, position + 1))
    })
    const events = await gather(memory.events("s", { fromVersion: 9, toVersion: 11 }))
    expect(events.map(({ event }) => event._tag)).toEqual([
      "MessageAppended",
      "CompactionStarted",
      "CompactionFailed",
    ])
  })

  it("5.8 the trigger: more than buffer_size * 2 messages", async () => {
    for (const [bufferSize, last, first] of [
      [1, 2, 3],
      [4, 8, 9],
      [10, 20, 21],
    ] as const) {
      const memory = open({ settings: { buffer_size: bufferSize } })
      await oneByOne(memory, "s", chat(last), async () => {})
      expect(await memory.summaries("s")).toEqual([])
      await memory.append("s", chat(first - last, last))
      expect(await memory.summaries("s")).toMatchObject([{ total: first }])
    }
  })

  it("5.9 what is recent: the last buffer_size messages; what is older: all before them", async () => {
    const memory = open({ settings: { buffer_size: 3 } })
    await memory.append("s", chat(20))
    const { coveredTo, uncovered } = await memory.state("s")
    expect([coveredTo, uncovered.length]).toEqual([17, 3])

    // A call and its results are not parted: all of them are recent when the last of them is.
    await memory.append("calls", [...chat(5), ...toolUse(2), ...chat(2, 5)])
    expect((await memory.state("calls")).coveredTo).toBe(5)
  })

  it("5.10 the older messages go to the model, with a prompt that asks for a concise summary", async () => {
    const asked: Array<{ readonly system: string; readonly user: string }> = []
    const memory = open({
      summarizer: async (prompt) => {
        asked.push(prompt)
        return "short"
      },
    })
    await memory.append("s", chat(9))
    expect(asked.length).toBe(1)
    const [{ system, user } = { system: "", user: "" }] = asked
    expect(system).toMatch(/write a summary/i)
    expect(system).toMatch(/leave out greetings, repetitions/i)
    expect(system).toMatch(/stay under \d+ tokens/i)
    expect(texts(0, 5).filter((content) => !user.includes(content))).toEqual([])
    expect(texts(5, 9).filter((content) => user.includes(content))).toEqual([])
  })

  it("5.11 a summary that is there already goes along, as context of the new one", async () => {
    const asked: Array<string> = []
    const memory = open({
      summarizer: async ({ user }) => {
        asked.push(user)
        return `they came to point ${asked.length}`
      },
    })
    await oneByOne(memory, "s", chat(14), async () => {})
    expect(asked.length).toBe(2)
    expect(asked[0]).not.toContain("they came to point")
    expect(asked[1]).toContain("they came to point 1")
    expect(texts(5, 10).filter((content) => !asked[1]?.includes(content))).toEqual([])
    expect(texts(0, 5).filter((content) => asked[1]?.includes(content))).toEqual([])
  })

  it("5.12 afterwards only the recent messages are at hand, and the count begins with them", async () => {
    const memory = open()
    const at = await oneByOne(memory, "s", chat(24), async () => (await memory.state("s")).uncovered.length)
    expect(at).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 4, 5, 6, 7, 8, 4, 5, 6, 7, 8, 4, 5, 6, 7, 8, 4])
  })

  it("5.13 load() gives the stored messages, after a system message with the summary", async () => {
    const memory = open({ summarizer: async () => "Ada plans a trip to Graz." })
    await memory.append("s", chat(9))
    expect((await memory.context("s")).messages).toEqual([
      { role: "system", content: "Summary of earlier conversation: Ada plans a trip to Graz." },
      ...chat(4, 5),
    ])
  })

  it("5.14 load() gives the stored messages alone while there is no summary", async () => {
    const memory = open()
    expect((await memory.context("s")).messages).toEqual([])
    await memory.append("s", chat(8))
    expect((await memory.context("s")).messages).toEqual(chat(8))
  })

  it("5.15 clear() removes the session's messages and its summary, and no other session's", async () => {
    const memory = open()
    await memory.append("s", chat(9))
    await memory.append("other", chat(9))
    await memory.clear("s")
    expect((await memory.context("s")).messages).toEqual([])
    expect(await memory.state("s")).toMatchObject({ total: 0, summary: null })
    expect((await memory.context("other")).messages.length).toBe(5)
    await memory.append("s", chat(8))
    expect((await memory.context("s")).messages).toEqual(chat(8))
    expect(await memory.delete("s")).toBe(true)
    expect(await gather(memory.events("s"))).toEqual([])
  })
})

describe("parameters", () => {
  it("5.16 store: where the messages are kept", () =>
    inFolder(async (folder) => {
      const path = join(folder, "chats.db")
      const memory = open({ store: `sqlite:${path}` })
      await memory.append("s", chat(14))
      const before = await memory.context("s")
      await memory.close()
      expect(existsSync(path)).toBe(true)
      const again = open({ store: `sqlite:${path}` })
      expect(await again.context("s")).toEqual(before)
      expect(contentsOf(before)).toEqual(["Summary of earlier conversation: [0,10)", ...texts(10, 14)])
      await again.close()
    }))

  it("5.17 model: what writes the summaries", async () => {
    for (const answer of ["one model's words", "another model's words"]) {
      const memory = open({ summarizer: async () => answer })
      await memory.append("s", chat(9))
      expect(contentsOf(await memory.context("s"))[0]).toBe(`Summary of earlier conversation: ${answer}`)
    }
  })

  it("5.18 buffer_size: how many of the newest messages stay word for word", async () => {
    for (const bufferSize of [1, 2, 7]) {
      const memory = open({ settings: { buffer_size: bufferSize } })
      await memory.append("s", chat(40))
      expect(contentsOf(await memory.context("s"))).toEqual([
        `Summary of earlier conversation: [0,${40 - bufferSize})`,
        ...texts(40 - bufferSize, 40),
      ])
    }
  })
})

describe("where it fits, and what it costs", () => {
  it("5.19 a very long conversation keeps the context of its whole history", async () => {
    const memory = open({
      // A model that keeps the order number, wherever in the prompt it is, and nothing else.
      summarizer: async ({ user }) => /order KX-\d+/.exec(user)?.[0] ?? "small talk",
    })
    await memory.append("s", { role: "user", content: "My order KX-4471 has not come, what can be done?" })
    await oneByOne(memory, "s", chat(500, 1), async () => {})
    expect(contentsOf(await memory.context("s"))[0]).toBe("Summary of earlier conversation: order KX-4471")
    const { total, coveredTo, uncovered } = await memory.state("s")
    expect([total, coveredTo + uncovered.length]).toEqual([501, 501])
  })

  it("5.20 the model is called when the buffer overflows, and not at every append", async () => {
    const model = watched()
    const memory = open({ summarizer: model.summarizer })
    const calls = await oneByOne(memory, "s", chat(24), async () => model.requests.length)
    expect(calls.join("")).toBe("000000001111122222333334")
  })

  it("5.21 the tokens stay about the same, however long the conversation gets", async () => {
    const memory = open({ summarizer: "extractive" })
    const tokens = await oneByOne(memory, "s", chat(300), async () => (await memory.context("s")).tokens)
    const largest = (from: number, to: number) => Math.max(...tokens.slice(from, to))
    expect(largest(200, 300)).toBeLessThan(largest(100, 200) * 1.1)
    expect(largest(200, 300)).toBeLessThan(1_200)
  })

  it("5.22 a summary loses details, the log does not", async () => {
    const memory = open({ summarizer: async () => "they talked" })
    await oneByOne(memory, "s", chat(9), async () => {})
    expect(contentsOf(await memory.context("s"))).not.toContain(text(0))
    expect(contentsOf(await memory.context("s", { atVersion: 9 }))).toEqual(texts(0, 9))
  })

  it("5.23 each summary is one call of its own, of a model that need not be the chat's", async () => {
    const model = watched()
    const memory = open({ summarizer: model.summarizer })
    await oneByOne(memory, "s", chat(14), async () => {})
    expect((await memory.summaries("s")).length).toBe(2)
    expect(model.requests.length).toBe(2)
    const events = await gather(memory.events("s"))
    const commits = events.flatMap(({ event }) => (event._tag === "SummaryCommitted" ? [event] : []))
    expect(commits.map(({ calls, summarizer }) => [calls, summarizer])).toEqual([
      [1, "watched"],
      [1, "watched"],
    ])
  })

  it("5.24 the append that overflows the buffer waits for the model, or does not, as one chooses", async () => {
    for (const [compaction, waits] of [
      ["inline", true],
      ["background", false],
    ] as const) {
      const model = held()
      const memory = open({ compaction: { mode: compaction }, summarizer: model.ask })
      await memory.append("s", chat(8))
      let returned = false
      const appending = memory.append("s", chat(1, 8)).then(() => (returned = true))
      await until(() => model.asked.length === 1 && (waits || returned))
      expect(returned).toBe(!waits)
      model.letGo()
      await appending
      await until(async () => (await memory.state("s")).coveredTo === 5)
      await memory.close()
    }
  })
})

describe("its neighbours", () => {
  it("5.25 Window Memory: exactly the recent messages, and no model", async () => {
    const model = watched()
    const memory = open({ strategy: "window", settings: { window_size: 6 }, summarizer: model.summarizer })
    await oneByOne(memory, "s", chat(30), async (position) => {
      const to = position + 1
      expect(contentsOf(await memory.context("s"))).toEqual(texts(Math.max(to - 6, 0), to))
    })
    expect(model.requests).toEqual([])
  })

  it("5.26 Token Buffer Memory: the recent messages that fit, and no model", async () => {
    const model = watched()
    const memory = open({
      strategy: "token-buffer",
      settings: { max_tokens: 100 },
      summarizer: model.summarizer,
      // A message is 16 tokens, and 4 for being one.
      tokenCounter: { name: "sixteen", count: () => 16 },
    })
    await oneByOne(memory, "s", chat(30), async (position) => {
      const to = position + 1
      expect(contentsOf(await memory.context("s"))).toEqual(texts(Math.max(to - 5, 0), to))
    })
    expect(model.requests).toEqual([])

    // A message that does not fit by itself is sent all the same: it is the one to be answered.
    const [large] = chat(1, 30)
    const small = open({ strategy: "token-buffer", settings: { max_tokens: 1 } })
    await small.append("s", [...chat(2), large!])
    expect(contentsOf(await small.context("s"))).toEqual([large?.content])
  })

  it("5.27 Summary Buffer Memory: the recent messages that fit, and a summary of all before them", async () => {
    const memory = open({
      strategy: "summary-buffer",
      settings: { max_tokens: 100 },
      tokenCounter: { name: "sixteen", count: () => 16 },
    })
    await oneByOne(memory, "s", chat(30), async (position) => {
      const to = position + 1
      const from = Math.max(to - 5, 0)
      expect(contentsOf(await memory.context("s"))).toEqual([
        ...(from === 0 ? [] : [`Summary of earlier conversation: [0,${from})`]),
        ...texts(from, to),
      ])
    })

    const [large] = chat(1, 30)
    const small = open({ strategy: "summary-buffer", settings: { max_tokens: 1 } })
    await small.append("s", [...chat(2), large!])
    expect(contentsOf(await small.context("s"))).toEqual([
      "Summary of earlier conversation: [0,2)",
      large?.content,
    ])
  })
})
