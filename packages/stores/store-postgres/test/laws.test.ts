/** The laws of stores, and of whole memories, over a real server: directly, and through a PgBouncer in transaction mode. */
import { Layer } from "effect"
import { beforeAll } from "vitest"
import { deep, often } from "@memfold/harness/depth"
import { type Bouncer, type Postgres, postgresServers } from "@memfold/harness/postgresServers"
import { eventLogLaws, memoryLaws } from "@memfold/testing/vitest"
import { layer, type Options } from "../src/index.js"
import { newSchema } from "./support.js"

const { server, bouncer } = postgresServers()
// Nothing here is about power cuts.
const config = ["fsync = off"]
let one: Postgres
beforeAll(async () => {
  one = await server({ config })
})

const laws = (name: string, where: () => Pick<Options, "url" | "replica">) =>
  eventLogLaws({
    name,
    layer: () => Layer.suspend(() => layer({ ...where(), schema: newSchema() })),
    reopen: () => {
      const schema = newSchema()
      return Layer.suspend(() => layer({ ...where(), schema }))
    },
    numRuns: often(2, 100),
    timeout: often(120_000, 900_000),
    timeLimit: 60_000,
  })

laws("PostgreSQL", () => ({ url: one.url }))
// The same statements, on connections of a pool; `processes.test.ts` and `changes.test.ts` have what differs there.
if (deep) {
  let late: Postgres
  beforeAll(async () => {
    // It has what the primary has, and always later.
    const delay = "recovery_min_apply_delay = 10ms"
    late = await server({ config: [...config, delay], standby: { of: one, name: "late" } })
  })
  laws("PostgreSQL with a standby that lags", () => ({ url: one.url, replica: `127.0.0.1:${late.port}` }))
  let pooled: Bouncer
  beforeAll(async () => {
    pooled = await bouncer(one)
  })
  laws("PgBouncer", () => ({ url: pooled.url }))
}

memoryLaws({
  name: "PostgreSQL",
  numRuns: often(1, 50),
  timeout: often(120_000, 1_200_000),
  timeLimit: 60_000,
  skip: {
    L11: "its time goes on while a server is still answering, so that background work is never sure to be done",
  },
  layer: () => Layer.suspend(() => layer({ url: one.url, schema: newSchema() })),
})
