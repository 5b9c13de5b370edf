/** Appends in transactions of the application: committed with its own rows, or not at all. */
import { PGlite } from "@electric-sql/pglite"
import * as Reactivity from "@effect/experimental/Reactivity"
import * as PgClient from "@effect/sql-pg/PgClient"
import { EventLog, Guard, Memory, Message, Summarizer } from "@memfold/core"
import { sql } from "drizzle-orm"
import { drizzle } from "drizzle-orm/node-postgres"
import { drizzle as drizzleOverPglite } from "drizzle-orm/pglite"
import { Effect } from "effect"
import { createMemory, type PromiseMemory } from "memfold"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { Pool } from "pg"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { bundled } from "@memfold/harness/children"
import { pairs } from "@memfold/harness/engine"
import { eventually } from "@memfold/harness/eventually"
import { type Postgres, postgresServers } from "@memfold/harness/postgresServers"
import { layer, layerEmbedded, make } from "../src/index.js"
import { newSchema } from "./support.js"

const script = bundled(new URL("children/", import.meta.url), ["transaction"])
const { server } = postgresServers()
let one: Postgres
let pool: Pool
beforeAll(async () => {
  one = await server({ config: ["fsync = off"] })
  pool = new Pool({ connectionString: one.url, max: 5 })
})
afterAll(() => pool.end())

const said = (content: string) => ({ role: "user" as const, content })
class RolledBack extends Error {}

/** A schema with a table of the application, and a memory there. */
const shop = async (options: Partial<Parameters<typeof createMemory>[0]> = {}) => {
  const schema = newSchema()
  await pool.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.orders (id INTEGER PRIMARY KEY)`)
  const memory = createMemory({ store: `${one.url}?schema=${schema}`, ...options }) as PromiseMemory<"openai">
  onTestFinished(() => memory.close())
  await memory.append("chat-1", said("before"))
  const insert = `INSERT INTO ${schema}.orders (id) VALUES (1)`
  /** The rows of the application, and the messages of the log. */
  const found = async () => ({
    orders: (await pool.query(`SELECT id FROM ${schema}.orders`)).rows.length,
    messages: (await memory.messages("chat-1")).messages.map(({ content }) => content),
  })
  return { schema, memory, insert, found }
}

/** Begins a transaction, which the function commits or rolls back by throwing. */
type Transact = (
  work: (transaction: unknown, query: (text: string) => Promise<unknown>) => Promise<void>,
) => Promise<void>

const ways: ReadonlyArray<readonly [name: string, transact: Transact]> = [
  [
    "a client of pg",
    async (work) => {
      const client = await pool.connect()
      try {
        await client.query("BEGIN")
        await work(client, (text) => client.query(text))
        await client.query("COMMIT")
      } catch (error) {
        await client.query("ROLLBACK")
        throw error
      } finally {
        client.release()
      }
    },
  ],
  [
    "a transaction of Drizzle",
    (work) => drizzle(pool).transaction((tx) => work(tx, (text) => tx.execute(sql.raw(text)))),
  ],
  [
    "a nested transaction of Drizzle",
    (work) =>
      drizzle(pool).transaction((outer) =>
        outer.transaction((tx) => work(tx, (text) => tx.execute(sql.raw(text)))),
      ),
  ],
]

describe.each(ways)("%s", (_name, transact) => {
  it("commits an append together with the application's row", async () => {
    const { memory, insert, found } = await shop()
    await transact(async (tx, query) => {
      await query(insert)
      const inside = memory.within(tx)
      await inside.append("chat-1", said("one"))
      await inside.append("chat-1", said("two"))
      await inside.append("chat-2", said("started here"), { owner: "ann" })
      expect((await inside.messages("chat-1")).messages).toHaveLength(3)
      // Others see nothing yet.
      expect(await found()).toEqual({ orders: 0, messages: ["before"] })
    })
    expect(await found()).toEqual({ orders: 1, messages: ["before", "one", "two"] })
    expect((await memory.sessionsOf("ann")).sessions).toMatchObject([{ session: "chat-2" }])
  })

  it("guards what is appended, and tells who has read", async () => {
    const { memory, schema } = await shop({
      audit: { reads: true },
      beforeAppend: (message) =>
        Guard.redact(
          Guard.textsOf(message).flatMap(({ place, text }) => {
            const from = text.indexOf("SECRET-4711")
            return from === -1 ? [] : [{ place, from, to: from + 11, kind: "code" }]
          }),
        ),
    })
    await transact(async (tx) => {
      const inside = memory.as({ id: "shop" }).within(tx)
      await inside.append("chat-1", said("It is SECRET-4711."), { title: "About SECRET-4711" })
      await inside.edit("chat-1", 1, said("It was SECRET-4711."))
      await inside.describe("chat-1", { title: "SECRET-4711" })
      const { messages } = await inside.messages("chat-1")
      expect(messages.at(-1)?.content).toBe("It was [redacted: code].")
    })
    const { rows } = await pool.query(`SELECT * FROM ${schema}.events`)
    expect(JSON.stringify(rows)).toContain("[redacted: code]")
    expect(JSON.stringify(rows)).not.toContain("SECRET-4711")
    const { entries } = await memory.audit("chat-1")
    const acts = entries.filter(({ actor }) => actor?.id === "shop").map(({ act }) => act)
    expect(acts.toSorted()).toEqual(["append", "append", "describe", "describe", "edit", "read"])
  })

  it("rolls an append back together with the application's row, and the memory goes on without it", async () => {
    const { memory, insert, found } = await shop()
    const failed = transact(async (tx, query) => {
      await query(insert)
      await memory.within(tx).append("chat-1", [said("gone"), said("gone as well")])
      throw new RolledBack()
    })
    await expect(failed).rejects.toThrow(RolledBack)
    expect(await found()).toEqual({ orders: 0, messages: ["before"] })
    await memory.append("chat-1", said("after"))
    expect(await found()).toEqual({ orders: 0, messages: ["before", "after"] })
  })

  it("an append that fails leaves the transaction as it was", async () => {
    const { memory, insert, found } = await shop()
    await transact(async (tx, query) => {
      await query(insert)
      const inside = memory.within(tx)
      // No index of PostgreSQL has so long an entry.
      const long = Array.from({ length: 4_000 }, (_, at) =>
        String.fromCodePoint(0x4e00 + ((at * 7_919) % 20_000)),
      )
      await expect(inside.append(long.join(""), said("lost"))).rejects.toMatchObject({ _tag: "LogError" })
      await inside.append("chat-1", said("one"))
    })
    expect(await found()).toEqual({ orders: 1, messages: ["before", "one"] })
  })

  it("an idempotency key of a transaction that was rolled back can be used again", async () => {
    const { memory, found } = await shop()
    const again = { idempotencyKey: "request-1" }
    const failed = transact(async (tx) => {
      await memory.within(tx).append("chat-1", said("gone"), again)
      throw new RolledBack()
    })
    await expect(failed).rejects.toThrow(RolledBack)
    await transact(async (tx) => {
      expect(await memory.within(tx).append("chat-1", said("one"), again)).toMatchObject({ duplicate: false })
    })
    expect(await memory.append("chat-1", said("one"), again)).toMatchObject({ duplicate: true })
    expect((await found()).messages).toEqual(["before", "one"])
  })
})

it("writers outside wait for the transaction at the session, and go on behind it", async () => {
  const { memory, found } = await shop()
  const client = await pool.connect()
  await client.query("BEGIN")
  await memory.within(client).append("chat-1", said("inside"))
  let isDone = false
  const outside = memory.append("chat-1", said("outside")).then(() => void (isDone = true))
  await eventually("the writer waits", async () => {
    const { rows } = await pool.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    return rows.length > 0
  })
  expect(isDone).toBe(false)
  await client.query("COMMIT")
  client.release()
  await outside
  expect((await found()).messages).toEqual(["before", "inside", "outside"])
})

it("a process that is killed before its commit leaves neither the row nor the messages", async () => {
  const { schema, found } = await shop()
  const child = spawn(process.execPath, [script("transaction"), one.url, schema], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  const [written] = await Promise.race([once(child.stdout, "data"), once(child, "exit")])
  expect(String(written)).toBe("written\n")
  const waiting = "SELECT 1 FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
  expect((await pool.query(waiting)).rows).toHaveLength(1)
  child.kill("SIGKILL")
  await once(child, "exit")
  await eventually("the server has noticed", async () => {
    return (await pool.query(waiting)).rows.length === 0
  })
  expect(await found()).toEqual({ orders: 0, messages: ["before"] })
})

describe("background compaction", () => {
  const long = Array.from({ length: 40 }, (_, at) => said(`question ${at} with some more words in it`))

  it("starts once the transaction is committed, and not before", async () => {
    const { memory } = await shop({ strategy: "rolling-buffer", summarizer: "echo" })
    const client = await pool.connect()
    await client.query("BEGIN")
    await memory.within(client).append("chat-1", long)
    expect((await memory.state("chat-1")).version).toBe(1)
    await client.query("COMMIT")
    client.release()
    // Nothing but the commit wakes it.
    await eventually("the compaction has run", async () => (await memory.state("chat-1")).coveredTo > 0)
  })

  it("does not start on what is rolled back", async () => {
    let asked = 0
    const { memory } = await shop({
      strategy: "rolling-buffer",
      summarizer: async () => {
        asked++
        return "a summary"
      },
    })
    const client = await pool.connect()
    await client.query("BEGIN")
    await memory.within(client).append("chat-1", long)
    await client.query("ROLLBACK")
    client.release()
    await memory.append("chat-1", said("after"))
    expect((await memory.state("chat-1")).total).toBe(2)
    await memory.close()
    expect(asked).toBe(0)
  })
})

describe("a connection that exists", () => {
  it("a pool keeps the log, in a schema of its own, and stays open", async () => {
    const schema = newSchema()
    const memory = createMemory({ store: layer({ pool, schema }) })
    await memory.append("chat-1", said("one"))
    await memory.close()
    const again = createMemory({ store: layer({ pool, schema, create: false }) })
    expect((await again.messages("chat-1")).messages).toHaveLength(1)
    await again.close()
    expect((await pool.query(`SELECT 1 FROM ${schema}.log`)).rows).toHaveLength(1)
  })

  it("a SqlClient keeps the log, and appends join its transactions", async () => {
    const summarizer: Summarizer.Service = { name: "none", summarize: () => Effect.succeed({ text: "" }) }
    const program = Effect.gen(function* () {
      const client = yield* PgClient.fromPool({ acquire: Effect.succeed(pool) })
      const log = yield* make({ client, schema: newSchema() })
      const memory = yield* Memory.make({ strategy: pairs }).pipe(
        Effect.provideService(EventLog.EventLog, log),
        Effect.provideService(Summarizer.Summarizer, summarizer),
      )
      const append = (text: string) =>
        Effect.flatMap(memory.within(client), (inside) => inside.append("chat-1", Message.user(text)))
      yield* client.withTransaction(append("one"))
      yield* Effect.ignore(client.withTransaction(Effect.zipRight(append("gone"), Effect.fail("no"))))
      expect((yield* memory.state("chat-1")).total).toBe(1)
      expect(yield* Effect.flip(memory.within(client))).toMatchObject({
        reason: expect.stringContaining("outside of withTransaction"),
      })
    })
    await Effect.runPromise(
      Effect.scoped(Effect.provideServiceEffect(program, Reactivity.Reactivity, Reactivity.make)),
    )
  })

  it("a transaction of PGlite, and of Drizzle over it", async () => {
    const pglite = await PGlite.create()
    onTestFinished(() => pglite.close())
    const memory = createMemory({ store: layerEmbedded({ database: pglite }) })
    await memory.append("chat-1", said("before"))
    await pglite.transaction(async (tx) => void (await memory.within(tx).append("chat-1", said("one"))))
    const db = drizzleOverPglite(pglite)
    await db.transaction(async (tx) => void (await memory.within(tx).append("chat-1", said("two"))))
    const failed = db.transaction(async (tx) => {
      await memory.within(tx).append("chat-1", said("gone"))
      throw new RolledBack()
    })
    await expect(failed).rejects.toThrow(RolledBack)
    const { messages } = await memory.messages("chat-1")
    expect(messages.map(({ content }) => content)).toEqual(["before", "one", "two"])
    await memory.close()
  })
})

it("what is no transaction is refused", async () => {
  const { memory } = await shop()
  const refused = (given: unknown) => memory.within(given).append("chat-1", said("x"))
  await expect(refused(pool)).rejects.toThrow(/a pool is not a transaction/)
  await expect(refused(drizzle(pool))).rejects.toThrow(/a pool is not a transaction/)
  await expect(refused({})).rejects.toThrow(/not a transaction that the store knows/)
  const client = await pool.connect()
  await expect(refused(client)).rejects.toThrow(/has not begun or has ended/)
  client.release()
  const other = createMemory({ store: "memory:" })
  await expect(other.within(client).append("c", said("x"))).rejects.toThrow(/cannot join a transaction/)
  await other.close()
})
