/** The queue itself, over a real PostgreSQL. */
import { often } from "@memfold/harness/depth"
import { postgresServers } from "@memfold/harness/postgresServers"
import { checkQueue } from "@memfold/harness/queues"
import { vi } from "vitest"
import { make } from "../src/index.js"

const { server } = postgresServers()
vi.setConfig({ testTimeout: 300_000 })

checkQueue(
  async () => {
    const { url } = await server()
    return (queue) => make({ url, queue, attempts: 2, backOff: 10, lease: 1_000, pollInterval: 50 })
  },
  often(20, 200),
)
