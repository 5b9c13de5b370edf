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
  const { rows } = await client.query(`EXPLAIN ${hurry.replaceAll("TABLE", "pgboss.job")}`, [
    "long",
    ["chat-1000", "chat-2000"],
    [null, null],
    [900, 900],
    [0, 0],
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

it("puts looks that come at once into the queue together, one for each session, by two statements", async () => {
  const { url, client } = await server()
  const sessions = Array.from({ length: 50 }, (_, at) => `chat-${at}`)
  const later = Date.now() + 3_600_000
  const dispatched = Effect.gen(function* () {
    const { dispatch } = yield* make({ url, queue: "crowd", schema: "crowd" })
    yield* dispatch({ session: "chat-0", time: later, fill: 0.1 })
    // It counts the statements that change rows, from here on.
    yield* Effect.promise(() =>
      client.query(`
        CREATE TABLE crowd.seen (kind TEXT);
        CREATE FUNCTION crowd.saw() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN INSERT INTO crowd.seen VALUES (TG_OP); RETURN NULL; END';
        CREATE TRIGGER saw AFTER INSERT OR UPDATE ON crowd.job FOR EACH STATEMENT EXECUTE FUNCTION crowd.saw()`),
    )
    const looks = sessions.flatMap((session) => [
      { session, time: later, fill: 0.2 },
      { session, time: 0, fill: 0.3 },
      { session, time: later, fill: 0.9 },
    ])
    yield* Effect.forEach(looks, dispatch, { concurrency: "unbounded", discard: true })
  })
  await Effect.runPromise(Effect.scoped(dispatched))
  const { rows } = await client.query(
    "SELECT singleton_key, priority, start_after <= now() AS now, (data ->> 'time')::numeric = 0 AS early FROM crowd.job WHERE name = 'crowd'",
  )
  expect(rows).toHaveLength(sessions.length)
  for (const row of rows) expect(row).toMatchObject({ priority: 900, now: true, early: true })
  const { rows: seen } = await client.query("SELECT kind FROM crowd.seen")
  // Those of one turn of the event loop are a group.
  expect(seen.map(({ kind }) => kind as string)).toEqual(["INSERT", "UPDATE"])
})
