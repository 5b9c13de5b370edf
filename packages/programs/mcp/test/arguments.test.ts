/** What clients send: lists as JSON text, and null for what is optional. */
import { createMemory, defaultStrategy } from "memfold"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type HttpServing, serveHttp } from "../src/index.js"
import { type Connected, overHttp, turn } from "./clients.js"

const memory = createMemory({ store: "memory:" })
let serving: HttpServing
let client: Connected
beforeAll(async () => {
  serving = await serveHttp(memory)
  client = await overHttp(serving.url)
})
afterAll(async () => {
  await client.close()
  await serving.close()
  await memory.close()
})

const appended = async (args: Record<string, unknown>) => {
  const answer = await client.call("append_messages", args)
  expect(answer.error).toBeUndefined()
  const { messages } = await memory.messages(String(args["session"]), { limit: 10 })
  return messages
}

it("reads a list as JSON text, at any depth", async () => {
  const [asked, called, answered, said] = turn(1)
  expect(await appended({ session: "list", messages: JSON.stringify(turn(1)) })).toEqual(turn(1))
  const inside = [
    JSON.stringify(asked),
    { ...called, tool_calls: JSON.stringify(called!.tool_calls) },
    answered,
    JSON.stringify(said),
  ]
  expect(await appended({ session: "inside", messages: inside })).toEqual(turn(1))
})

it("keeps a text as it is where a text is allowed", async () => {
  const messages = [
    { role: "user", content: JSON.stringify([{ type: "text", text: "Hello" }]) },
    { role: "assistant", content: "null" },
    { role: "user", content: "[1, 2]" },
  ]
  expect(await appended({ session: "text", messages })).toEqual(messages)
  await client.call("append_messages", { session: "owned", messages, owner: "17", title: "true" })
  expect(await client.call("list_sessions", { owner: "17" })).toMatchObject({
    sessions: [{ session: "owned", owner: "17", title: "true" }],
  })
})

it("reads null, and numbers and booleans as text, in every tool", async () => {
  const messages = [
    { ...turn(1)[0], tool_calls: null, tool_call_id: null },
    ...turn(1).slice(1),
    ...Array.from({ length: 40 }, (_, n) => turn(n)).flat(),
  ]
  const nothing = { idempotency_key: null, owner: null, title: null }
  expect(await appended({ session: "null", messages, ...nothing })).toHaveLength(10)
  const answers = [
    await client.call("get_context", { session: "null", at_version: null, recall_tokens: null }),
    await client.call("get_context", { session: "null", at_version: "2", recall_tokens: "100" }),
    await client.call("search_memory", {
      session: "null",
      query: "KX-4001",
      tokens: null,
      outside_context: null,
    }),
    await client.call("search_memory", {
      session: "null",
      query: "4001",
      tokens: "50",
      outside_context: "true",
    }),
    await client.call("read_messages", { session: "null", limit: null, before: null }),
    await client.call("read_messages", { session: "null", limit: "2", before: null }),
    await client.call("list_sessions", { owner: null, limit: null }),
    await client.call("list_summaries", { session: "null" }),
    await client.call("compact", { session: "null", instructions: null }),
    await client.call("explain_summary", { session: "null", summary: null }),
    await client.call("revert", { session: "null", to_summary: null, pause_for: null }),
  ]
  expect(answers.map(({ error }) => error)).toEqual(answers.map(() => undefined))
  expect(answers[5]).toMatchObject({ messages: [{}, {}] })
  expect(answers[9]).toMatchObject({ origin: { strategy: defaultStrategy } })
})

it("refuses what is required and null, and what is no list", async () => {
  const refused = [
    await client.call("append_messages", { session: null, messages: turn(1) }),
    await client.call("append_messages", { session: "refused", messages: null }),
    await client.call("append_messages", { session: "refused", messages: "Hello" }),
    await client.call("append_messages", { session: "refused", messages: '{"role":"user"}' }),
    await client.call("append_messages", { session: "refused", messages: "[1]" }),
    await client.call("append_messages", { session: "refused", messages: turn(1), idempotencyKey: null }),
    await client.call("read_messages", { session: "null", limit: "many" }),
    await client.call("read_messages", { session: "null", limit: "2.5" }),
  ]
  for (const { error } of refused) expect(error).toContain("validation")
  expect(await memory.messages("refused", { limit: 1 })).toMatchObject({ total: 0 })
})

it("does not take a session from its owner", async () => {
  await client.call("append_messages", { session: "hers", messages: turn(1), owner: "ann" })
  const { error } = await client.call("append_messages", { session: "hers", messages: turn(2), owner: "bob" })
  expect(error).toMatch(/belongs to another owner.*Nothing was stored/)
  expect(error).not.toContain("ann")
  expect(await memory.sessionsOf("bob")).toMatchObject({ sessions: [] })
  const { error: none } = await client.call("append_messages", {
    session: "hers",
    messages: turn(2),
    owner: "ann",
  })
  expect(none).toBeUndefined()
})
