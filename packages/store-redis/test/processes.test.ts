/** Many processes on one session: every append once, and each process' in its order (law L12). */
import { describe, expect, it } from "vitest"
import { bundled } from "@memfold/harness/children"
import { often } from "@memfold/harness/depth"
import { servers } from "@memfold/harness/redisServers"
import { checkTogether, together, writers } from "@memfold/harness/together"
import type { Options } from "../src/index.js"
import { tenant, withLog } from "./support.js"

const script = bundled(new URL("children/", import.meta.url), ["writer"])
const { server, cluster } = servers()
const append = async (options: Options, count: number) => {
  const conflicts = await together(script("writer"), options, count)
  await withLog(options, (log) => checkTogether(log, count))
  // They have met each other.
  expect(conflicts).toBeGreaterThan(0)
}

describe(`${writers} processes append to one session`, () => {
  it(`of a server with appendfsync always, ${often(15, 1_000)} records each`, async () => {
    const { url } = await server({ config: ["appendonly yes", "appendfsync always"] })
    await append({ url, prefix: tenant(), require: "fsync" }, often(15, 1_000))
  })

  it(`of a cluster, ${often(15, 1_000)} records each`, async () => {
    const { addresses } = await cluster(["appendonly yes", "appendfsync everysec"])
    await append({ cluster: addresses, prefix: tenant() }, often(15, 1_000))
  })
})
