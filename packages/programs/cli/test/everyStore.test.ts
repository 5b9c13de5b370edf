/** A session on its way through every kind of store that a URL names. */
import { beforeAll, describe, expect, it } from "vitest"
import { libsqlServers } from "@memfold/harness/libsqlServers"
import { postgresServers } from "@memfold/harness/postgresServers"
import { inFolder, lines, sample } from "@memfold/harness/program"
import { servers } from "@memfold/harness/redisServers"

const { memfold } = inFolder("every-store")
const newPostgres = postgresServers().server
const newRedis = servers().server
const newLibsql = libsqlServers()

/** The stores in the order of the way: each one is copied to the next. */
let way: ReadonlyArray<string>
beforeAll(async () => {
  const [postgres, redis, libsql] = await Promise.all([
    newPostgres({ config: ["fsync = off"], access: ["host all ann 127.0.0.1/32 trust"] }),
    newRedis(),
    newLibsql(),
  ])
  await postgres.client.query("CREATE ROLE ann LOGIN SUPERUSER")
  way = [
    "sqlite:start.db",
    `postgres://ann@127.0.0.1:${postgres.port}/postgres?schema=chats`,
    `redis://127.0.0.1:${redis.port}/0?prefix=chats`,
    libsql.url.replace("http:", "libsql:") + "?tls=0",
    "sqlite:end.db",
  ]
})

describe("a copy from store to store", () => {
  it("ends with the records that it began with, and each store on the way is clean", async () => {
    const [start = ""] = way
    for (const [name, strategy] of [
      ["coding-agent.jsonl", "split-turn"],
      ["support-zh.jsonl", "rounds"],
    ] as const)
      expect(await memfold("replay", sample(name), "--strategy", strategy, "--store", start)).toMatchObject({
        code: 0,
      })
    const sessions = lines((await memfold("sessions", "--store", start, "--json")).out)
    const [first] = sessions.map(({ session }) => String(session))
    expect(await memfold("compact", first!, "--store", start)).toMatchObject({ code: 0 })
    const expected = await memfold("export", "--store", start)
    expect(expected.code).toBe(0)
    for (const [at, to] of way.entries()) {
      if (at === 0) continue
      const copied = await memfold("copy", "--from", way[at - 1]!, "--to", to, "--json")
      expect(copied).toMatchObject({ code: 0, err: "" })
      expect(lines(copied.out).at(-1)).toMatchObject({ type: "copy", sessions: 2, diverged: 0, failed: 0 })
      expect((await memfold("verify", "--store", to)).out).toContain("clean")
      expect(await memfold("export", "--store", to)).toEqual(expected)
    }
  })
})
