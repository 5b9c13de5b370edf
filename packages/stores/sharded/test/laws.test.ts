/** The laws of every store over shards: in memory, and in three databases of PostgreSQL. */
import { EventLog, InMemoryEventLog } from "@memfold/core"
import { deep, often } from "@memfold/harness/depth"
import { type Postgres, postgresServers } from "@memfold/harness/postgresServers"
import { layer as postgres } from "@memfold/store-postgres"
import { eventLogLaws } from "@memfold/testing/vitest"
import { Effect, Layer } from "effect"
import { beforeAll } from "vitest"
import { makeSharded, sharded, type Placing } from "../src/index.js"

const inMemory = (placing: Placing) =>
  Layer.effect(
    EventLog.EventLog,
    Effect.map(
      Effect.forEach(["a", "b", "c"], (name) => Effect.map(InMemoryEventLog.make, (log) => ({ name, log }))),
      (shards): EventLog.Service => makeSharded({ shards, ...placing }),
    ),
  )

eventLogLaws({
  name: "three shards in memory, by session",
  numRuns: often(6, 200),
  layer: () => inMemory({}),
})
eventLogLaws({
  name: "three shards in memory, by owner",
  numRuns: often(6, 200),
  layer: () => inMemory({ place: "owner" }),
})

const { server } = postgresServers()
let one: Postgres
const databases = ["a", "b", "c"]
beforeAll(async () => {
  one = await server({ config: ["fsync = off"] })
  for (const name of databases) await one.client.query(`CREATE DATABASE shard_${name}`)
})

let schemas = 0
const fresh = () => {
  const schema = `s_${++schemas}`
  return Layer.suspend(() =>
    sharded({
      shards: Object.fromEntries(
        databases.map((name) => [
          name,
          { store: postgres({ url: one.url.replace(/\/[^/?]*(\?|$)/, `/shard_${name}$1`), schema }) },
        ]),
      ),
    }),
  )
}
eventLogLaws({
  name: "three databases of PostgreSQL",
  numRuns: often(1, 50),
  timeout: often(120_000, 900_000),
  timeLimit: 60_000,
  layer: fresh,
  ...(deep ? { reopen: fresh } : {}),
})
