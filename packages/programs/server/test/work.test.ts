/** Work that one client asks for: how much is taken, what it counts as, and what others wait meanwhile. */
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { codecs, type Formats } from "@memfold/catalog"
import { Message } from "@memfold/core"
import { cpuTime } from "@memfold/harness/cpuTime"
import { deep } from "@memfold/harness/depth"
import { Effect } from "effect"
import { makeToken } from "../src/index.js"
import { contextIn } from "../src/contexts.js"
import { workOf } from "../src/limits.js"
import { decoded } from "../src/requests.js"
import { ask, started } from "./services.js"

const texts = (count: number): ReadonlyArray<Record<string, string>> =>
  Array.from({ length: count }, (_, at) => ({ role: at % 2 === 0 ? "user" : "assistant", content: `m${at}` }))

/** Turns of an agent: a question, a call, its result, an answer. */
const tools = (count: number): ReadonlyArray<object> =>
  Array.from({ length: count }, (_, at) => {
    const call = { id: `c${at}`, type: "function", function: { name: "look", arguments: `{"at":${at}}` } }
    return [
      { role: "user", content: `m${at}` },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: `c${at - 1}`, content: `found ${at}` },
      { role: "assistant", content: `m${at}` },
    ][at % 4]!
  })

const sentences = (count: number): string =>
  Array.from({ length: count }, (_, at) => `The order m${at} has word${at % 999}.`).join(" ")

/** The most CPU time, in milliseconds, that passed between two turns of the event loop while something ran: other processes take none of it. */
const longestHold = async (work: () => Promise<unknown>): Promise<number> => {
  let [longest, isOver] = [0, false]
  let before = process.cpuUsage()
  const turn = (): void => {
    const { user, system } = process.cpuUsage(before)
    before = process.cpuUsage()
    longest = Math.max(longest, (user + system) / 1_000)
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  isOver = true
  return longest
}

describe("a body", () => {
  it("has at most 10,000 items in a list and 100,000 in all, and is refused before it is parsed", async () => {
    const { url } = await started()
    const path = `${url}/v1/sessions/s/messages`
    for (const body of [
      { messages: texts(10_001) },
      {
        messages: [
          {
            role: "user",
            content: "x",
            ...Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [at, 0])),
          },
        ],
      },
      { messages: texts(9_000).map((one) => ({ ...one, a: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] })) },
    ]) {
      const { status, body: told } = await ask(path, { body })
      expect([status, told]).toMatchObject([413, { type: "urn:memfold:TooMany" }])
    }
    expect(await ask(path, { body: { messages: texts(1_000) } })).toMatchObject({ status: 201 })
  })

  it("may have many commas and brackets in its texts", async () => {
    const { url } = await started()
    const messages = [{ role: "user", content: ',[{"\\'.repeat(50_000) }]
    expect(await ask(`${url}/v1/sessions/s/messages`, { body: { messages } })).toMatchObject({ status: 201 })
  })
})

describe("a text that is traced", () => {
  it("has at most 1,000 sentences and 200,000 characters", async () => {
    const { url } = await started()
    await ask(`${url}/v1/sessions/s/messages`, { body: { messages: texts(2) } })
    for (const text of [sentences(1_001), "a".repeat(200_001), ".".repeat(2 ** 20)])
      expect(await ask(`${url}/v1/sessions/s/trace`, { body: { text } })).toMatchObject({
        status: 400,
        body: { type: "urn:memfold:InvalidInput" },
      })
    expect(await ask(`${url}/v1/sessions/s/trace`, { body: { text: sentences(1_000) } })).toMatchObject({
      status: 200,
    })
    expect(await ask(`${url}/v1/sessions/s/trace`, { body: { text: ".".repeat(200_000) } })).toMatchObject({
      status: 200,
    })
  })
})

describe("a call whose arguments are more than is parsed", () => {
  const formats = Object.keys(codecs) as ReadonlyArray<keyof Formats>
  const tooMuch: ReadonlyArray<readonly [what: string, text: string]> = [
    ["lists in lists", `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`],
    ["many items", `{"a":[${"{},".repeat(3 * 2 ** 20)}{}]}`],
  ]

  it.each(tooMuch)("L19: is answered in every format: %s", async (_, text) => {
    const { url } = await started()
    const call = { id: "c", type: "function", function: { name: "look", arguments: text } }
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c", content: "found" },
    ]
    expect(await ask(`${url}/v1/sessions/s/messages`, { body: { messages } })).toMatchObject({ status: 201 })
    for (const format of formats)
      for (const path of ["context", "messages"]) {
        const passed = cpuTime()
        const { status, body } = await ask(`${url}/v1/sessions/s/${path}?format=${format}`)
        const isThere = JSON.stringify(body).includes(text.slice(5, 1_000))
        const answer = { status, isThere, isQuick: passed() < 1_000 }
        expect([format, path, answer]).toEqual([format, path, { status: 200, isThere: true, isQuick: true }])
      }
  })
})

describe("the rate of a token", () => {
  it("counts work: a request of many messages counts as many", async () => {
    const { token, stored } = makeToken({ tenant: "acme", rights: ["read", "write"] })
    const { token: other, stored: otherStored } = makeToken({ tenant: "other", rights: ["read", "write"] })
    // Of a clock that stands still, nobody is given time.
    const still = vi.spyOn(Date, "now").mockReturnValue(Date.now())
    onTestFinished(() => still.mockRestore())
    const { url } = await started({ tokens: [stored, otherStored], rate: 100 })
    const append = async (session: string, count: number, as = token) => {
      const body = { messages: texts(count) }
      const headers = { authorization: `Bearer ${as}` }
      return (await ask(`${url}/v1/sessions/${session}/messages`, { body, headers })).status
    }
    expect(workOf("", { items: 30_000 })).toBe(1)
    expect(await Promise.all(["a", "b", "c"].map((session) => append(session, 9_000)))).toContain(429)
    expect(await append("d", 1)).toBe(429)
    expect(await append("d", 1, other)).toBe(201)
    // More than the work of 18,000 messages, less what a second has.
    still.mockReturnValue(Date.now() + 1_500)
    expect(await append("d", 1)).toBe(201)
  })
})

/** How often the event loop goes on while something runs, on a machine so slow that each look at the clock is late. */
const turnsDuring = async (work: Effect.Effect<unknown, Error>): Promise<number> => {
  let [time, turns, isOver] = [Date.now(), 0, false]
  const clock = vi.spyOn(Date, "now").mockImplementation(() => (time += 11))
  const turn = (): void => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  try {
    await Effect.runPromise(work)
  } finally {
    clock.mockRestore()
    isOver = true
  }
  return turns
}

describe("a list of 640 messages", () => {
  /** Turns of an agent with a tool: no message but the user's is a mere text. */
  const messages = Array.from({ length: 160 }, (_, at): ReadonlyArray<Message.Message> => [
    Message.user(`Question ${at}`),
    Message.call([{ id: `c${at}`, name: "look", arguments: `{"at":${at}}` }]),
    Message.result({ id: `c${at}`, output: `found ${at}` }),
    { role: "assistant", parts: [{ type: "text", text: `Answer ${at}` }] },
  ]).flat()
  const prefix = { version: 640, total: 640, head: "" }
  const context = {
    messages,
    sources: messages.map((_, at) => at),
    layout: [],
    tokens: 0,
    prefix,
    cacheMarks: [],
  }
  // What the memory itself has is neither decoded nor encoded.
  const formats = (Object.keys(codecs) as ReadonlyArray<keyof Formats>).filter((one) => one !== "memfold")

  it.each(formats)("lets others go on while it is decoded and encoded: %s", async (format) => {
    const { messages: list } = await Effect.runPromise(contextIn(format, context))
    const given = format === "anthropic" ? (list as { readonly messages: unknown }).messages : list
    expect(await turnsDuring(decoded({ format }, given))).toBeGreaterThan(20)
    expect(await turnsDuring(contextIn(format, context))).toBeGreaterThan(20)
  })
})

describe("a message of 20,000 parts", () => {
  const ids = Array.from({ length: 20_000 }, (_, at) => `c${at}`)
  const calls = (of: (id: string) => string): Message.Message => ({
    role: "assistant",
    parts: ids.map((id) => ({ type: "tool-call", id: of(id), name: "look", arguments: "{}" })),
  })
  const results = (of: (id: string) => string): Message.Message => ({
    role: "tool",
    parts: ids.toReversed().map((id) => ({ type: "tool-result", id: of(id), output: "found" })),
  })
  const items = (type: string, of: (id: string) => object): Message.Message => ({
    role: "assistant",
    parts: [
      ...ids.map((id) => ({
        type: "opaque" as const,
        provider: "openai-responses",
        data: { type, status: "completed", ...of(id) },
      })),
      { type: "text", text: "Found." },
    ],
  })
  const action = { type: "search", query: "q" }
  const crowds: Readonly<Record<string, ReadonlyArray<Message.Message>>> = {
    calls: [calls((id) => id), results((id) => id)],
    "calls with one id": [calls(() => "c"), results(() => "c")],
    "calls without a result": [calls((id) => id), Message.user("Stop.")],
    reasoning: [items("reasoning", (id) => ({ id, summary: [], encrypted_content: "e" }))],
    "items with one id": [items("web_search_call", (id) => ({ id: "w", action: { ...action, query: id } }))],
    thoughts: [
      {
        role: "assistant",
        parts: ids.map((signature) => ({
          type: "opaque",
          provider: "anthropic",
          data: { type: "thinking", thinking: "t", signature },
        })),
      },
      Message.user("Go on."),
      Message.system("Be brief."),
    ],
  }
  const formats = Object.keys(codecs) as ReadonlyArray<keyof Formats>

  it.each(Object.entries(crowds))(
    "L19: takes a time in line with them in every format: %s",
    async (_, messages) => {
      const prefix = { version: 1, total: messages.length, head: "" }
      const sources = messages.map((__, at) => at)
      for (const format of formats) {
        const passed = cpuTime()
        await Effect.runPromise(
          contextIn(format, { messages, sources, layout: [], tokens: 0, prefix, cacheMarks: [] }),
        )
        expect([format, passed()]).toEqual([format, expect.toSatisfy((ms: number) => ms < 1_500)])
      }
    },
  )
})

describe.runIf(deep)("what one client asks for", () => {
  it("holds the event loop no longer than 50 ms at a time", async () => {
    const { url } = await started()
    const works: ReadonlyArray<readonly [string, string, unknown]> = [
      ["POST", "a/messages", { messages: texts(9_999) }],
      ["PUT", "b/messages", { messages: texts(9_999) }],
      ["PUT", "b/messages", { messages: texts(9_998) }],
      ["POST", "b/trace", { text: sentences(1_000) }],
      ["POST", "c/messages", { messages: tools(9_999) }],
      ...["openai", "openai-responses", "anthropic", "memfold"].map(
        (format) => ["GET", `c/context?format=${format}`, undefined] as const,
      ),
      ["POST", "b/recall", { query: sentences(10) }],
    ]
    for (const [method, path, body] of works) {
      const holds: Array<number> = []
      // The first one compiles the code; any may have the collector of garbage in it.
      for (let run = 0; run < 4; run++)
        holds.push(await longestHold(() => ask(`${url}/v1/sessions/${run}-${path}`, { method, body })))
      expect.soft({ path, holds: Math.min(...holds) < 50 }).toEqual({ path, holds: true })
    }
  })
})
