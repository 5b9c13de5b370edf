/** Many processes on one session: every append once, and each process' in its order (law L12). */
import { beforeAll, describe, expect, it } from "vitest"
import { bundled } from "@memfold/harness/children"
import { often } from "@memfold/harness/depth"
import { type Bouncer, type Postgres, postgresServers } from "@memfold/harness/postgresServers"
import { checkTogether, together, writers } from "@memfold/harness/together"
import { newSchema, withLog } from "./support.js"

const script = bundled(new URL("children/", import.meta.url), ["writer"])
const { server, bouncer } = postgresServers()
let one: Postgres
let pooled: Bouncer
beforeAll(async () => {
  one = await server({ config: ["fsync = off"] })
  pooled = await bouncer(one)
})

const count = often(15, 1_000)

describe(`${writers} processes append to one session`, () => {
  it.each([
    ["directly", () => one.url],
    ["through a PgBouncer in transaction mode", () => pooled.url],
    [
      "where transactions are serializable",
      () => `${one.url}?options=-c default_transaction_isolation=serializable`,
    ],
  ])(`%s, ${count} records each`, async (_way, url) => {
    const options = { url: url(), schema: newSchema() }
    const conflicts = await together(script("writer"), options, count)
    await withLog(options, (log) => checkTogether(log, count))
    // They have met each other.
    expect(conflicts).toBeGreaterThan(0)
  })
})
