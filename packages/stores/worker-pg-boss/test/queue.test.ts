/** The queue itself, over a real PostgreSQL. */
import { often } from "@memfold/harness/depth"
import { postgresServers } from "@memfold/harness/postgresServers"
import { checkQueue } from "@memfold/harness/queues"
import { Effect } from "effect"
import { expect, it, vi } from "vitest"
import { hurry } from "../src/Boss.js"
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

it("finds the look that waits for a session by an index, however long the queue is", async () => {
  const { url, client } = await server()
  const dispatched = make({ url, queue: "long" }).pipe(
    Effect.flatMap(({ dispatch }) => dispatch({ session: "chat-1", time: 0, fill: 0.5 })),
    Effect.scoped,
  )
  await Effect.runPromise(dispatched)
  await client.query(
    `INSERT INTO pgboss.job (name, policy, data, singleton_key)
     SELECT name, policy, data, 'chat-' || number
     FROM pgboss.job, generate_series(2, 3000) AS number WHERE singleton_key = 'chat-1'`,
  )
  await client.query("ANALYZE pgboss.job")
  const { rows } = await client.query(`EXPLAIN ${hurry.replace("TABLE", "pgboss.job")}`, [
    "long",
    "chat-1000",
    null,
    900,
    0,
  ])
  const plan = rows.map((row: Record<string, unknown>) => String(row["QUERY PLAN"])).join("\n")
  expect(plan).toMatch(/Index Scan using \S+_i1/u)
  expect(plan).not.toContain("Seq Scan")
})
