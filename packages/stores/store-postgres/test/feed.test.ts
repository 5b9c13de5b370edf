/** The feed where transactions commit in another order than they began, in tables of an older memfold, and in a database that was restored. */
import type { EventLog } from "@memfold/core"
import { Effect } from "effect"
import { Client } from "pg"
import { expect, it, onTestFinished } from "vitest"
import { records } from "@memfold/harness/crowd"
import { postgresServers } from "@memfold/harness/postgresServers"
import { migrations } from "../src/index.js"
import { newSchema, withLog } from "./support.js"

const { server } = postgresServers()
const connected = async (url: string): Promise<Client> => {
  const client = new Client(url)
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

const append = (log: EventLog.Service, session: string, version: number, count = 1) =>
  log.append(session, records(count), { expectedVersion: version, batchId: `${session}-${version}` })

/** What is behind a position, as `SESSION VERSION`, and the position behind it. */
const behind = (log: EventLog.Service, after?: string) =>
  Effect.map(log.feed!({ after, limit: 1_000 }), (page) => ({
    found: page.map(({ record }) => `${record.session} ${record.version}`),
    end: page.at(-1)?.position ?? after,
  }))

it("nothing comes in front of what was read, though an older transaction commits last, and a session stays in its order", async () => {
  const { url } = await server({ config: ["fsync = off"] })
  const application = await connected(url)
  await withLog({ url, schema: newSchema() }, (log) =>
    Effect.gen(function* () {
      yield* append(log, "early", 0)
      const first = yield* behind(log)
      expect(first.found).toEqual(["early 1"])

      yield* Effect.promise(() => application.query("BEGIN; SELECT pg_current_xact_id()"))
      const inside = yield* log.within!(application)
      yield* append(inside, "inside", 0, 2)
      // Another transaction begins later, commits first, and writes to the session that the older one goes on with.
      yield* append(log, "both", 0)
      yield* append(log, "outside", 0)
      expect((yield* behind(log, first.end)).found).toEqual([])
      yield* append(inside, "both", 1)
      yield* Effect.promise(() => application.query("COMMIT"))

      const { found } = yield* behind(log, first.end)
      expect(found.toSorted()).toEqual(["both 1", "both 2", "inside 1", "inside 2", "outside 1"])
      expect(found.indexOf("both 1")).toBeLessThan(found.indexOf("both 2"))
    }),
  )
})

it("what is rolled back is not in the feed, and holds it up no longer", async () => {
  const { url } = await server({ config: ["fsync = off"] })
  const application = await connected(url)
  await withLog({ url, schema: newSchema() }, (log) =>
    Effect.gen(function* () {
      yield* append(log, "before", 0)
      yield* Effect.promise(() => application.query("BEGIN"))
      const inside = yield* log.within!(application)
      yield* append(inside, "inside", 0)
      yield* append(log, "after", 0)
      expect((yield* behind(log)).found).toEqual(["before 1"])
      yield* Effect.promise(() => application.query("ROLLBACK"))
      expect((yield* behind(log)).found).toEqual(["before 1", "after 1"])
    }),
  )
})

it("tables of an older memfold are taken over: what was there comes first, and what the older one still writes is there, too", async () => {
  const { url, client } = await server({ config: ["fsync = off"] })
  const schema = newSchema()
  const second = migrations({ schema, from: 1 })
  const first = migrations({ schema }).slice(0, -second.length)
  for (const statement of first) await client.query(statement)
  const old = (id: number, version: number) =>
    client.query(
      `INSERT INTO ${schema}.sessions (name, created_at, last_version) VALUES ('old-${id}', 0, ${version}) ON CONFLICT DO NOTHING;
       INSERT INTO ${schema}.types (name) VALUES ('Noted') ON CONFLICT DO NOTHING;
       INSERT INTO ${schema}.events (id, time, type, schema_version, batch_position, batch_id, data)
       SELECT sessions.id << 32 | ${version}, 0, types.id, 1, 0, 'o', '{}' FROM ${schema}.sessions, ${schema}.types
       WHERE sessions.name = 'old-${id}' AND types.name = 'Noted'`,
    )
  await old(1, 1)
  await old(2, 1)
  await withLog({ url, schema }, (log) =>
    Effect.gen(function* () {
      yield* append(log, "new", 0)
      yield* Effect.promise(() => old(3, 1))
      const all = yield* behind(log)
      expect(all.found).toEqual(["old-1 1", "old-2 1", "new 1", "old-3 1"])
    }),
  )
})

it("in a database that was restored from a dump, whose server counts its transactions anew, the feed goes on behind what was read", async () => {
  const { url, client } = await server({ config: ["fsync = off"] })
  const schema = newSchema()
  const end = await withLog({ url, schema }, (log) =>
    Effect.zipRight(
      append(log, "chat", 0),
      Effect.map(behind(log), (read) => read.end),
    ),
  )
  // As a dump has it: the numbers of a server that has counted further.
  const far = 1_000_000_000
  await client.query(
    `UPDATE ${schema}.events SET fed = fed + ${far}; UPDATE ${schema}.sessions SET fed = fed + ${far}`,
  )
  const [fed = "0", id = "0"] = end!.split(".")
  const read = `${Number(fed) + far}.${id}`
  await withLog({ url, schema }, (log) =>
    Effect.gen(function* () {
      yield* append(log, "chat", 1)
      yield* append(log, "other", 0)
      expect((yield* behind(log, read)).found).toEqual(["chat 2", "other 1"])
      expect((yield* behind(log)).found).toEqual(["chat 1", "chat 2", "other 1"])
    }),
  )
})
