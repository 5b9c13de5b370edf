/** The server over HTTP: real clients, and requests that it refuses. */
import { createMemory, type PromiseMemory } from "memfold"
import { once } from "node:events"
import { request } from "node:http"
import { connect } from "node:net"
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from "vitest"
import type { McpServer } from "@modelcontextprotocol/server"
import { type HttpServing, memoryServer, serveHttp, type ServedMemory } from "../src/index.js"
import { overHttp, turn } from "./clients.js"

/** The status of a request with these headers; `fetch` does not let its caller choose the host. */
const statusOf = (
  url: string,
  headers: Readonly<Record<string, string>>,
  path = "/mcp",
  method = "POST",
): Promise<number> =>
  new Promise((resolve, reject) => {
    const accept = { "content-type": "application/json", accept: "application/json, text/event-stream" }
    const sent = request(
      // A path as it is given, which need not be one of a URL.
      { port: new URL(url).port, path, method, headers: { ...accept, ...headers } },
      (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      },
    )
    sent.on("error", reject)
    if (method !== "POST") sent.end()
    else sent.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }))
  })

describe("the server over HTTP", () => {
  const memory = createMemory({ store: "memory:" })
  let serving: HttpServing
  beforeAll(async () => {
    serving = await serveHttp(memory, { allowedHosts: ["memory.internal"] })
  })
  afterAll(async () => {
    await serving.close()
    await memory.close()
  })

  it("listens on this machine only, and serves the tools", async () => {
    expect(serving.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
    const { call, client, close } = await overHttp(serving.url)
    expect((await client.listTools()).tools).toHaveLength(10)
    await call("append_messages", { session: "one", messages: turn(1) })
    expect(await call("get_context", { session: "one" })).toMatchObject({ messages: turn(1) })
    expect(await call("search_memory", { session: "two", query: "x" })).toMatchObject({
      error: expect.stringContaining("list_sessions"),
    })
    await close()
  })

  it("L19: has so many connections at a time, and is there again once they are gone", async () => {
    const head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000000\r\n\r\n"
    const sockets = Array.from({ length: 100 }, () => connect(Number(new URL(serving.url).port), "127.0.0.1"))
    let closed = 0
    const refused = new Promise<void>((resolve) => {
      for (const socket of sockets)
        socket
          .on("error", () => undefined)
          .on("close", () => void (++closed === 36 && resolve()))
          .resume()
          .write(head)
    })
    await refused
    expect(sockets.filter((socket) => !socket.destroyed)).toHaveLength(64)
    await Promise.all(sockets.map((socket) => socket.destroyed || once(socket.destroy(), "close")))
    while ((await statusOf(serving.url, {}).catch(() => 0)) !== 200);
  })

  it("tells the lowest origin of what a summary rests on, and of what is found", async () => {
    const { call, close } = await overHttp(serving.url)
    const session = "origins"
    for (let n = 0; n < 12; n++)
      await memory.append(session, [
        { role: "user", content: `Where is order KX-${n}? ${"It matters to me. ".repeat(8)}` },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: `c${n}`, type: "function", function: { name: "find", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: `c${n}`, content: `KX-${n} is on its way. ${"A line. ".repeat(40)}` },
        { role: "assistant", content: `Order KX-${n} is on its way.` },
      ])
    await call("compact", { session })
    expect(await call("get_context", { session })).toMatchObject({
      layout: expect.arrayContaining([expect.objectContaining({ section: "summary", origin: "tool" })]),
    })
    expect(await call("list_summaries", { session })).toMatchObject({ summaries: [{ origin: "tool" }] })
    const { messages } = (await call("search_memory", { session, query: "KX-3" })) as {
      readonly messages: ReadonlyArray<{ readonly role: string; readonly origin: string }>
    }
    expect(messages.length).toBeGreaterThan(0)
    for (const { role, origin } of messages) expect(origin).toBe(role)
    await close()
  })

  it("orders two clients at one session, and loses no message of either", async () => {
    const clients = await Promise.all([overHttp(serving.url), overHttp(serving.url)])
    await Promise.all(
      clients.flatMap(({ call }, who) =>
        Array.from({ length: 20 }, (_, n) =>
          call("append_messages", { session: "both", messages: [{ role: "user", content: `${who}:${n}` }] }),
        ),
      ),
    )
    const { messages } = await memory.messages("both", { limit: 100 })
    const said = messages.map(({ content }) => content)
    expect(said).toHaveLength(40)
    expect(new Set(said).size).toBe(40)
    await Promise.all(clients.map(({ close }) => close()))
  })

  it("refuses hosts and origins that were not allowed", async () => {
    const { url } = serving
    expect(await statusOf(url, {})).toBe(200)
    expect(await statusOf(url, { host: "memory.internal:80", origin: "https://memory.internal" })).toBe(200)
    expect(await statusOf(url, { origin: "http://localhost:3000" })).toBe(200)
    expect(await statusOf(url, { host: "rebound.example" })).toBe(403)
    expect(await statusOf(url, { origin: "https://page.example" })).toBe(403)
    expect(await statusOf(url, {}, "/")).toBe(404)
  })

  it("answers a target that is no path of a URL", async () => {
    for (const target of ["//", "///", "//@", "/\\", "/?//", "/%"]) {
      expect([target, await statusOf(serving.url, {}, target)]).toEqual([target, 404])
    }
    expect(await statusOf(serving.url, {}, "/mcp?a=//")).toBe(200)
  })

  it("refuses methods that the protocol does not have", async () => {
    for (const method of ["TRACE", "PUT", "PATCH", "OPTIONS", "PROPFIND"])
      expect([method, await statusOf(serving.url, {}, "/mcp", method)]).toEqual([method, 405])
  })

  it("does not listen for other machines without the names that they may use", async () => {
    await expect(serveHttp(memory, { host: "0.0.0.0" })).rejects.toThrow("allowedHosts")
  })
})

it("takes a memory of the default format, and gives a server of the SDK", () => {
  expectTypeOf(memoryServer).parameter(0).toEqualTypeOf<PromiseMemory<"openai">>()
  expectTypeOf(memoryServer).returns.toEqualTypeOf<McpServer>()
  expectTypeOf<PromiseMemory<"anthropic">>().not.toExtend<ServedMemory>()
})
