/** The laws that every store keeps, on real servers. */
import type { EventLog } from "@memfold/core"
import { Effect, Layer } from "effect"
import { beforeAll } from "vitest"
import { often } from "../../core/test/depth.js"
import { eventLogLaws } from "../../testing/src/vitest.js"
import { type Cluster, type Server, servers } from "../test/servers.js"
import { tenant } from "../test/support.js"
import { keysOf, layer, type Options } from "./index.js"
import { fromStored } from "./stored.js"

const { server, cluster } = servers()
let always: Server
let everysec: Server
let three: Cluster
beforeAll(async () => {
  ;[always, everysec, three] = await Promise.all([
    server({ config: ["appendonly yes", "appendfsync always"] }),
    server({ config: ["appendonly yes", "appendfsync everysec"] }),
    cluster(["appendonly yes", "appendfsync everysec"]),
  ])
})

/** The laws for a store that is reached so; every log is a tenant of its own. */
const laws = (name: string, numRuns: number, options: () => Options, nodes: () => ReadonlyArray<Server>) => {
  const ofTenant = (prefix: string) => Layer.suspend(() => layer({ ...options(), prefix }))
  const summaryIn = async (prefix: string, session: string) => {
    for (const { client } of nodes()) {
      const id = await client.hget(keysOf(prefix, session).summary, "id").catch(() => null)
      if (id !== null) return [fromStored(id)]
    }
    return []
  }
  eventLogLaws({
    name,
    numRuns,
    timeout: often(120_000, 900_000),
    timeLimit: 60_000,
    layer: () => ofTenant(tenant()),
    reopen: () => ofTenant(tenant()),
    projection: () => {
      const prefix = tenant()
      return {
        layer: ofTenant(prefix) as Layer.Layer<EventLog.EventLog, EventLog.LogError>,
        active: (session) => Effect.promise(() => summaryIn(prefix, session)),
      }
    },
  })
}

laws(
  "Redis, appendfsync always",
  often(4, 100),
  () => ({ url: always.url, require: "fsync" }),
  () => [always],
)
laws(
  "Redis, appendfsync everysec",
  often(4, 100),
  () => ({ url: everysec.url, require: "everysec" }),
  () => [everysec],
)
laws(
  "a Redis Cluster of three masters",
  often(3, 100),
  () => ({ cluster: three.addresses, require: "everysec" }),
  () => three.nodes,
)
