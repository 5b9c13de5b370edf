/** The laws of stores, and of whole memories, over a real server: directly, and through a PgBouncer in transaction mode. */
import { Layer } from "effect"
import { beforeAll } from "vitest"
import { often } from "@memfold/harness/depth"
import { type Bouncer, type Postgres, postgresServers } from "@memfold/harness/postgresServers"
import { eventLogLaws, memoryLaws } from "@memfold/testing/vitest"
import { layer, type Options } from "../src/index.js"
import { newSchema } from "./support.js"

const { server, bouncer } = postgresServers()
let one: Postgres
let pooled: Bouncer
beforeAll(async () => {
  // Nothing here is about power cuts.
  one = await server({ config: ["fsync = off"] })
  pooled = await bouncer(one)
})

const laws = (name: string, quickly: number, where: () => Pick<Options, "url">) =>
  eventLogLaws({
    name,
    layer: () => Layer.suspend(() => layer({ ...where(), schema: newSchema() })),
    reopen: () => {
      const schema = newSchema()
      return Layer.suspend(() => layer({ ...where(), schema }))
    },
    numRuns: often(quickly, 100),
    timeout: often(120_000, 900_000),
    timeLimit: 60_000,
  })

laws("PostgreSQL", 3, () => ({ url: one.url }))
laws("PgBouncer", 1, () => ({ url: pooled.url }))

memoryLaws({
  name: "PostgreSQL",
  numRuns: often(2, 50),
  timeout: often(120_000, 1_200_000),
  timeLimit: 60_000,
  skip: {
    L11: "its time goes on while a server is still answering, so that background work is never sure to be done",
  },
  layer: () => Layer.suspend(() => layer({ url: one.url, schema: newSchema() })),
})
