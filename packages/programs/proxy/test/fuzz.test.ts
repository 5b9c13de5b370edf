/** Bodies that no client of good will sends: the client gets what the upstream says, and the proxy goes on. */
import { often } from "@memfold/harness/depth"
import * as fc from "fast-check"
import { Agent, type IncomingMessage, request } from "node:http"
import { text } from "node:stream/consumers"
import { describe, expect, it, onTestFinished } from "vitest"
import { proxied } from "./proxied.js"

const call = { id: "c1", type: "function", function: { name: "look", arguments: '{"at":1}' } }
const bodies = {
  "/v1/chat/completions": {
    model: "gpt-5",
    stream: true,
    metadata: { session_id: "s" },
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "Hi" }] },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: "nothing" },
    ],
  },
  "/v1/messages": {
    model: "claude-sonnet-5-5",
    max_tokens: 100,
    metadata: { user_id: "user_1_session_00000000" },
    system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "look", input: { at: 1 } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "nothing" }] },
    ],
  },
  "/v1/responses": {
    model: "gpt-5",
    store: false,
    metadata: { session_id: "r" },
    prompt_cache_key: "r",
    input: [
      { role: "user", content: [{ type: "input_text", text: "Hi" }] },
      { type: "function_call", call_id: "f1", name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: "f1", output: "nothing" },
    ],
  },
} as const

const wrong = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    null,
    0,
    -1,
    "",
    [],
    {},
    [null],
    [[]],
    true,
    "\u0000",
    { role: "user" },
    { type: "thinking" },
  ),
)

/** A value with a part of it, at any depth, replaced, removed or doubled. */
const altered = (value: unknown): fc.Arbitrary<unknown> => {
  if (typeof value !== "object" || value === null) return wrong
  const names = Object.keys(value)
  if (names.length === 0) return wrong
  return fc.oneof(
    { weight: 1, arbitrary: wrong },
    {
      weight: 6,
      arbitrary: fc
        .constantFrom(...names)
        .chain((name) =>
          altered((value as Record<string, unknown>)[name]).map((changed) =>
            Array.isArray(value)
              ? value.map((one: unknown, at) => (String(at) === name ? changed : one))
              : { ...value, [name]: changed },
          ),
        ),
    },
    {
      weight: 2,
      arbitrary: fc
        .constantFrom(...names)
        .map((name) =>
          Array.isArray(value)
            ? value.flatMap((one: unknown, at) => (String(at) === name ? [one, one] : [one]))
            : Object.fromEntries(Object.entries(value).filter(([other]) => other !== name)),
        ),
    },
  )
}

/** A text of JSON, or nearly. */
const texts = (body: unknown): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 8, arbitrary: altered(body).map((value) => JSON.stringify(value) ?? "") },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "",
        "null",
        "[]",
        "{",
        '{"messages":[',
        "\uFEFF{}",
        '{"messages":[],"messages":[]}',
        "[".repeat(9_000),
      ),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(fc.nat(), fc.nat(255)).map(([at, byte]) => {
        const bytes = Buffer.from(JSON.stringify(body))
        bytes[at % bytes.length] = byte
        return bytes.toString("latin1")
      }),
    },
  )

describe("malformed bodies", () => {
  it("are answered by the upstream, and leave the proxy as it was", async () => {
    const { url, close, memory, records } = await proxied({ compaction: { mode: "off" } })
    onTestFinished(close)
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    const send = (
      path: string,
      body: string,
    ): Promise<{ readonly status: number; readonly answer: string }> =>
      new Promise((resolve, reject) => {
        const outgoing = request(`${url}${path}`, {
          method: "POST",
          agent,
          headers: { "content-type": "application/json" },
        })
        outgoing.once("error", reject)
        outgoing.once("response", (answer: IncomingMessage) => {
          text(answer).then((said) => resolve({ status: answer.statusCode ?? 0, answer: said }), reject)
        })
        outgoing.end(body)
      })
    const paths = Object.keys(bodies) as Array<keyof typeof bodies>
    const requests = fc
      .constantFrom(...paths)
      .chain((path) => texts(bodies[path]).map((body) => ({ path, body })))
    const statuses = new Set<number>()
    await fc.assert(
      fc.asyncProperty(requests, async ({ path, body }) => {
        const { status, answer } = await send(path, body)
        statuses.add(status)
        expect(answer).not.toContain("the proxy has failed")
        expect([200, 400]).toContain(status)
      }),
      { numRuns: often(1_000, 10_000) },
    )
    expect([...statuses].toSorted()).toEqual([200, 400])
    expect(records.filter(({ doubt }) => doubt === null).length).toBeGreaterThan(100)
    expect(records.filter(({ doubt }) => doubt === "unknown-shape").length).toBeGreaterThan(20)
    for (const path of paths) expect((await send(path, JSON.stringify(bodies[path]))).status).toBe(200)
    expect(memory).toBeDefined()
  })
})
