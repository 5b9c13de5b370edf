/** Tenants in one schema: each is a role, and row-level security keeps their sessions apart, whatever they run. */
import { EventLog } from "@memfold/core"
import { Effect } from "effect"
import { Pool } from "pg"
import { beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { all, records } from "@memfold/harness/crowd"
import { type Bouncer, type Postgres, postgresServers } from "@memfold/harness/postgresServers"
import { make, migrations, tenants } from "../src/index.js"
import { newSchema, withLog } from "./support.js"

const { server, bouncer } = postgresServers()
let one: Postgres
let pooled: Bouncer
beforeAll(async () => {
  one = await server({ config: ["fsync = off"] })
  pooled = await bouncer(one)
  await one.client.query("CREATE ROLE ann LOGIN; CREATE ROLE bob LOGIN")
})

const as = (role: string, url: string) => url.replace("memfold@", `${role}@`)

const shared = async () => {
  const schema = newSchema()
  await one.client.query([...migrations({ schema }), ...tenants({ schema, roles: ["ann"] })].join(";"))
  await one.client.query(tenants({ schema, roles: ["bob"], again: true }).join(";"))
  return schema
}

const described = (owner: string) => [
  { kind: "description", rows: [{ key: "", data: JSON.stringify({ owner, title: `of ${owner}` }) }] },
  { kind: "snapshot", rows: [{ key: "1", data: `"${owner}"` }] },
]

describe.each([
  ["directly", () => one.url],
  ["through a PgBouncer in transaction mode", () => pooled.url],
])("two tenants, %s", (_way, url) => {
  it("use the same session ids, and neither sees or changes a session of the other", async () => {
    const schema = await shared()
    await withLog({ url: as("ann", url()), schema }, (ann) =>
      Effect.gen(function* () {
        const bob = yield* make({ url: as("bob", url()), schema })
        const write = (log: EventLog.Service, who: string) =>
          Effect.gen(function* () {
            yield* log.append("s", records(2, `"${who}"`), {
              expectedVersion: 0,
              batchId: "a",
              projections: described(who),
            })
            return yield* log.append("s", records(1, `"${who}"`), { expectedVersion: 2, batchId: "b" })
          })
        expect(yield* write(ann, "ann")).toEqual({ fromVersion: 3, version: 3, duplicate: false })
        expect(yield* bob.head("s")).toBe(null)
        expect(yield* bob.delete("s")).toBe(false)
        expect(yield* write(bob, "bob")).toEqual({ fromVersion: 3, version: 3, duplicate: false })
        yield* ann.append("only ann", records(1), { expectedVersion: 0, batchId: "a" })

        for (const [log, who] of [
          [ann, "ann"],
          [bob, "bob"],
        ] as const) {
          const data = (yield* all(EventLog.records(log, "s"))).map((record) => record.data)
          expect(data).toEqual([`"${who}"`, `"${who}"`, `"${who}"`])
          expect(yield* log.projections.get("s", "snapshot")).toEqual([{ key: "1", data: `"${who}"` }])
          const names = (yield* log.list({ limit: 10 })).map(({ session, owner }) => [session, owner])
          expect(names).toEqual(
            who === "ann"
              ? [
                  ["only ann", undefined],
                  ["s", "ann"],
                ]
              : [["s", "bob"]],
          )
        }
        expect(yield* bob.list({ owner: "ann", limit: 10 })).toEqual([])
        yield* bob.projections.drop("snapshot")
        expect(yield* ann.projections.get("s", "snapshot")).toHaveLength(1)
        expect(yield* bob.delete("s")).toBe(true)
        expect(yield* EventLog.versionOf(ann, "s")).toBe(3)
      }),
    )
    const { rows } = await one.client.query(`SELECT count(*) AS events FROM ${schema}.events`)
    expect(rows).toEqual([{ events: "4" }])
  })
})

it("SQL of a tenant's own reaches no session of another", async () => {
  const schema = await shared()
  await withLog({ url: as("ann", one.url), schema }, (log) =>
    log.append("s", records(2, '"private words"'), {
      expectedVersion: 0,
      batchId: "a",
      projections: described("ann"),
    }),
  )
  const bob = new Pool({ connectionString: as("bob", one.url), max: 1 })
  onTestFinished(() => bob.end())
  for (const name of ["sessions", "events", "projections", "summaries", "log", "compressed_summaries"])
    expect((await bob.query(`SELECT * FROM ${schema}.${name}`)).rows).toEqual([])
  for (const name of ["sessions", "events", "projections", "summaries"])
    expect((await bob.query(`DELETE FROM ${schema}.${name}`)).rowCount).toBe(0)
  const { rows } = await one.client.query<{ id: string }>(`SELECT id FROM ${schema}.sessions`)
  const [{ id } = { id: "" }] = rows
  const refused = /violates row-level security policy/
  await expect(
    bob.query(
      `INSERT INTO ${schema}.events (id, time, type, schema_version, batch_position, data)
       VALUES ((${id}::bigint << 32) + 9, 0, 1, 1, 0, '{}')`,
    ),
  ).rejects.toThrow(refused)
  await expect(
    bob.query(`INSERT INTO ${schema}.projections (session, kind, key, data) VALUES (${id}, 'a', 'b', 'c')`),
  ).rejects.toThrow(refused)
  await expect(
    bob.query(`INSERT INTO ${schema}.sessions (name, created_at, tenant) VALUES ('mine', 0, 'ann')`),
  ).rejects.toThrow(refused)
})
