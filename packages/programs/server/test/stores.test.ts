/** Two services over one store on a server: what one writes, the other serves, lists, and streams. */
import { createClient } from "@memfold/client"
import { type Postgres, postgresServers } from "@memfold/harness/postgresServers"
import { type Server, servers } from "@memfold/harness/redisServers"
import { beforeAll, describe, expect, it } from "vitest"
import { makeToken } from "../src/index.js"
import { ask, started, turn } from "./services.js"

const redisServers = servers()
const { server: startPostgres } = postgresServers()
let redis: Server
let postgres: Postgres
beforeAll(async () => {
  redis = await redisServers.server()
  postgres = await startPostgres({ config: ["fsync = off"], access: ["host all ann 127.0.0.1/32 trust"] })
  await postgres.client.query("CREATE ROLE ann LOGIN SUPERUSER")
})

describe.each([
  ["Redis", () => `redis://127.0.0.1:${redis.port}`],
  ["PostgreSQL", () => `postgres://ann@127.0.0.1:${postgres.port}/postgres`],
])("two services over %s", (_name, storeOf) => {
  it("serve one another's sessions, each to its tenant", async () => {
    const store = storeOf()
    const [mine, theirs] = ["acme", "other"].map((tenant) =>
      makeToken({ tenant, rights: ["read", "write", "erase"] }),
    ) as [ReturnType<typeof makeToken>, ReturnType<typeof makeToken>]
    const tokens = [mine.stored, theirs.stored]
    const [one, two] = await Promise.all([started({ store, tokens }), started({ store, tokens })])
    const here = createClient({ url: one.url, token: mine.token })
    const there = createClient({ url: two.url, token: mine.token })
    const seen = (async () => {
      const versions: Array<number> = []
      for await (const { version } of there.changes("s")) if (versions.push(version) === 5) break
      return versions
    })()
    await here.append("s", turn(1), { owner: "ann" })
    expect((await there.context("s")).messages).toEqual(turn(1))
    const { version } = await there.append("s", turn(2))
    expect(version).toBe(5)
    await expect(here.append("s", turn(3), { ifVersion: 3 })).rejects.toMatchObject({
      error: "VersionMismatch",
    })
    expect(await seen).toEqual([1, 2, 3, 4, 5])
    for (const query of [{}, { owner: "ann" }])
      expect((await there.sessions(query)).sessions).toMatchObject([
        { session: "s", owner: "ann", version: 5 },
      ])
    const other = createClient({ url: two.url, token: theirs.token })
    expect((await other.sessions()).sessions).toEqual([])
    expect((await other.recallOf("ann", "order")).messages).toEqual([])
    await there.ready()
  })

  it("refuse a name that is too long for the store as a request that is too large, beside requests that are not", async () => {
    const { url } = await started({ store: storeOf() })
    const long = Array.from({ length: 1_000 }, (_, at) =>
      String.fromCodePoint(0x4e00 + ((at * 7_919) % 20_000)),
    ).join("")
    const one = { messages: { role: "user", content: "Hi" } }
    await ask(`${url}/v1/sessions/long/messages`, { body: one })
    const [status, name] = storeOf().startsWith("redis:") ? [201, undefined] : [413, "urn:memfold:TooLong"]
    const names: ReadonlyArray<readonly [path: string, body: object, status?: number]> = [
      ["sessions/owned/messages", { ...one, owner: long }],
      [`sessions/${encodeURIComponent(long)}/messages`, one],
      ["sessions/long/fork", { to: `${long}2` }],
      [`feed/groups/${encodeURIComponent(long)}`, {}, 200],
    ]
    const answers = await Promise.all([
      ...names.map(([path, body]) => ask(`${url}/v1/${path}`, { body })),
      ...[1, 2, 3].map((n) => ask(`${url}/v1/sessions/beside${n}/messages`, { body: one })),
    ])
    expect(answers.map((answer) => answer.status)).toEqual([
      ...names.map(([, , taken = 201]) => (status === 201 ? taken : status)),
      201,
      201,
      201,
    ])
    for (const { body } of answers.slice(0, names.length))
      expect((body as { readonly type?: string }).type).toBe(name)
  })

  it("refuse a name that a store cannot have as a wrong request, and take each text that is said", async () => {
    const { url } = await started({ store: storeOf() })
    const call = {
      id: "c\0",
      type: "function",
      function: { name: "look", arguments: JSON.stringify({ at: "a\0b", "a\0": 1 }) },
    }
    const messages = [
      { role: "user", content: "The order a\0b is \ufffe late." },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: call.id, content: "at\0last" },
    ]
    const said = await ask(`${url}/v1/sessions/nul/messages`, { body: { messages, owner: "ann" } })
    expect(said.status).toBe(201)
    expect((await ask(`${url}/v1/sessions/nul/context`)).body).toMatchObject({ messages })
    for (const query of ["order a\0b", "\0"])
      for (const [path, body] of [
        ["sessions/nul/recall", { query }],
        ["recall", { query, owner: "ann" }],
      ] as const)
        expect((await ask(`${url}/v1/${path}`, { body })).status).toBe(200)
    const one = { messages: { role: "user", content: "Hi" } }
    const names: ReadonlyArray<readonly [method: string, path: string, body?: object]> = [
      ...["", "/messages", "/context", "/branches", "/summaries", "/audit", "/events", "/timeline"].map(
        (path) => ["GET", `sessions/a%00b${path}`] as const,
      ),
      ["DELETE", "sessions/a%00b"],
      ["POST", "sessions/a%00b/messages", one],
      ["PUT", "sessions/a%00b/messages", one],
      ["POST", "sessions/a%00b/recall", { query: "x" }],
      ["POST", "sessions/a%00b/clear", {}],
      ["POST", "sessions/nul/fork", { to: "a\0b" }],
      ["POST", "sessions/nul/messages", { ...one, owner: "a\0b" }],
      ["POST", "sessions/nul/messages", { ...one, title: "a\0b" }],
      ["PATCH", "sessions/nul", { title: "a\0b" }],
      ["PATCH", "sessions/nul", { owner: "a\0b" }],
      ["GET", "sessions?owner=a%00b"],
      ["GET", `sessions?cursor=${Buffer.from('[1,"a\\u0000b"]').toString("base64url")}`],
      ["GET", `sessions?cursor=${Buffer.from('[1,"\\ud800"]').toString("base64url")}`],
      ["POST", "recall", { query: "x", owner: "a\0b" }],
      ["GET", "owners/a%00b/audit"],
      ["DELETE", "owners/a%00b"],
      ["POST", "feed/groups/a%00b", {}],
    ]
    for (const turn of ["1:a\0b", "1:\ud800"])
      expect((await ask(`${url}/v1/feed/groups/one`, { body: { turn } })).status).toBe(409)
    for (const [method, path, body] of names) {
      const { status } = await ask(`${url}/v1/${path}`, { method, ...(body === undefined ? {} : { body }) })
      expect([method, path, body, status]).toEqual([method, path, body, 400])
    }
  })
})
