/**
 * A turn (two messages in one append) and the context after it, on each store, against the bare driver that writes the same two records
 * with the same durability, and reads as many of them back: `npm run bench -- databases [--rounds N]`. Then appends to many sessions at
 * once. The measurements alternate, because other load on the machine should affect both.
 */
import { EventLog, Memory, Message } from "@memfold/core"
import * as PostgresEventLog from "@memfold/store-postgres"
import * as RedisEventLog from "@memfold/store-redis"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import Sqlite from "better-sqlite3"
import { Effect, type Layer } from "effect"
import { Redis } from "ioredis"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { Client } from "pg"
import { withServer } from "./load/server.js"
import { claim, commitOf, median, milliseconds, told } from "./measure.js"
import { turnAt } from "./turn/conversation.js"
import { recordsAt } from "./turn/records.js"

/** The first rounds, in which the code is compiled. They are not counted. */
const warmUp = 60
const sessionsAtOnce = 63

type Records = ReturnType<typeof recordsAt>

/** A driver without memfold: it writes the records of a turn, and reads the newest ones back. */
interface Bare {
  readonly append: (index: number, records: Records) => unknown
  readonly newest: (count: number) => Promise<ReadonlyArray<string>> | ReadonlyArray<string>
  readonly close: () => unknown
}

/** The largest ratios, in time. */
interface Bounds {
  /** An append of the store against the bare driver. */
  readonly append: number
  /** 63 sessions at once against one. */
  readonly many: number
}

interface Database {
  readonly name: string
  readonly store: Layer.Layer<EventLog.EventLog, EventLog.LogError>
  readonly bare: Bare
  readonly bounds: Bounds
}

const columns = `session TEXT, seq BIGINT, commit_id TEXT, at BIGINT, type TEXT, version INTEGER, data TEXT, checksum BIGINT,
  PRIMARY KEY (session, seq)`

/** The values of the rows of a turn, one row behind the other. */
const valuesOf = (index: number, records: Records): ReadonlyArray<string | number | null> =>
  records.flatMap(({ time, type, schemaVersion, data, checksum }, position) => [
    "bare",
    2 * index + position + 1,
    commitOf(index),
    time,
    type,
    schemaVersion,
    data,
    checksum ?? null,
  ])

const bareSqlite = (file: string): Bare => {
  const driver = new Sqlite(file)
  driver.pragma("journal_mode = WAL")
  driver.pragma("synchronous = full")
  driver.exec(`CREATE TABLE bare (${columns})`)
  const row = `(${Array.from({ length: 8 }, () => "?").join(", ")})`
  const insert = driver.prepare(`INSERT INTO bare VALUES ${row}, ${row}`)
  const read = driver
    .prepare("SELECT data FROM bare WHERE session = 'bare' ORDER BY seq DESC LIMIT ?")
    .pluck()
  return {
    append: (index, records) => insert.run(...valuesOf(index, records)),
    newest: (count) => read.all(count) as ReadonlyArray<string>,
    close: () => driver.close(),
  }
}

const bareRedis = (url: string): Bare => {
  const client = new Redis(url)
  return {
    append: async (index, records) => {
      const values = valuesOf(index, records)
      await client.xadd(
        "bare",
        `${index + 1}-0`,
        ...values.flatMap((value, at) => [String(at), String(value)]),
      )
    },
    newest: async (count) => {
      const entries = await client.xrevrange("bare", "+", "-", "COUNT", Math.ceil(count / 2))
      // An entry has both rows of a turn; each row has its data in the seventh place.
      return entries.flatMap(([, fields]) => [fields[2 * 14 + 1] ?? "", fields[2 * 6 + 1] ?? ""])
    },
    close: () => client.quit(),
  }
}

const barePostgres = async (url: string): Promise<Bare> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(`CREATE TABLE bare (${columns})`)
  const row = (first: number) => `(${Array.from({ length: 8 }, (_, at) => `$${first + at}`).join(", ")})`
  return {
    append: (index, records) =>
      client.query({
        name: "insert",
        text: `INSERT INTO bare VALUES ${row(1)}, ${row(9)}`,
        values: [...valuesOf(index, records)],
      }),
    newest: async (count) => {
      const text = "SELECT data FROM bare WHERE session = 'bare' ORDER BY seq DESC LIMIT $1"
      const { rows } = await client.query<{ data: string }>({ name: "newest", text, values: [count] })
      return rows.map(({ data }) => data)
    },
    close: () => client.end(),
  }
}

/** Measures a database and prints. Returns whether the ratios are within their bounds. */
const measured = ({ name, store, bare, bounds }: Database, rounds: number): Promise<boolean> =>
  Effect.gen(function* () {
    const log = yield* EventLog.EventLog
    const memory = yield* Memory.make({ strategy: SlidingWindow(), compaction: { mode: "manual" } }).pipe(
      Effect.provide(ExtractiveSummarizer.layer()),
    )
    const appended = (session: string, index: number, records: Records) =>
      log.append(session, records, {
        expectedVersion: 2 * index,
        lastBatchId: index === 0 ? undefined : commitOf(index - 1),
        batchId: commitOf(index),
        // As the engine appends without an idempotency key.
        retried: "in-place",
      })
    const sessions = Array.from({ length: sessionsAtOnce }, (_, at) => `of many ${at}`)
    const ways = {
      bare: (index: number, records: Records) => bare.append(index, records),
      store: (index: number, records: Records) => Effect.runPromise(appended("store", index, records)),
      many: (index: number, records: Records) =>
        Effect.runPromise(
          Effect.forEach(sessions, (session) => appended(session, index, records), {
            concurrency: "unbounded",
            discard: true,
          }),
        ),
      memory: (index: number) => {
        const { user, assistant } = turnAt(index)
        return Effect.runPromise(memory.append("memory", [Message.user(user), Message.assistant(assistant)]))
      },
      context: () => Effect.runPromise(memory.context("memory")),
    }
    const times = {
      bare: [] as Array<number>,
      newest: [] as Array<number>,
      store: [] as Array<number>,
      memory: [] as Array<number>,
      context: [] as Array<number>,
      many: [] as Array<number>,
    }
    let shown = 0
    yield* Effect.promise(async () => {
      for (let index = 0; index < warmUp + rounds; index++) {
        const records = recordsAt(index)
        const took = {
          bare: await milliseconds(() => ways.bare(index, records)),
          store: await milliseconds(() => ways.store(index, records)),
          memory: await milliseconds(() => ways.memory(index)),
          context: await milliseconds(async () => {
            shown = (await ways.context()).messages.length
          }),
          newest: await milliseconds(async () => {
            for (const data of await bare.newest(shown)) JSON.parse(data)
          }),
          many: await milliseconds(() => ways.many(index, records)),
        }
        await Effect.runPromise(memory.compact("memory", { which: "due" }))
        if (index < warmUp) continue
        for (const what of Object.keys(times) as ReadonlyArray<keyof typeof times>)
          times[what].push(took[what])
      }
    })
    const of = (what: keyof typeof times) => median(times[what])
    const shownTime = (millis: number) => `${millis.toFixed(2)} ms`
    console.log(`\n${name}: a turn of two messages, and the context after it`)
    told("a bare insert of two rows", shownTime(of("bare")))
    told("a turn, memory.append", shownTime(of("memory")))
    told("reading as many rows as the context has messages", shownTime(of("newest")))
    told("a context, memory.context", shownTime(of("context")))
    return [
      claim("an append of the store against the bare insert", of("store") / of("bare"), bounds.append),
      claim("a turn against the bare insert", of("memory") / of("bare"), Infinity),
      claim("a context against the bare read", of("context") / of("newest"), Infinity),
      claim(`${sessionsAtOnce} sessions at once against one append`, of("many") / of("store"), bounds.many),
    ].every(Boolean)
  }).pipe(Effect.provide(store), Effect.scoped, Effect.runPromise)

const closing = async (database: Database, rounds: number): Promise<boolean> => {
  try {
    return await measured(database, rounds)
  } finally {
    await database.bare.close()
  }
}

/** Measures SQLite, Redis and PostgreSQL, each as durable as it can be. Returns whether every ratio is within its bound. */
export const databases = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { values } = parseArgs({ args: [...args], options: { rounds: { type: "string", default: "400" } } })
  const rounds = Number(values.rounds)
  const unbounded = { append: Infinity, many: Infinity }
  const folder = mkdtempSync(join(tmpdir(), "memfold-bench-"))
  try {
    const sqlite = {
      name: "SQLite, synchronous FULL",
      store: SqliteEventLog.layer({ filename: join(folder, "store.db"), synchronous: "full" }),
      bare: bareSqlite(join(folder, "bare.db")),
      bounds: unbounded,
    }
    const outcomes = [await closing(sqlite, rounds)]
    outcomes.push(
      await withServer("redis", (url) =>
        closing(
          {
            name: "Redis, appendfsync always",
            store: RedisEventLog.layer({ url }),
            bare: bareRedis(url),
            bounds: unbounded,
          },
          rounds,
        ),
      ),
      await withServer("postgres", async (url) =>
        closing(
          {
            name: "PostgreSQL, synchronous_commit on",
            store: PostgresEventLog.layer({ url }),
            bare: await barePostgres(url),
            bounds: { append: 2, many: 4 },
          },
          rounds,
        ),
      ),
    )
    return outcomes.every(Boolean)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
