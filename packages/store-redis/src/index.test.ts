/** The laws that every store keeps, on real servers. */
import { Layer } from "effect"
import { beforeAll } from "vitest"
import { deep, often } from "@memfold/harness/depth"
import { eventLogLaws } from "@memfold/testing/vitest"
import { type Cluster, type Server, servers } from "@memfold/harness/redisServers"
import { tenant } from "../test/support.js"
import { layer, type Options } from "./index.js"

const { server, cluster } = servers()
let always: Server
beforeAll(async () => {
  always = await server({ config: ["appendonly yes", "appendfsync always"] })
})

/** The laws for a store with these options. Every log is a tenant of its own. */
const laws = (name: string, numRuns: number, options: () => Options) => {
  const fresh = () => {
    const prefix = tenant()
    return Layer.suspend(() => layer({ ...options(), prefix }))
  }
  eventLogLaws({
    name,
    numRuns,
    timeout: often(120_000, 900_000),
    timeLimit: 60_000,
    layer: fresh,
    reopen: fresh,
    replace: false,
  })
}

laws("Redis, appendfsync always", often(2, 100), () => ({ url: always.url, require: "fsync" }))

// The same statements, on servers that are set up otherwise.
if (deep) {
  let everysec: Server
  let three: Cluster
  beforeAll(async () => {
    ;[everysec, three] = await Promise.all([
      server({ config: ["appendonly yes", "appendfsync everysec"] }),
      cluster(["appendonly yes", "appendfsync everysec"]),
    ])
  })
  laws("Redis, appendfsync everysec", 100, () => ({ url: everysec.url, require: "everysec" }))
  laws("a Redis Cluster of three masters", 100, () => ({ cluster: three.addresses, require: "everysec" }))
}
