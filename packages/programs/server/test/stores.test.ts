/** Two services over one store on a server: what one writes, the other serves, lists, and streams. */
import { createClient } from "@memfold/client"
import { type Postgres, postgresServers } from "@memfold/harness/postgresServers"
import { type Server, servers } from "@memfold/harness/redisServers"
import { beforeAll, describe, expect, it } from "vitest"
import { makeToken } from "../src/index.js"
import { started, turn } from "./services.js"

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
})
