/** Stored responses with the official client, over an upstream that has the Responses API, and over one that has Chat Completions. */
import { conversationRoutes } from "@memfold/proxy"
import { type Answering, scripted } from "@memfold/strict-providers"
import { Effect } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type OpenAI from "openai"
import { afterEach, describe, expect, it } from "vitest"
import { type ConversationServer, conversationServer, type Setting } from "./server.js"

const open: Array<ConversationServer> = []
const start = async (setting: Setting = {}): Promise<ConversationServer> => {
  const server = await conversationServer(setting)
  open.push(server)
  return server
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

const model = "gpt-6.2-sol"
const tools: Array<OpenAI.Responses.Tool> = [
  {
    type: "function",
    name: "weather",
    description: "The weather of a city",
    strict: true,
    parameters: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    },
  },
]

/** What the upstream was sent as texts, whichever API it has. */
const sentTexts = ({ upstream }: ConversationServer, at = -1): ReadonlyArray<string> => {
  const { body } = upstream.received.at(at)!
  const items = (body["input"] ?? body["messages"]) as ReadonlyArray<Record<string, unknown>>
  return items.map(({ type = "message", content, output, role }) => {
    const text = content ?? output ?? ""
    const said = Array.isArray(text) ? text.map((part: { text?: string }) => part.text ?? "").join("") : text
    return type === "message" ? `${String(role)}: ${String(said)}` : `${String(type)}: ${String(said)}`
  })
}

/** What the client is told; fails if it is told nothing. */
const failure = async (
  work: Promise<unknown>,
): Promise<{ status: number; code: unknown; param: unknown }> => {
  const error = await work.then(
    () => expect.unreachable("it was not refused"),
    (thrown: unknown) => thrown as { status?: number; code?: unknown; param?: unknown },
  )
  return { status: error.status ?? 0, code: error.code, param: error.param }
}

for (const api of ["responses", "chat", "auto"] as const)
  describe(`responses over an upstream with ${api}`, () => {
    it("continue each other, and the upstream gets the whole context", async () => {
      const server = await start({
        api,
        answer: scripted([{ text: "Rain." }, { text: "Sun." }, { text: "Snow." }]),
      })
      const { client, upstream } = server
      const first = await client.responses.create({ model, input: "Graz?", instructions: "Be brief." })
      expect(first.id).toMatch(/^resp_/)
      expect(first.output_text).toBe("Rain.")
      expect(first).toMatchObject({ store: true })
      const second = await client.responses.create({
        model,
        previous_response_id: first.id,
        input: [{ role: "user", content: "Linz?" }],
      })
      expect(second.previous_response_id).toBe(first.id)
      expect(sentTexts(server)).toEqual(["user: Graz?", "assistant: Rain.", "user: Linz?"])
      const third = await client.responses.create({ model, previous_response_id: second.id, input: "Wels?" })
      expect(third.output_text).toBe("Snow.")
      expect(sentTexts(server)).toEqual([
        "user: Graz?",
        "assistant: Rain.",
        "user: Linz?",
        "assistant: Sun.",
        "user: Wels?",
      ])
      expect(upstream.refused).toEqual([])
      expect(upstream.received.every(({ body }) => body["previous_response_id"] === undefined)).toBe(true)
    })

    it("can be read again, deleted, and their items listed", async () => {
      const server = await start({ api, answer: scripted([{ text: "Rain." }, { text: "Sun." }]) })
      const { client } = server
      const first = await client.responses.create({ model, input: "Graz?", metadata: { user: "ann" } })
      const second = await client.responses.create({ model, previous_response_id: first.id, input: "Linz?" })
      const {
        output_text: _text,
        _request_id: _request,
        ...plain
      } = first as typeof first & {
        _request_id?: unknown
      }
      expect(await client.responses.retrieve(first.id)).toMatchObject(plain)
      const items = await client.responses.inputItems.list(second.id, { order: "asc" })
      expect(items.data.map((item) => (item.type === "message" ? item.content : item))).toMatchObject([
        [{ type: "input_text", text: "Graz?" }],
        [{ type: "output_text", text: "Rain." }],
        [{ type: "input_text", text: "Linz?" }],
      ])
      const newest = await client.responses.inputItems.list(second.id, { limit: 1 })
      expect(newest.data[0]).toEqual(items.data[2])
      await client.responses.delete(first.id)
      expect(await failure(client.responses.retrieve(first.id))).toMatchObject({
        status: 404,
        code: "response_not_found",
      })
      expect(
        await failure(client.responses.create({ model, previous_response_id: first.id, input: "?" })),
      ).toMatchObject({ status: 400, code: "previous_response_not_found", param: "previous_response_id" })
      expect((await client.responses.retrieve(second.id)).output_text).toBe("Sun.")
      await client.responses.delete(second.id)
      expect(await Effect.runPromise(server.log.list({ limit: 10 }))).toEqual([])
    })

    it("that continue one response are branches, also at the same time", async () => {
      const answers: Answering = ({ body }) => {
        const list = (body["input"] ?? body["messages"]) as ReadonlyArray<{ content: unknown }>
        const last = list.at(-1)!.content
        return {
          text: `to ${typeof last === "string" ? last : (last as ReadonlyArray<{ text: string }>)[0]!.text}`,
        }
      }
      const server = await start({ api, answer: answers })
      const { client, memory } = server
      const first = await client.responses.create({ model, input: "one" })
      const created = await Promise.all(
        ["a", "b", "c", "d"].map((input) =>
          client.responses.create({ model, previous_response_id: first.id, input }),
        ),
      )
      const next = await Promise.all(
        created.map(({ id }) => client.responses.create({ model, previous_response_id: id, input: "on" })),
      )
      expect(created.map((one) => one.output_text)).toEqual(["to a", "to b", "to c", "to d"])
      for (const [at, { id }] of next.entries()) {
        const { data } = await client.responses.inputItems.list(id, { order: "asc" })
        const texts = data.map((item) =>
          item.type === "message" ? (item.content[0] as { text: string }).text : item.type,
        )
        const letter = "abcd"[at]!
        expect(texts).toEqual(["one", "to one", letter, `to ${letter}`, "on"])
      }
      const [session] = await Effect.runPromise(server.log.list({ limit: 10 }))
      expect(await Effect.runPromise(memory.branches(session!.session))).toHaveLength(4)
    })

    it("stream with events that the client folds into the stored response", async () => {
      const server = await start({
        api,
        answer: scripted([
          { text: "I look it up.", calls: [{ name: "weather", arguments: { city: "Graz" } }] },
          { text: "It rains in Graz." },
        ]),
      })
      const { client, upstream } = server
      const stream = client.responses.stream({ model, input: "Weather in Graz?", tools })
      const deltas: Array<string> = []
      stream.on("response.output_text.delta", ({ delta }) => deltas.push(delta))
      const first = await stream.finalResponse()
      expect(deltas.join("")).toBe("I look it up.")
      const call = first.output.find((item) => item.type === "function_call")!
      expect(JSON.parse(call.arguments)).toEqual({ city: "Graz" })
      const events: Array<OpenAI.Responses.ResponseStreamEvent> = []
      for await (const event of await client.responses.create({
        model,
        previous_response_id: first.id,
        input: [{ type: "function_call_output", call_id: call.call_id, output: "rain" }],
        tools,
        stream: true,
      }))
        events.push(event)
      expect(events.map(({ sequence_number: number }) => number)).toEqual([...events.keys()])
      const last = events.at(-1)!
      const { response } = last as OpenAI.Responses.ResponseCompletedEvent
      expect(last.type).toBe("response.completed")
      expect((await client.responses.retrieve(response.id)).output).toEqual(response.output)
      expect(upstream.refused).toEqual([])
      // The stored response as a stream, from its beginning and from the middle.
      const again: Array<unknown> = []
      for await (const event of await client.responses.retrieve(response.id, {
        stream: true,
        starting_after: 3,
      }))
        again.push(event.sequence_number)
      expect(again[0]).toBe(4)
    })

    it("belong to a conversation, whose items they become", async () => {
      const server = await start({
        api,
        answer: scripted([{ text: "Rain." }, { text: "Sun." }, { text: "Fog." }]),
      })
      const { client } = server
      const { id } = await client.conversations.create({
        items: [{ type: "message", role: "developer", content: "Be brief." }],
      })
      const first = await client.responses.create({ model, conversation: id, input: "Graz?" })
      expect(first.conversation).toEqual({ id })
      await client.responses.create({ model, conversation: { id }, input: "Linz?" })
      expect(sentTexts(server).map((text) => text.replace("system", "developer"))).toEqual([
        "developer: Be brief.",
        "user: Graz?",
        "assistant: Rain.",
        "user: Linz?",
      ])
      // What goes on from a response of the conversation is no part of it.
      const aside = await client.responses.create({ model, previous_response_id: first.id, input: "Wels?" })
      expect(sentTexts(server).slice(1)).toEqual(["user: Graz?", "assistant: Rain.", "user: Wels?"])
      const { data } = await client.conversations.items.list(id, { limit: 2 })
      expect(data.map((item) => (item.type === "message" ? item.content[0] : item))).toMatchObject([
        { text: "Sun." },
        { text: "Linz?" },
      ])
      await client.conversations.delete(id)
      expect((await client.responses.retrieve(first.id)).output_text).toBe("Rain.")
      expect((await client.responses.retrieve(aside.id)).output_text).toBe("Fog.")
      expect(await failure(client.responses.create({ model, conversation: id, input: "?" }))).toMatchObject({
        status: 404,
        code: "conversation_not_found",
      })
    })

    it("with a key are made once, whole or as a stream, also while the first one is under way", async () => {
      const server = await start({ api, answer: scripted([{ text: "Rain." }, { text: "again" }]) })
      const { client, upstream } = server
      const ask = (input: string) =>
        client.responses.create({ model, input }, { headers: { "Idempotency-Key": "k1" } })
      const [first, second] = await Promise.all([ask("Graz?"), ask("Graz?")])
      expect(second.id).toBe(first.id)
      expect(second.output).toEqual(first.output)
      const streamed = await client.responses
        .stream({ model, input: "Graz?" }, { headers: { "Idempotency-Key": "k1" } })
        .finalResponse()
      expect(streamed.id).toBe(first.id)
      expect(upstream.received.filter(({ status }) => status === 200)).toHaveLength(1)
      expect(await failure(ask("Linz?"))).toMatchObject({ status: 409, code: "idempotency_key_reused" })
    })
  })

describe("a response", () => {
  it("is stored although the client has left", async () => {
    let answered = (): void => undefined
    const gate = new Promise<void>((resolve) => (answered = resolve))
    const server = await start({
      answer: async () => {
        await gate
        return { text: "Rain." }
      },
    })
    const { client, upstream } = server
    const { id } = await client.conversations.create()
    const left = new AbortController()
    const asked = client.responses.create(
      { model, conversation: id, input: "Graz?" },
      { signal: left.signal },
    )
    const ended = failure(asked)
    await expect.poll(() => upstream.received.length).toBe(1)
    left.abort()
    expect((await ended).status).toBe(0)
    expect(await failure(client.responses.create({ model, conversation: id, input: "Linz?" }))).toMatchObject(
      { status: 409, code: "conversation_locked" },
    )
    answered()
    await server.settled()
    expect((await client.conversations.items.list(id)).data).toHaveLength(2)
  })

  it("leaves nothing behind if the upstream breaks off or refuses", async () => {
    const server = await start({
      answer: scripted([{ text: "one two three", cut: 5 }, { text: "no", cut: 0 }, { text: "Rain." }]),
    })
    const { client } = server
    const { id } = await client.conversations.create()
    const broken = client.responses.stream({ model, conversation: id, input: "Graz?" }).finalResponse()
    expect((await failure(broken)).status).toBe(0)
    expect((await client.conversations.items.list(id)).data).toEqual([])
    expect(await failure(client.responses.create({ model, conversation: id, input: "Graz?" }))).toMatchObject(
      {
        status: 502,
      },
    )
    const refused = client.responses.create({
      model,
      conversation: id,
      input: [{ type: "function_call_output", call_id: "nobody", output: "?" }],
      nonsense: true,
    } as never)
    expect(await failure(refused)).toMatchObject({ status: 400 })
    expect((await client.conversations.items.list(id)).data).toEqual([])
    const answer = await client.responses.create({ model, conversation: id, input: "Graz?" })
    expect(answer.output_text).toBe("Rain.")
    expect((await client.conversations.items.list(id)).data).toHaveLength(2)
  })

  it("keeps signed reasoning that the upstream accepts, through tools and branches", async () => {
    const server = await start({
      answer: scripted([
        { thinking: "Look it up.", calls: [{ name: "weather", arguments: { city: "Graz" } }] },
        { thinking: "It rains.", text: "Rain." },
        { thinking: "Sun.", text: "Sun." },
        { text: "end" },
      ]),
    })
    const { client, upstream } = server
    const first = await client.responses.create({ model, input: "Graz?", tools })
    const call = first.output.find((item) => item.type === "function_call")!
    const second = await client.responses.create({
      model,
      tools,
      previous_response_id: first.id,
      input: [{ type: "function_call_output", call_id: call.call_id, output: "rain" }],
    })
    const branch = await client.responses.create({
      model,
      tools,
      previous_response_id: first.id,
      input: [{ type: "function_call_output", call_id: call.call_id, output: "sun" }],
    })
    for (const { id } of [branch, second])
      await client.responses.create({ model, tools, previous_response_id: id, input: "And now?" })
    const reasoning = upstream.received.map(
      ({ body }) =>
        (body["input"] as ReadonlyArray<{ type: string }>).filter(({ type }) => type === "reasoning").length,
    )
    expect(reasoning.slice(0, 4)).toEqual([0, 1, 1, 2])
    expect(upstream.refused).toEqual([])
    expect(JSON.stringify(upstream.received)).not.toContain("_mf")
  })

  it("that is not stored continues a stored one, and cannot be read", async () => {
    const server = await start({ answer: scripted([{ text: "Rain." }, { text: "Sun." }]) })
    const { client } = server
    const first = await client.responses.create({ model, input: "Graz?" })
    const second = await client.responses.create({
      model,
      previous_response_id: first.id,
      input: "Linz?",
      store: false,
    })
    expect(sentTexts(server)).toEqual(["user: Graz?", "assistant: Rain.", "user: Linz?"])
    expect(second).toMatchObject({ store: false })
    expect(await failure(client.responses.retrieve(second.id))).toMatchObject({ status: 404 })
  })

  it("is refused with what the API says", async () => {
    const { client } = await start()
    const { id } = await client.conversations.create()
    const first = await client.responses.create({ model, input: "Graz?" })
    const wrong = [
      { model, input: "?", previous_response_id: first.id, conversation: id },
      { model, input: "?", background: true, store: false },
      {
        model,
        input: "?",
        metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, "v"])),
      },
      { model, input: 7 },
      { model, input: [7] },
      { model, input: "?", previous_response_id: "resp_unknown" },
    ]
    for (const body of wrong)
      expect(await failure(client.responses.create(body as never))).toMatchObject({
        status: 400,
      })
    expect(await failure(client.responses.cancel(first.id))).toMatchObject({ status: 400 })
    expect(await failure(client.responses.retrieve("resp_unknown"))).toMatchObject({ status: 404 })
  })

  it("can refer to an item of the conversation by its id", async () => {
    const server = await start({ answer: scripted([{ text: "Rain." }, { text: "Sun." }]) })
    const { client, upstream } = server
    const first = await client.responses.create({ model, input: "Graz?" })
    await client.responses.create({
      model,
      previous_response_id: first.id,
      input: [
        { type: "item_reference", id: first.output[0]!.id! },
        { role: "user", content: "Linz?" },
      ],
    })
    expect(upstream.refused).toEqual([])
    const unknown = client.responses.create({ model, input: [{ type: "item_reference", id: "msg_x" }] })
    expect(await failure(unknown)).toMatchObject({ status: 404, code: "item_not_found" })
  })

  it("is compacted by the upstream, and its tokens are counted", async () => {
    const { client, upstream } = await start()
    const first = await client.responses.create({ model, input: "Graz is in Styria." })
    const compacted = await client.responses.compact({ model, previous_response_id: first.id })
    expect(compacted.output.map(({ type }) => type)).toEqual(["message", "compaction"])
    const next = await client.responses.create({
      model,
      input: [...compacted.output, { role: "user", content: "Where?" }] as never,
    })
    const again = await client.responses.create({ model, previous_response_id: next.id, input: "Sure?" })
    expect(again.status).toBe("completed")
    expect(upstream.refused.filter(({ path }) => !path.endsWith("input_tokens"))).toEqual([])
    const short = await client.responses.inputTokens.count({ model, input: "Where?" })
    const long = await client.responses.inputTokens.count({
      model,
      previous_response_id: first.id,
      input: "Where?",
    })
    expect(short.input_tokens).toBeGreaterThan(0)
    expect(long.input_tokens).toBeGreaterThan(short.input_tokens)
  })

  it("is compacted by the model, where the upstream has only Chat Completions", async () => {
    const server = await start({
      api: "chat",
      answer: scripted([{ text: "Noted." }, { text: "They spoke of Styria." }, { text: "In Graz." }]),
    })
    const { client, upstream } = server
    const first = await client.responses.create({ model, input: "Graz is in Styria." })
    const compacted = await client.responses.compact({ model, previous_response_id: first.id })
    expect(compacted.object).toBe("response.compaction")
    expect(compacted.output.map(({ type }) => type)).toEqual(["message", "compaction"])
    expect(sentTexts(server).join("\n")).toContain("Noted.")
    await client.responses.create({
      model,
      input: [...compacted.output, { role: "user", content: "Where?" }] as never,
    })
    expect(sentTexts(server)).toEqual([
      "user: Graz is in Styria.",
      "user: [Summary of the conversation so far]\nThey spoke of Styria.",
      "user: Where?",
    ])
    expect(upstream.refused).toEqual([])
    expect(await failure(client.responses.compact({ input: "?" } as never))).toMatchObject({
      status: 400,
      param: "model",
    })
  })

  it.each([false, true])(
    "gives an upstream its reasoning back that it wants at calls, stream: %s",
    async (stream) => {
      const { client, upstream } = await start({
        api: "chat",
        chat: { server: "kimi" },
        answer: scripted([
          { thinking: "It may rain.", calls: [{ name: "weather", arguments: {} }] },
          { text: "14 °C" },
        ]),
      })
      const tools = [
        { type: "function" as const, name: "weather", parameters: { type: "object" }, strict: false },
      ]
      const ask = async (more: object) =>
        stream
          ? await client.responses.stream({ model, tools, ...more } as never).finalResponse()
          : await client.responses.create({ model, tools, ...more } as never)
      const first = (await ask({ input: "How is the weather?" })) as OpenAI.Responses.Response
      expect(first.output.map(({ type }) => type)).toEqual(["reasoning", "function_call"])
      const call = first.output[1] as OpenAI.Responses.ResponseFunctionToolCall
      const output = { type: "function_call_output", call_id: call.call_id, output: "14 °C" }
      await ask({ previous_response_id: first.id, input: [output] })
      expect(upstream.refused.map(({ violations }) => violations)).toEqual([])
      expect(JSON.stringify(upstream.received.at(-1)?.body)).toContain("It may rain.")
    },
  )

  it("breaks off if the upstream ends without an end, and nothing is stored", async () => {
    const server = await start()
    const events = [
      {
        type: "response.created",
        response: { id: "resp_1", object: "response", status: "in_progress", output: [] },
      },
      { type: "response.output_text.delta", item_id: "msg_1", delta: "Ra" },
    ]
    const upstream = createServer((request, response) => {
      request.resume()
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""))
    })
    await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve))
    const url = new URL(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`)
    const routes = conversationRoutes({ memory: server.memory, upstream: { url, api: "responses" } })
    const front = createServer((request, response) => {
      request.resume()
      void routes.answer({ request, response, body: { model, input: "Graz?", stream: true } })
    })
    await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve))
    const answer = await fetch(`http://127.0.0.1:${(front.address() as AddressInfo).port}/v1/responses`, {
      method: "POST",
    })
    expect(answer.status).toBe(200)
    await expect(answer.text()).rejects.toThrow("terminated")
    expect(await Effect.runPromise(server.log.list({ limit: 10 }))).toEqual([])
    await Promise.all([upstream, front].map((one) => new Promise((resolve) => one.close(resolve))))
  })
})
