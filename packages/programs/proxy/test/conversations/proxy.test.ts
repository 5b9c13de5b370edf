/** Conversations within the proxy: which requests they take, and which pass or belong to a session of the proxy. */
import { EventLog, InMemoryEventLog, Memory, Summarizer } from "@memfold/core"
import { pairs } from "@memfold/harness/engine"
import { Calls, conversationRoutes, Proxy, Savings, upstreamSummarizer } from "@memfold/proxy"
import { providerServer, scripted } from "@memfold/strict-providers"
import { Effect, Exit, Layer, Scope } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import OpenAI from "openai"
import { expect, it } from "vitest"

const start = async (
  answer = scripted([{ text: "Rain." }, { text: "Sun." }]),
  api: "auto" | "chat" = "auto",
) => {
  const upstream = await providerServer({ answer })
  const calls = new Calls()
  const scope = await Effect.runPromise(Scope.make())
  const log = await Effect.runPromise(InMemoryEventLog.make)
  const parts = Layer.merge(
    Layer.succeed(EventLog.EventLog, log),
    Layer.succeed(Summarizer.Summarizer, upstreamSummarizer(calls, { onUsage: () => undefined })),
  )
  const memory = await Effect.runPromise(
    Memory.make({ strategy: pairs, compaction: { mode: "manual" } }).pipe(
      Effect.provide(parts),
      Scope.extend(scope),
    ),
  )
  const url = new URL(upstream.anthropicURL)
  const records: Array<string> = []
  const proxy = new Proxy({
    memory,
    calls,
    savings: new Savings(),
    upstreams: { openai: url, anthropic: url },
    maxBody: 100_000,
    conversations: conversationRoutes({ memory, calls, upstream: { url: new URL("v1", url), api } }),
    onRequest: ({ path, doubt }) => records.push(`${path} ${doubt ?? "-"}`),
  })
  const server = createServer((request, response) => {
    const prefix = `${String(request.headers["x-tenant"] ?? "a")}/`
    void proxy.handle(request, response, { prefix })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return {
    baseURL,
    records,
    upstream,
    log,
    memory,
    client: new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 }),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await upstream.close()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    },
  }
}

it("keeps conversations and responses of each tenant, and lets what is kept elsewhere pass", async () => {
  const { client, records, upstream, log, baseURL, close } = await start()
  const { id } = await client.conversations.create({ metadata: { topic: "rain" } })
  const first = await client.responses.create({ model: "m", conversation: id, input: "Graz?" })
  const second = await client.responses.create({ model: "m", previous_response_id: first.id, input: "Linz?" })
  expect((await client.responses.retrieve(second.id)).output_text).toBe("Sun.")
  const other = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0, defaultHeaders: { "x-tenant": "b" } })
  for (const work of [
    () => other.conversations.retrieve(id),
    () => other.responses.retrieve(first.id),
    () => other.responses.create({ model: "m", conversation: id, input: "?" }),
  ])
    await expect(work()).rejects.toMatchObject({ status: 404 })
  const before = upstream.received.length

  // What another server keeps is that server's to answer; here, it refuses it.
  await expect(
    client.responses.create({ model: "m", previous_response_id: "resp_68af", input: "?" }),
  ).rejects.toMatchObject({ message: expect.stringContaining("this server keeps none") as string })
  await expect(client.responses.retrieve("resp_68af")).rejects.toMatchObject({ status: 404 })
  await client.responses.create({ model: "m", input: "?", store: false })
  await client.responses.create({ model: "m", input: "?" }, { headers: { "x-session-id": "chat-1" } })
  expect(upstream.received.length).toBe(before + 3)
  expect(records.slice(-4)).toEqual([
    "/v1/responses no-session",
    "/v1/responses/resp_68af -",
    "/v1/responses no-session",
    "/v1/responses -",
  ])
  await expect(
    client.conversations.create({ metadata: { long: "x".repeat(200_000) } }),
  ).rejects.toMatchObject({ status: 413 })
  expect((await fetch(`${baseURL}/responses`)).status).toBe(426)
  const sessions = (await Effect.runPromise(log.list({ limit: 20 }))).map(({ session }) => session)
  expect(sessions.every((session) => session.startsWith("a/"))).toBe(true)
  await close()
})

it.each(["auto", "chat"] as const)(
  "has summaries written by the model and with the key of the session (%s)",
  async (api) => {
    const summary = "A summary by the model."
    const { client, memory, upstream, close } = await start(
      ({ body }) => ({
        text: JSON.stringify(body).includes("ummar") ? summary : "an answer of ordinary length",
      }),
      api,
    )
    const { id } = await client.conversations.create()
    for (let turn = 0; turn < 10; turn++)
      await client.responses.create({
        model: "m",
        conversation: id,
        input: `question ${turn} with a few more words`,
      })
    const outcome = await Effect.runPromise(memory.compact(`a/${id}`))
    expect(outcome).toMatchObject({ _tag: "Committed" })
    await client.responses.create({ model: "m", conversation: id, input: "the last one" })
    expect(JSON.stringify(upstream.received.at(-1)!.body)).toContain(summary)
    expect(upstream.refused).toEqual([])
    await close()
  },
)
