/** Many processes on one session: every append once, and each process' in its order (law L12). */
import { EventLog } from "@memfold/core"
import { Effect } from "effect"
import { describe, expect, it, vi } from "vitest"
import { often } from "@memfold/harness/depth"
import { bundled, start } from "@memfold/harness/children"
import type { Options } from "../src/index.js"
import { servers } from "@memfold/harness/redisServers"
import { all, tenant, withLog } from "./support.js"

const script = bundled(new URL("children/", import.meta.url), ["writer"])
const { server, cluster } = servers()
vi.setConfig({ testTimeout: 300_000 })

const processes = ["a", "b", "c", "d", "e", "f", "g", "h"]

const together = async (options: Options, count: number) => {
  const running = processes.map((name) =>
    start(script("writer"), JSON.stringify(options), name, String(count)),
  )
  for (const child of running) expect(await child.line()).toBe("ready")
  for (const child of running) child.say("go")
  const conflicts = await Promise.all(
    running.map(async (child) => {
      const [last] = await child.end()
      expect(last).toMatch(/^done /)
      return Number(last?.slice(5))
    }),
  )
  await withLog(options, (log) =>
    Effect.gen(function* () {
      const records = yield* all(EventLog.records(log, "one"))
      expect(records.map(({ version }) => version)).toEqual(
        Array.from({ length: processes.length * count }, (_, at) => at + 1),
      )
      for (const name of processes) {
        const mine = records.filter(({ batchId }) => batchId.startsWith(`${name}-`))
        expect(mine.map(({ data }) => data)).toEqual(
          Array.from({ length: count }, (_, n) => `"${name}.${n}"`),
        )
      }
    }),
  )
  // They have met each other.
  expect(conflicts.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(0)
}

describe("8 processes append to one session", () => {
  it(`of a server with appendfsync always, ${often(40, 1_000)} records each`, async () => {
    const { url } = await server({ config: ["appendonly yes", "appendfsync always"] })
    await together({ url, prefix: tenant(), require: "fsync" }, often(40, 1_000))
  })

  it(`of a cluster, ${often(40, 1_000)} records each`, async () => {
    const { addresses } = await cluster(["appendonly yes", "appendfsync everysec"])
    await together({ cluster: addresses, prefix: tenant() }, often(40, 1_000))
  })
})
