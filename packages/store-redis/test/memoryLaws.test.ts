/** The laws of whole memories over a real server: the engine works over this store as over one in memory. */
import { Layer } from "effect"
import { beforeAll } from "vitest"
import { often } from "@memfold/harness/depth"
import { memoryLaws } from "@memfold/testing/vitest"
import { layer } from "../src/index.js"
import { type Server, servers } from "@memfold/harness/redisServers"
import { tenant } from "./support.js"

const { server } = servers()
let one: Server
beforeAll(async () => {
  one = await server({ config: ["appendonly yes", "appendfsync everysec"] })
})

memoryLaws({
  name: "Redis",
  numRuns: often(1, 50),
  timeout: often(120_000, 1_200_000),
  timeLimit: 60_000,
  skip: {
    L11: "its time goes on while a server is still answering, so that background work is never sure to be done",
  },
  layer: () => Layer.suspend(() => layer({ url: one.url, require: "everysec", prefix: tenant() })),
})
