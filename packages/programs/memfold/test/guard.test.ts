/** Every way in passes the guard: what is planted there is in no byte of the store, of the logs, and of what a summarizer was asked. */
import { aiSdk } from "@memfold/ai-sdk"
import { type EventCodec, Guard, Memory, Message, Summarizer } from "@memfold/core"
import { guard } from "@memfold/guard"
import { foundIn, type Planted, planted } from "@memfold/harness/planted"
import { MemfoldChatMessageHistory } from "@memfold/langchain"
import { mcpHandler } from "@memfold/mcp"
import { MemfoldSession } from "@memfold/openai-agents"
import { serve } from "@memfold/server"
import { providerServer } from "@memfold/strict-providers"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { storeLayer } from "@memfold/catalog"
import { Effect, Either, Layer } from "effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import {
  createMemory,
  functionExtractor,
  Keep,
  type PromiseMemory,
  Strategy,
  SummaryMode,
  Trigger,
} from "../src/index.js"

/** Compacts inline, after a few messages. */
const short = Strategy.make({
  name: "short",
  when: Trigger.backlog({ messages: 4 }),
  keep: Keep.lastMessages(2),
  summaryMode: SummaryMode.rolling,
})

const textOf = (secrets: ReadonlyArray<Planted>): string => secrets.map(({ text }) => text).join("\n\n")

interface Way {
  readonly store: `sqlite:${string}`
  readonly text: string
  readonly memory: PromiseMemory<"openai">
  readonly asked: Array<string>
  readonly logged: Array<string>
}

/** A service over the store, in front of a model that repeats what it is told. */
const service = async ({ store, text, asked }: Way) => {
  const provider = await providerServer({
    answer: ({ turn }) => ({ text: turn === 0 ? `You said: ${text}` : "Yes." }),
  })
  const { url, close } = await serve({
    store,
    port: 0,
    log: "none",
    beforeAppend: guard(),
    upstream: provider.anthropicURL,
    mcp: mcpHandler,
    summarizer: async ({ system, user }) => {
      asked.push(system, user)
      return "A summary."
    },
  })
  onTestFinished(async () => {
    await close()
    await provider.close()
  })
  const post = async (path: string, body: unknown, headers = {}) => {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    })
    // MCP answers with a stream of one event.
    const answer = (await response.text()).replace(/^event: message\ndata: /, "")
    if (!response.ok) throw new Error(`${path}: ${response.status} ${answer.slice(0, 300)}`)
    return JSON.parse(answer) as Record<string, unknown>
  }
  return { url, post, provider }
}

const page = (id: string, text: string) => ({
  id,
  role: "user" as const,
  parts: [{ type: "text" as const, text }],
})

const withCore = (
  store: Way["store"],
  use: (memory: Memory.Service) => Effect.Effect<unknown, Error>,
): Promise<void> =>
  Effect.flatMap(Memory.make({ strategy: short, beforeAppend: guard() }), use).pipe(
    Effect.scoped,
    Effect.provide(
      Layer.merge(
        Either.getOrThrow(storeLayer(store)),
        Layer.succeed(Summarizer.Summarizer, ExtractiveSummarizer.make()),
      ),
    ),
    Effect.asVoid,
    Effect.runPromise,
  )

/** Each way in, with what it stores in the session `s`. */
const ways: Readonly<Record<string, (way: Way) => Promise<void>>> = {
  append: async ({ memory, text }) => void (await memory.append("s", { role: "user", content: text })),
  "arguments and results": async ({ memory, text }) => {
    await memory.append("s", [
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "c1", type: "function", function: { name: "run", arguments: JSON.stringify({ text }) } },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: JSON.stringify({ env: text }) },
    ])
  },
  titles: async ({ memory, text }) => {
    await memory.append("s", { role: "user", content: text }, { owner: "ann" })
    const titles = text.match(/[^]{1,1000}(?=\n\n|$)/g)!
    for (const title of titles) {
      await memory.append("s", { role: "user", content: "And?" }, { title })
      await memory.describe("s", { title: `About ${title.slice(0, 990)}` })
    }
    await memory.describe("s", { title: "My card is 4111 1111 1111 1111" })
    const { sessions } = await memory.sessionsOf("ann")
    expect(sessions[0]!.title).toBe("My card is [redacted: card]")
    const events: Array<EventCodec.RecordedEvent> = []
    for await (const one of memory.events("s") as AsyncIterable<EventCodec.RecordedEvent>) events.push(one)
    expect(events.at(-1)!.event).toEqual({
      _tag: "SessionDescribed",
      title: "My card is [redacted: card]",
      guarded: { card: 1 },
    })
  },
  edit: async ({ memory, text }) => {
    await memory.append("s", { role: "user", content: "Hello" })
    await memory.edit("s", 0, { role: "user", content: text })
  },
  rewrite: async ({ memory, text }) => {
    await memory.append("s", { role: "user", content: "Hello" })
    await memory.rewrite("s", (messages) => [...messages, { role: "user", content: text }])
  },
  "an append again with its key": async ({ memory, text }) => {
    const options = { idempotencyKey: "one" }
    await memory.append("s", { role: "user", content: text }, options)
    expect(await memory.append("s", { role: "user", content: text }, options)).toMatchObject({
      duplicate: true,
    })
  },
  "the face with Effect": ({ store, text }) =>
    withCore(store, (memory) => memory.append("s", Message.user(text))),
  "the AI SDK": async ({ memory, text }) => {
    const chat = aiSdk(memory).session("s")
    await chat.messages([page("p1", text)])
    const answer = {
      id: "a1",
      role: "assistant" as const,
      parts: [{ type: "text" as const, text: "Hello." }],
    }
    await chat.append(answer)
    // The page has what it sent, and sends it again.
    await chat.messages([page("p1", text), answer, page("p2", "And now?")])
    expect((await memory.branches("s")).length).toBe(1)
    expect((await memory.messages("s")).total).toBe(3)
    await chat.messages([page("p1", `${text} Sorry.`)])
    expect((await memory.branches("s")).length).toBe(2)
  },
  LangChain: async ({ memory, text }) => {
    const { HumanMessage } = await import("@langchain/core/messages")
    await new MemfoldChatMessageHistory({ memory, session: "s" }).addMessages([new HumanMessage(text)])
  },
  "the OpenAI Agents SDK": async ({ memory, text }) => {
    await new MemfoldSession(memory, "s").addItems([{ role: "user", content: text }])
  },
  "the service": async (way) => {
    const { post } = await service(way)
    await post("/v1/sessions/s/messages", { messages: [{ role: "user", content: way.text }] })
  },
  "the proxy": async (way) => {
    const { post, provider } = await service(way)
    const user = { role: "user", content: way.text }
    const ask = (messages: ReadonlyArray<unknown>) =>
      post(
        "/v1/chat/completions",
        { model: "gpt-6.2-sol", messages },
        { "x-session-id": "s", authorization: "Bearer k" },
      )
    type Answer = { choices: ReadonlyArray<{ message: { content: string } }> }
    const { choices } = (await ask([user])) as unknown as Answer
    const { content } = choices[0]!.message
    expect(content).toContain(way.text)
    // The client has what it sent and what it heard, and sends it again.
    await ask([user, { role: "assistant", content }, { role: "user", content: "Is it?" }])
    expect(JSON.stringify(provider.received.at(-1)!.body)).toContain(JSON.stringify(way.text).slice(1, -1))
    expect((await way.memory.branches("s")).length).toBe(1)
    expect((await way.memory.messages("s")).total).toBe(4)
  },
  "stored responses": async (way) => {
    const { post } = await service(way)
    const headers = { authorization: "Bearer k", "idempotency-key": "one" }
    const body = { model: "gpt-6.2-sol", input: way.text, metadata: { note: "n" }, store: true }
    const first = await post("/v1/responses", body, headers)
    expect((await post("/v1/responses", body, headers))["id"]).toBe(first["id"])
    await post(
      "/v1/responses",
      { model: "gpt-6.2-sol", input: "And now?", previous_response_id: first["id"] },
      headers.authorization ? { authorization: "Bearer k" } : {},
    )
  },
  "the proxy, streamed": async (way) => {
    const { url } = await service(way)
    for (const [path, body] of [
      ["/v1/chat/completions", { messages: [{ role: "user", content: way.text }] }],
      ["/v1/responses", { input: way.text, store: true, instructions: way.text }],
      [
        "/v1/messages",
        { max_tokens: 500, system: way.text, messages: [{ role: "user", content: way.text }] },
      ],
    ] as const) {
      const response = await fetch(`${url}${path}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          authorization: "Bearer k",
          "x-api-key": "k",
          "anthropic-version": "2023-06-01",
          ...(path === "/v1/responses" ? {} : { "x-session-id": path.slice(4) }),
        },
        body: JSON.stringify({
          model: path === "/v1/messages" ? "claude-opus-5" : "gpt-6.2-sol",
          stream: true,
          ...body,
        }),
      })
      const answer = await response.text()
      if (!response.ok) throw new Error(`${path}: ${response.status} ${answer.slice(0, 300)}`)
    }
  },
  conversations: async (way) => {
    const { post } = await service(way)
    const headers = { authorization: "Bearer k" }
    const metadata = Object.fromEntries(
      way.text
        .split("\n\n")
        .filter((one) => one.length <= 512)
        .slice(0, 16)
        .map((one, at) => [`key-${at}`, one]),
    )
    const items = [{ type: "message", role: "user", content: [{ type: "input_text", text: way.text }] }]
    const { id } = await post("/v1/conversations", { metadata, items }, headers)
    await post(`/v1/conversations/${String(id)}`, { metadata }, headers)
    await post(`/v1/conversations/${String(id)}/items`, { items }, headers)
    await post(
      "/v1/responses",
      { model: "gpt-6.2-sol", input: way.text, instructions: way.text, metadata, conversation: id },
      headers,
    )
  },
  "files, names and metadata": async ({ store, text }) =>
    withCore(store, (memory) =>
      memory.append("s", [
        {
          role: "user",
          name: text.slice(0, 60),
          metadata: { text, [text]: { deep: [text, JSON.stringify({ text })] } },
          parts: [
            { type: "text", text },
            {
              type: "file",
              mediaType: "text/plain",
              uri: `data:text/plain;base64,${Buffer.from(text).toString("base64")}`,
              name: text,
            },
            {
              type: "file",
              mediaType: "application/json",
              uri: `data:application/json,${encodeURIComponent(JSON.stringify({ text }))}`,
            },
          ],
        },
        {
          role: "assistant",
          parts: [
            {
              type: "tool-call",
              id: "c1",
              name: "run",
              arguments: JSON.stringify({ a: JSON.stringify({ b: text }) }),
            },
          ],
        },
        {
          role: "tool",
          parts: [
            {
              type: "tool-result",
              id: "c1",
              name: "run",
              output: text,
              isError: true,
              content: [{ type: "text", text }],
            },
          ],
        },
      ] as ReadonlyArray<Message.Message>),
    ),
  "names of calls, and types of files": async ({ store, text }) =>
    withCore(store, (memory) =>
      Effect.forEach(text.split("\n\n"), (name, at) =>
        memory.append("s", [
          { role: "user", parts: [{ type: "file", mediaType: name, uri: "https://example.com/a", name }] },
          { role: "assistant", parts: [{ type: "tool-call", id: `c${at}`, name, arguments: "{}" }] },
          {
            role: "tool",
            parts: [{ type: "tool-result", id: `c${at}`, name, output: name, isError: false }],
          },
        ] as ReadonlyArray<Message.Message>),
      ),
    ),
  "texts in several parts": async ({ store, text }) =>
    withCore(store, (memory) =>
      memory.append(
        "s",
        text.split("\n\n").flatMap((one) =>
          [1, 2, 3].map((third): Message.Message => {
            const at = Math.ceil((one.length * third) / 4)
            return {
              role: "user",
              parts: [
                { type: "text", text },
                { type: "text", text: one.slice(0, at) },
                { type: "text", text: one.slice(at) },
              ],
            }
          }),
        ),
      ),
    ),
  facts: async ({ store, text, asked, logged: _logged }) => {
    const memory = createMemory({
      store,
      strategy: short,
      compaction: { mode: "inline" },
      beforeAppend: guard(),
      layers: {
        extractor: functionExtractor(
          async ({ messages }) => {
            asked.push(JSON.stringify(messages))
            return messages.flatMap((one) =>
              one.role === "user"
                ? [{ predicate: "said", value: one.text.slice(0, 400), quote: one.text.slice(0, 400) }]
                : [],
            )
          },
          { isFree: true },
        ),
      },
      summarizer: async ({ system, user }) => {
        asked.push(system, user)
        return "A summary."
      },
    })
    await memory.append("s", { role: "user", content: text }, { owner: "ann" })
    await memory.append("s", { role: "assistant", content: "Noted." })
    await memory.compact("s", { instructions: text })
    for (const { id } of await memory.factsOf("ann"))
      for (const as of ["ended", "retracted"] as const)
        await memory.removeFact("memfold:user:ann", id, { as, reason: text.slice(0, 900) })
    for (const { id } of await memory.facts("s")) await memory.removeFact("s", id, { reason: text })
    await memory.close()
  },
  MCP: async (way) => {
    const { post } = await service(way)
    const call = {
      name: "append_messages",
      arguments: { session: "s", messages: [{ role: "user", content: way.text }] },
    }
    const { result } = await post(
      "/mcp",
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: call },
      { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18" },
    )
    expect(result).not.toHaveProperty("isError", true)
  },
}

describe("every way in", () => {
  it.each(Object.entries(ways).map(([name, way], at) => [name, way, at] as const))(
    "%s",
    async (_, way, at) => {
      const folder = mkdtempSync(join(tmpdir(), "memfold-guard-"))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      const store = `sqlite:${join(folder, "chats.db")}` as const
      const secrets = planted(100 + at)
      const asked: Array<string> = []
      const logged: Array<string> = []
      const memory = createMemory({
        store,
        strategy: short,
        compaction: { mode: "inline" },
        beforeAppend: guard(),
        logger: (entry) => void logged.push(JSON.stringify(entry)),
        summarizer: async ({ system, user }) => {
          asked.push(system, user)
          return "A summary."
        },
      })
      await way({ store, text: textOf(secrets), memory, asked, logged })
      const counts: Record<string, number> = {}
      const sessions: Array<string> = []
      for await (const { session } of memory.sessions()) sessions.push(session)
      for (const session of sessions) {
        for await (const { event } of memory.events(session) as AsyncIterable<EventCodec.RecordedEvent>)
          if (event._tag === "MessageAppended")
            for (const [kind, count] of Object.entries(event.guarded ?? {}))
              counts[kind] = (counts[kind] ?? 0) + count
        // What comes later is summarized with it.
        for (let n = 0; n < 6; n++)
          await memory.append(session, { role: "user", content: `Question ${n}? `.repeat(9) })
        await memory.recall(session, "redacted aws card")
      }
      expect(sessions.length).toBeGreaterThan(0)
      expect(Object.keys(counts).toSorted()).toEqual([...new Set(secrets.map(({ kind }) => kind))].toSorted())
      expect(asked.length).toBeGreaterThan(0)
      expect(asked.join("\n")).toContain("[redacted: card]")
      const bytes = readdirSync(folder).map((file) => readFileSync(join(folder, file), "latin1"))
      expect(bytes.join("\n")).toContain("[redacted: card]")
      for (const text of [...bytes, ...asked, ...logged]) expect(foundIn(text, secrets)).toEqual([])
      await memory.close()
    },
    60_000,
  )

  it("refuses with nothing half-written", async () => {
    const memory = createMemory({ store: "memory:", beforeAppend: guard({ found: "refuse" }) })
    const [{ text, secret }] = planted(7) as [Planted]
    const messages = [
      { role: "user" as const, content: "Hello" },
      { role: "user" as const, content: text },
    ]
    await memory.append("s", { role: "user", content: "Hello" })
    for (const write of [
      memory.append("s", messages),
      memory.edit("s", 0, messages),
      memory.rewrite("s", () => messages),
    ]) {
      const error: unknown = await write.catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({
        _tag: "GuardRefused",
        session: "s",
        kind: "aws",
        place: expect.stringContaining("parts.0.text"),
      })
      expect(String(error)).not.toContain(secret)
    }
    expect((await memory.messages("s")).total).toBe(1)
    expect((await memory.branches("s")).length).toBe(1)
    await memory.close()
  })

  it("stores nothing if the guard fails", async () => {
    const memory = createMemory({
      store: "memory:",
      beforeAppend: () => {
        throw new Error("said: 4711")
      },
    })
    const error: unknown = await memory
      .append("s", { role: "user", content: "4711" })
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ _tag: "GuardRefused", kind: "guard-failed", place: "message 0" })
    expect(String(error)).not.toContain("4711")
    expect((await memory.messages("s")).total).toBe(0)
    await memory.close()
  })

  it("is told where a message goes, and who appends it", async () => {
    const told: Array<Guard.About> = []
    const memory = createMemory({
      store: "memory:",
      beforeAppend: (_, about) => {
        told.push(about)
        return Guard.keep
      },
    })
    await memory.append("s", { role: "user", content: "Hello" })
    await memory.as({ id: "bot" }).append("s", { role: "user", content: "Hello" }, { owner: "ann" })
    expect(told).toEqual([{ session: "s" }, { session: "s", owner: "ann", actor: "bot" }])
    await memory.close()
  })

  it("keeps appends in their order, however long the guard takes", async () => {
    const waiting: Array<() => void> = []
    const memory = createMemory({
      store: "memory:",
      beforeAppend: (message) =>
        new Promise((resolve) => {
          const answer = () => resolve({ _tag: "Keep" })
          if (Message.text(message) === "first") waiting.push(answer)
          else {
            for (const one of waiting) one()
            answer()
          }
        }),
    })
    const first = memory.append("s", { role: "user", content: "first" })
    const second = memory.append("s", { role: "user", content: "second" })
    const third = memory.append("other", { role: "user", content: "third" })
    await Promise.all([first, second, third])
    expect((await memory.messages("s")).messages).toMatchObject([{ content: "first" }, { content: "second" }])
    await memory.close()
  })
})

it("changes nothing in the shipped transcripts", async () => {
  const samples = new URL("samples/", import.meta.resolve("@memfold/cli/package.json"))
  for (const name of readdirSync(samples)) {
    const messages = readFileSync(new URL(name, samples), "utf8")
      .match(/[^]{1,100000}/g)!
      .map((output) => Message.result({ id: "c1", output }))
    const left = await Effect.runPromise(Guard.guardedBy(guard(), messages, { session: "s" }))
    expect({ name, left }).toEqual({ name, left: messages.map((message) => ({ message })) })
  }
})
