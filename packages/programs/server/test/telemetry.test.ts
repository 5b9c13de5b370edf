/** Traces and metrics, received by a collector of the test: a real HTTP server that takes OTLP in JSON. */
import { createClient } from "@memfold/client"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, it, onTestFinished } from "vitest"
import { makeToken, serve, ServeError } from "../src/index.js"
import { Effect } from "effect"
import { turn } from "./services.js"

const answering = () => Effect.succeed({ text: "summary of it", finish: "stop" as const })

interface Span {
  readonly name: string
  readonly traceId: string
  readonly kind: number
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: Record<string, unknown> }>
}

/** A collector, and what it got. */
const collector = async () => {
  const got: Array<{ readonly path: string; readonly headers: object; readonly body: string }> = []
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString()
      got.push({ path: request.url ?? "", headers: request.headers, body })
      response.writeHead(200, { "content-type": "application/json" }).end("{}")
    })
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  onTestFinished(() => void server.close())
  const spans = (): ReadonlyArray<Span> =>
    got
      .filter(({ path }) => path === "/v1/traces")
      .flatMap(({ body }) => {
        const { resourceSpans } = JSON.parse(body) as {
          resourceSpans: Array<{ scopeSpans: Array<{ spans: Array<Span> }> }>
        }
        return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
      })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, got, spans }
}

const valuesOf = ({ attributes }: Span) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

describe("telemetry", () => {
  it("has requests and calls of the summarizer by the GenAI conventions, and nothing of what was said", async () => {
    const { url, got, spans } = await collector()
    const { token, stored } = makeToken({ tenant: "acme", rights: ["read", "write"] })
    const service = await serve({
      store: "memory:",
      port: 0,
      log: "none",
      strategy: "rounds",
      tokens: [stored],
      summarizer: { name: "test-model", summarize: answering },
      otlp: { url, headers: { "x-collector-key": "k" } },
    })
    const memory = createClient({ url: service.url, token })
    for (const n of [1, 2, 3]) await memory.append("s", turn(n), { title: "KX-4471" })
    await memory.recall("s", "KX-4472")
    await memory.sessions({ title: "KX-4471" })
    const settings = { fullContextTurns: 1, cachedContextTurns: 1 }
    expect(await memory.compact("s", { ...settings, which: "due" })).toHaveLength(2)
    await service.close()

    const calls = spans().filter(({ name }) => name === "chat test-model")
    expect(calls).toHaveLength(2)
    expect(calls[0]?.kind).toBe(3)
    expect(valuesOf(calls[0]!)).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "test-model",
      "gen_ai.request.model": "test-model",
      "gen_ai.conversation.id": "acme/s",
    })
    expect(Number(valuesOf(calls[0]!)["gen_ai.usage.input_tokens"])).toBeGreaterThan(50)
    expect(Number(valuesOf(calls[0]!)["gen_ai.usage.output_tokens"])).toBeGreaterThan(0)
    // The call is part of the request that caused it.
    const request = spans().find(
      (one) => one.traceId === calls[0]?.traceId && valuesOf(one)["http.request.method"] === "POST",
    )
    expect(valuesOf(request!)).toMatchObject({ "http.response.status_code": expect.anything() })
    expect(got.some(({ path }) => path === "/v1/metrics")).toBe(true)
    expect(got.every(({ headers }) => (headers as Record<string, string>)["x-collector-key"] === "k")).toBe(
      true,
    )

    const everything = got.map(({ body }) => body).join("\n")
    expect(everything).toContain("memfold.append")
    for (const secret of ["KX-447", "where is order", "summary of", token, "authorization", "user_agent"])
      expect([secret, everything.includes(secret)]).toEqual([secret, false])
  })

  it("does not disturb the service if nobody collects it", async () => {
    const service = await serve({
      store: "memory:",
      port: 0,
      log: "none",
      otlp: { url: "http://127.0.0.1:9" },
    })
    const memory = createClient({ url: service.url })
    await memory.append("s", turn(1))
    expect((await memory.context("s")).messages).toEqual(turn(1))
    await service.close()
    await expect(serve({ store: "memory:", port: 0, otlp: { url: "collector" } })).rejects.toThrow(ServeError)
  })
})
