/** Too many appends at once: the service says when to come again, and the client does. */
import { expect, it, onTestFinished, vi } from "vitest"
import { createClient } from "@memfold/client"
import { EventLog, InMemoryEventLog } from "@memfold/core"
import { mcpHandler } from "@memfold/mcp"
import { providerServer } from "@memfold/strict-providers"
import { Effect, Layer } from "effect"
import { ask, started, turn } from "./services.js"

/** A store to which appends come through once they are let, and how many have come. */
const held = () => {
  const away = Effect.unsafeMakeSemaphore(1)
  const waiting = vi.fn<() => void>()
  const store = Layer.effect(
    EventLog.EventLog,
    Effect.map(InMemoryEventLog.make, (log) => ({
      ...log,
      append: (...given: Parameters<EventLog.Service["append"]>) => {
        waiting()
        return away.withPermits(1)(log.append(...given))
      },
    })),
  )
  return { away, waiting, store }
}

it("is a 503 with Retry-After, and a client comes again then", async () => {
  const { away, waiting, store } = held()
  const { url } = await started({ store, load: { appends: 2 } })
  const append = (session: string) =>
    ask(`${url}/v1/sessions/${session}/messages`, { body: { messages: turn(1) } })
  await Effect.runPromise(away.take(1))
  onTestFinished(() => void Effect.runPromise(away.release(1)))
  const stored = [append("a"), append("b")]
  await vi.waitFor(() => expect(waiting).toHaveBeenCalledTimes(2), { timeout: 60_000 })

  const refused = await append("c")
  expect(refused).toMatchObject({
    status: 503,
    body: { type: "urn:memfold:Overloaded", session: "c", retryAfter: expect.any(Number) },
  })
  expect(refused.headers.get("retry-after")).toBe(String((refused.body as { retryAfter: number }).retryAfter))
  const search = await ask(`${url}/v1/sessions/a/recall`, { body: { query: "order" } })
  expect([search.status, search.headers.get("retry-after")]).toEqual([503, expect.stringMatching(/^\d+$/)])

  const began = performance.now()
  const client = createClient({
    url,
    fetch: async (...given) => {
      const response = await fetch(...given)
      // The store is back once the client has been refused.
      if (response.status === 503) await Effect.runPromise(away.release(1))
      return response
    },
  })
  expect(await client.append("c", turn(2))).toMatchObject({ from: 0, to: 2 })
  // It says how long the appends before have waited, in whole seconds: at least one.
  expect(performance.now() - began).toBeGreaterThan(990)
  expect((await Promise.all(stored)).map(({ status }) => status)).toEqual([201, 201])
})

it("says when to come again in each protocol, and asks the model all the same", async () => {
  const { away, waiting, store } = held()
  const provider = await providerServer({ answer: () => ({ text: "An answer." }) })
  onTestFinished(provider.close)
  const { url } = await started({
    store,
    load: { appends: 2 },
    upstream: provider.anthropicURL,
    mcp: mcpHandler,
  })
  const { body: conversation } = await ask(`${url}/v1/conversations`, { body: {} })
  const { id } = conversation as { readonly id: string }
  await Effect.runPromise(away.take(1))
  onTestFinished(() => void Effect.runPromise(away.release(1)))
  waiting.mockClear()
  const stored = ["a", "b"].map((session) =>
    ask(`${url}/v1/sessions/${session}/messages`, { body: { messages: turn(1) } }),
  )
  await vi.waitFor(() => expect(waiting).toHaveBeenCalledTimes(2), { timeout: 60_000 })
  const item = { type: "message", role: "user", content: "Hi" }
  for (const [path, body] of [
    ["sessions/c/messages", { messages: turn(1) }],
    [`conversations/${id}/items`, { items: [item] }],
    ["conversations", { items: [item] }],
    ["responses", { model: "m", input: "Hi" }],
  ] as const) {
    const { status, headers } = await ask(`${url}/v1/${path}`, { body })
    expect([path, status, headers.get("retry-after")]).toEqual([path, 503, expect.stringMatching(/^\d+$/)])
  }
  const call = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: {
      name: "append_messages",
      arguments: { session: "c", messages: [{ role: "user", content: "Hi" }] },
    },
  }
  const tool = await ask(`${url}/mcp`, {
    body: call,
    headers: { accept: "application/json, text/event-stream" },
  })
  expect(JSON.stringify(tool.body)).toMatch(
    /try again after \d+ s.*isError.*true|isError.*true.*try again after \d+ s/,
  )
  const chat = await ask(`${url}/v1/chat/completions`, {
    headers: { "x-session-id": "c" },
    body: { model: "m", messages: [{ role: "user", content: "Hi" }] },
  })
  expect([chat.status, chat.headers.get("x-memfold-reason")]).toEqual([200, "memory-failed"])
  await Effect.runPromise(away.release(1))
  await Promise.all(stored)
})
