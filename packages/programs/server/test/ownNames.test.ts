/** Names that every object has, such as `__proto__`, wherever somebody else names something: they are names like others. */
import { often } from "@memfold/harness/depth"
import * as fc from "fast-check"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, it, onTestFinished } from "vitest"
import { ask, started } from "./services.js"

const inherited = [
  "__proto__",
  "__proto__",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "toJSON",
]
const values = [
  '{"polluted":"yes"}',
  '{"polluted":"yes"}',
  '{"polluted":{"in":1}}',
  '{"type":"text","text":"yes"}',
  '"x"',
  '["x"]',
  '[{"polluted":1}]',
  "1",
  "null",
]

/** What all objects have; a field more is everybody's. */
const shared = () =>
  JSON.stringify(
    [Object.prototype, Array.prototype, Function.prototype].map((one) => Object.getOwnPropertyNames(one)),
  )

/** A text of JSON with a field of such a name in one of its objects, or with such a name in place of one of its texts. */
const altered = (text: string): fc.Arbitrary<string> => {
  const places = [...text.matchAll(/\{(?=")/g)].map(({ index }) => index + 1)
  const texts = [...text.matchAll(/(?<=:)"[\w.-]*"/g)]
  const added = fc
    .tuple(fc.constantFrom(...places), fc.constantFrom(...inherited), fc.constantFrom(...values))
    .map(([at, name, value]) => `${text.slice(0, at)}"${name}":${value},${text.slice(at)}`)
  const named = fc
    .tuple(fc.constantFrom(...texts), fc.constantFrom(...inherited))
    .map(
      ([{ 0: found, index }, name]) => `${text.slice(0, index)}"${name}"${text.slice(index + found.length)}`,
    )
  return fc.oneof(added, named)
}

const said = { role: "user", content: [{ type: "text", text: "Hi" }] }
const call = { id: "c1", type: "function", function: { name: "look", arguments: "{}" } }

/** Streams of each API, as the lines of their events, and the request that each answers. */
const streams: ReadonlyArray<readonly [path: string, request: object, events: ReadonlyArray<object>]> = [
  [
    "chat/completions",
    { model: "m", stream: true, messages: [said] },
    [
      {
        id: "1",
        object: "chat.completion.chunk",
        choices: [
          {
            index: 0,
            delta: {
              role: "assistant",
              content: "A",
              reasoning_details: [{ type: "reasoning.text", text: "Hm" }],
              audio: { id: "a", data: "x" },
            },
          },
        ],
      },
      {
        id: "1",
        choices: [
          {
            index: 0,
            delta: {
              audio: { data: "y" },
              tool_calls: [{ index: 0, ...call, extra_content: { google: { thought_signature: "s" } } }],
            },
          },
        ],
      },
      {
        id: "1",
        choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }],
        usage: { prompt_tokens: 1, completion_tokens: 1 },
      },
    ],
  ],
  [
    "messages",
    { model: "m", max_tokens: 9, stream: true, messages: [said] },
    [
      {
        type: "message_start",
        message: { id: "1", type: "message", role: "assistant", content: [], usage: { input_tokens: 1 } },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "A" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
      { type: "message_stop" },
    ],
  ],
  [
    "responses",
    { model: "m", store: false, stream: true, input: [said] },
    [
      {
        type: "response.output_item.done",
        output_index: 0,
        item: { type: "message", id: "i", role: "assistant", content: [{ type: "output_text", text: "A" }] },
      },
      {
        type: "response.completed",
        response: {
          id: "r",
          object: "response",
          status: "completed",
          output: [],
          usage: { input_tokens: 1 },
        },
      },
    ],
  ],
  [
    "responses",
    { model: "m", stream: true, input: [{ type: "message", ...said, content: "Hi" }] },
    [
      {
        type: "response.created",
        response: { id: "r", object: "response", status: "in_progress", output: [] },
      },
      {
        type: "response.completed",
        response: {
          id: "r",
          object: "response",
          status: "completed",
          output: [
            { type: "message", id: "i", role: "assistant", content: [{ type: "output_text", text: "A" }] },
          ],
        },
      },
    ],
  ],
]

const upstreamOf = async () => {
  let [answer, encoding] = ["", "identity"]
  const server = createServer((request, response) => {
    request.resume().once("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": encoding })
      response.end(answer)
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    answers: (events: ReadonlyArray<string>, as = "identity") => {
      answer = events.map((data) => `data: ${data}\n\n`).join("")
      encoding = as
      return answer
    },
  }
}

it("L22: a stream with such a name anywhere in it passes, and changes nothing for others", async () => {
  const upstream = await upstreamOf()
  const { url } = await started({ upstream: upstream.url })
  const before = shared()
  const one = fc.constantFrom(...streams).chain(([path, request, events]) =>
    fc.nat(events.length - 1).chain((at) =>
      altered(JSON.stringify(events[at])).map((text) => ({
        path,
        request,
        events: events.map((event, index) => (index === at ? text : JSON.stringify(event))),
      })),
    ),
  )
  await fc.assert(
    fc.asyncProperty(one, async ({ path, request, events }) => {
      const sent = upstream.answers(events)
      const isKept = !("store" in request) && path === "responses"
      const headers: Record<string, string> = isKept ? {} : { "x-session-id": "s" }
      const answered = await ask(`${url}/v1/${path}`, { body: request, headers }).catch(() => null)
      expect(shared()).toBe(before)
      // What is kept here is told in this server's own words, or breaks off.
      if (!isKept) expect(answered).toMatchObject({ status: 200, body: sent })
    }),
    { numRuns: often(200, 5_000) },
  )
  for (const encoding of inherited) {
    const sent = upstream.answers(["{}"], encoding)
    const body = { model: "m", messages: [said] }
    const answered = await ask(`${url}/v1/chat/completions`, { body, headers: { "x-session-id": "e" } })
    expect([encoding, answered.status, answered.body]).toEqual([encoding, 200, sent])
  }
})

it("L22: a request with such a name anywhere in it is answered, and changes nothing for others", async () => {
  const upstream = await upstreamOf()
  const { url } = await started({ upstream: upstream.url })
  upstream.answers(["{}"])
  const result = { role: "tool", tool_call_id: "c1", content: "r" }
  const requests: ReadonlyArray<readonly [method: string, path: string, body: object]> = [
    [
      "POST",
      "sessions/s/messages",
      { messages: [said, { role: "assistant", content: null, tool_calls: [call] }, result] },
    ],
    [
      "POST",
      "sessions/s/messages?format=anthropic",
      {
        messages: [
          said,
          { role: "assistant", content: [{ type: "tool_use", id: "c", name: "n", input: { a: "b" } }] },
        ],
      },
    ],
    [
      "POST",
      "sessions/s/messages?format=openai-responses",
      { messages: [{ type: "function_call", call_id: "c", name: "n", arguments: "{}" }] },
    ],
    [
      "POST",
      "sessions/s/messages?format=memfold",
      { messages: [{ role: "user", parts: [{ type: "text", text: "Hi" }], metadata: { a: { b: "c" } } }] },
    ],
    [
      "PUT",
      "sessions/s/messages",
      { messages: [said], strategy: "rounds", settings: { fullContextTurns: 2 } },
    ],
    ["PATCH", "sessions/s", { owner: "ann", title: "t" }],
    ["POST", "sessions/s/recall", { query: "Hi" }],
    ["POST", "sessions/s/tools", { name: "search_memory", arguments: { query: "Hi" } }],
    ["POST", "sessions/s/compact", { which: "next" }],
    [
      "POST",
      "sessions/s/compare",
      { strategies: [{ strategy: "rounds", settings: { fullContextTurns: 2 } }] },
    ],
    ["PUT", "settings", { strategy: "rounds", settings: { fullContextTurns: 2 } }],
    ["POST", "conversations", { items: [{ type: "message", ...said, content: "Hi" }], metadata: { a: "b" } }],
    ...streams.map(([path, request]) => ["POST", path, request] as const),
  ]
  const before = shared()
  const one = fc
    .constantFrom(...requests)
    .chain(([method, path, body]) => altered(JSON.stringify(body)).map((text) => ({ method, path, text })))
  await fc.assert(
    fc.asyncProperty(one, async ({ method, path, text }) => {
      const headers = { "content-type": "application/json", "x-session-id": "p" }
      const answered = await fetch(`${url}/v1/${path}`, { method, body: text, headers })
      await answered.text()
      expect(answered.status).toBeLessThan(500)
      expect(shared()).toBe(before)
    }),
    { numRuns: often(600, 5_000) },
  )
  const { status } = await ask(`${url}/v1/sessions/s/context`)
  expect(status).toBe(200)
})
