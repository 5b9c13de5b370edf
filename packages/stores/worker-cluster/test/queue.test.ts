/** The queue itself, over a real PostgreSQL and a file of SQLite. */
import { often } from "@memfold/harness/depth"
import { postgresServers } from "@memfold/harness/postgresServers"
import { checkQueue } from "@memfold/harness/queues"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe } from "vitest"
import { make } from "../src/index.js"

const { server } = postgresServers()
const folder = mkdtempSync(join(tmpdir(), "memfold-cluster-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const patience = { attempts: 2, backOff: 10, lease: 3_000, pollInterval: 50 }

describe("on PostgreSQL", () => {
  checkQueue(
    async () => {
      const { url } = await server()
      return (queue) => make({ url, queue, ...patience })
    },
    often(20, 200),
  )
})

describe("on SQLite", () => {
  checkQueue(
    async () => (queue) => make({ url: `sqlite:${join(folder, "queues.db")}`, queue, ...patience }),
    often(20, 200),
  )
})
