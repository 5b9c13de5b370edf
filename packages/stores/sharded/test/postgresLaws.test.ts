/** The laws of every store over shards in three databases of PostgreSQL. */
import { postgresServers } from "@memfold/harness/postgresServers"
import { often } from "@memfold/harness/depth"
import { layer as postgres } from "@memfold/store-postgres"
import { eventLogLaws } from "@memfold/testing/vitest"
import { Layer } from "effect"
import { beforeAll } from "vitest"
import { sharded } from "../src/index.js"

const { server } = postgresServers()
let url: string
const databases = ["a", "b", "c"]
beforeAll(async () => {
  const one = await server({ config: ["fsync = off"] })
  for (const name of databases) await one.client.query(`CREATE DATABASE shard_${name}`)
  url = one.url
})

let schemas = 0
const fresh = () => {
  const schema = `s_${++schemas}`
  return Layer.suspend(() =>
    sharded({
      shards: Object.fromEntries(
        databases.map((name) => [
          name,
          { store: postgres({ url: url.replace(/\/[^/?]*(\?|$)/, `/shard_${name}$1`), schema }) },
        ]),
      ),
    }),
  )
}
eventLogLaws({
  name: "three databases of PostgreSQL",
  numRuns: often(1, 50),
  timeout: 900_000,
  timeLimit: 60_000,
  layer: fresh,
  reopen: fresh,
})
