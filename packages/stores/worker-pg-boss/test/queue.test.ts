/** The queue itself, over a real PostgreSQL. */
import { often } from "@memfold/harness/depth"
import { eventually } from "@memfold/harness/eventually"
import { postgresServers } from "@memfold/harness/postgresServers"
import { checkQueue } from "@memfold/harness/queues"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { hurry } from "../src/Boss.js"
import { make } from "../src/index.js"

const { server } = postgresServers()
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

it("hands on the look of a worker that is gone when its lease has ended, and waits for no back-off", async () => {
  const { url, client } = await server()
  const sessions: Array<string> = []
  const worked = Effect.gen(function* () {
    const queue = yield* make({ url, queue: "gone", backOff: 600_000, lease: 1_000, pollInterval: 50 })
    yield* queue.dispatch({ session: "chat-1", time: 0, fill: 0.5 })
    // A worker has taken it, for the second time, and was killed.
    yield* Effect.promise(() =>
      client.query(
        "UPDATE pgboss.job SET state = 'active', retry_count = 1, started_on = now() - interval '1 minute' WHERE name = 'gone'",
      ),
    )
    yield* queue.work(({ session }) => Effect.sync(() => void sessions.push(session)), {
      concurrency: 1,
      shutdown: 1_000,
    })
    yield* Effect.promise(() => eventually("the look is taken", async () => sessions.length === 1))
  })
  await Effect.runPromise(Effect.scoped(worked))
  expect(sessions).toEqual(["chat-1"])
})
