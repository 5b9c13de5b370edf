/** The tools behind the tokens of a service. */
import { makeToken, serve, type StoredToken } from "@memfold/server"
import { expect, it, onTestFinished } from "vitest"
import { mcpHandler } from "../src/index.js"
import { overHttp, turn } from "./clients.js"

/** A service with tokens, and clients by what a token allows. */
const service = async (maxSessions?: number) => {
  const stored: Array<StoredToken> = []
  const tokenOf = (tenant: string, rights: StoredToken["rights"]) => {
    const made = makeToken({ tenant, rights })
    stored.push(made.stored)
    return made.token
  }
  const [writer, reader, other] = [
    tokenOf("acme", ["read", "write"]),
    tokenOf("acme", ["read"]),
    tokenOf("other", ["read", "write"]),
  ]
  const { url, close } = await serve({
    store: "memory:",
    port: 0,
    log: "none",
    tokens: stored,
    mcp: mcpHandler,
    ...(maxSessions === undefined ? {} : { maxSessions }),
  })
  onTestFinished(close)
  const client = (token?: string) => overHttp(`${url}/mcp`, token)
  return { client, writer, reader, other }
}

it("shows each tenant its own sessions, by the ids that it gave them", async () => {
  const { client, writer, other } = await service()
  const [mine, theirs] = [await client(writer), await client(other)]
  const appended = { session: "one", messages: turn(1), owner: "ann", title: "Orders" }
  expect(await mine.call("append_messages", appended)).toMatchObject({ from: 0, to: 4, duplicate: false })
  expect(await mine.call("get_context", { session: "one" })).toMatchObject({ messages: turn(1) })
  expect(await mine.call("search_memory", { session: "one", query: "KX-4001" })).toMatchObject({
    messages: expect.arrayContaining([expect.objectContaining({ role: "user" })]),
  })
  const listed = { sessions: [{ session: "one", owner: "ann", title: "Orders" }], more: false }
  expect(await mine.call("list_sessions", {})).toMatchObject(listed)
  expect(await mine.call("list_sessions", { owner: "ann" })).toMatchObject(listed)
  expect(await mine.call("read_messages", { session: "one", limit: 1 })).toMatchObject({ total: 4 })
  expect(await mine.call("compact", { session: "one" })).toMatchObject({ outcome: expect.any(String) })
  expect(await mine.call("list_summaries", { session: "one" })).toMatchObject({
    summaries: expect.any(Array),
  })

  expect(await theirs.call("list_sessions", {})).toEqual({ sessions: [], more: false })
  const missing = await theirs.call("read_messages", { session: "one" })
  expect(missing.error).toContain('There is no session "one"')
  expect(JSON.stringify(missing)).not.toContain("KX-")
})

it("has the tools that only read for a token that may only read, and none without a token", async () => {
  const { client, writer, reader } = await service()
  const names = async (token: string) =>
    (await (await client(token)).client.listTools()).tools.map(({ name }) => name)
  expect(await names(writer)).toHaveLength(10)
  expect(await names(reader)).toEqual([
    "get_context",
    "search_memory",
    "read_messages",
    "list_sessions",
    "known_facts",
    "list_summaries",
    "explain_summary",
  ])
  await expect(client()).rejects.toThrow(/401|token/i)
})

it("begins no more sessions than its tenant may have", async () => {
  const { client, writer } = await service(1)
  const { call } = await client(writer)
  expect(await call("append_messages", { session: "one", messages: turn(1) })).toMatchObject({ to: 4 })
  expect(await call("append_messages", { session: "one", messages: turn(2) })).toMatchObject({ to: 8 })
  const refused = await call("append_messages", { session: "two", messages: turn(1) })
  expect(refused.error).toMatch(/no more are allowed.*Nothing was stored/)
})
