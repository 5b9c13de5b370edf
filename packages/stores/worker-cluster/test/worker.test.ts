/** Web processes that append, and `memfold worker` processes that compact, over a real PostgreSQL and files of SQLite. */
import { often } from "@memfold/harness/depth"
import { postgresServers } from "@memfold/harness/postgresServers"
import { checkWorkers } from "@memfold/harness/workers"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe } from "vitest"
import { make } from "../src/index.js"

const { server } = postgresServers()
const folder = mkdtempSync(join(tmpdir(), "memfold-cluster-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const open = (url: string) => make({ url })

describe("on PostgreSQL", () => {
  checkWorkers(
    {
      place: async () => {
        const { url } = await server()
        return { store: url, queue: `cluster:${url}` }
      },
      server: async () => {
        const one = await server()
        return { ...one, url: `cluster:${one.url}` }
      },
      open,
    },
    often(3, 20),
  )
})

describe("on SQLite", () => {
  let files = 0
  checkWorkers(
    {
      place: async () => {
        const url = `sqlite:${join(folder, `${++files}.db`)}`
        return { store: url, queue: `cluster:${url}` }
      },
      open,
    },
    often(3, 20),
  )
})
