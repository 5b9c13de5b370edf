/**
 * One PostgreSQL with few, many and very many sessions: `npm run bench -- sessions [--counts 1000,100000,1000000] [--rounds N]`. Each count
 * has a schema of its own on one server, filled by appends of four messages, and their measurements alternate, because other load on the
 * machine should affect all of them. A round opens a memory anew, so its sessions are cold.
 */
import { type EventLog, Memory, Message } from "@memfold/core"
import * as PostgresEventLog from "@memfold/store-postgres"
import { BreakEven } from "@memfold/strategy-break-even"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Duration, Effect, type Layer, Stream } from "effect"
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { Client } from "pg"
import { withServer } from "./load/server.js"
import { sessionOf, turnOf } from "./load/talk.js"
import { claim, percentile, told } from "./measure.js"

const options = {
  counts: { type: "string", default: "1000,100000,1000000" },
  rounds: { type: "string", default: "20" },
} as const

/** Sessions of a round that are appended to, and as many others whose context is read. */
const perRound = 50
/** Sessions that begin at once while a schema is filled. */
const atOnce = 64
/** One session of so many has an owner, who has ten of them. */
const owned = 20
const perOwner = 10

/** What is measured of a schema, in milliseconds each. */
interface Times {
  readonly append: Array<number>
  readonly context: Array<number>
  readonly list: Array<number>
  readonly owned: Array<number>
  readonly sweep: Array<number>
}

interface Schema {
  readonly name: string
  readonly sessions: number
  readonly store: Layer.Layer<EventLog.EventLog, EventLog.LogError>
  readonly times: Times
}

const messagesOf = (session: string, turn: number) => {
  const [asked, answered] = turnOf(session, turn)
  return [Message.user(asked!.content), Message.assistant(answered!.content)]
}

const ownerOf = (at: number): string => `owner-${Math.floor(at / owned / perOwner)}`

/** Works with a memory that has read nothing yet. */
const withMemory = <A, E>(
  store: Schema["store"],
  use: (memory: Memory.Service) => Effect.Effect<A, E>,
): Promise<A> =>
  Memory.make({ strategy: BreakEven({ contextLimit: 200_000 }), compaction: { mode: "manual" } }).pipe(
    Effect.tap((memory) => memory.state("nobody")),
    Effect.flatMap(use),
    Effect.scoped,
    Effect.provide(store),
    Effect.provide(ExtractiveSummarizer.layer()),
    Effect.runPromise,
  )

/** Begins the sessions of a schema, and a group of consumers at the end of its feed. What is written is on the disk a moment later. */
const fill = ({ sessions, name }: Schema, url: string): Promise<void> =>
  withMemory(
    PostgresEventLog.layer({
      url: `${url}?options=${encodeURIComponent("-c synchronous_commit=off")}`,
      schema: name,
      connections: 16,
      notifications: false,
    }),
    (memory) =>
      Effect.forEach(
        Array.from({ length: sessions }, (_, at) => at),
        (at) => {
          const session = sessionOf(at)
          const messages = [...messagesOf(session, 0), ...messagesOf(session, 1)]
          return memory.append(session, messages, at % owned === 0 ? { owner: ownerOf(at) } : {})
        },
        { concurrency: atOnce, discard: true },
      ).pipe(Effect.zipRight(memory.consume("bench", () => Effect.void, { follow: false, from: "end" }))),
  )

const timed = <A, E>(into: Array<number>, work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.map(Effect.timed(work), ([took, result]) => {
    into.push(Duration.toMillis(took))
    return result
  })

/** A round in a schema: turns and contexts of sessions that lie apart, lists, and a look at what is new, as a worker has it. */
const round = ({ sessions, store, times }: Schema, number: number): Promise<void> =>
  withMemory(store, (memory) =>
    Effect.gen(function* () {
      const stride = Math.floor(sessions / (2 * perRound))
      const at = (index: number) => (index * stride + number * 7) % sessions
      for (let index = 0; index < perRound; index++) {
        const session = sessionOf(at(2 * index))
        yield* timed(times.append, memory.append(session, messagesOf(session, number + 2)))
        yield* timed(times.context, memory.context(sessionOf(at(2 * index + 1))))
      }
      yield* timed(times.list, Stream.runDrain(Stream.take(memory.sessions, perRound)))
      yield* timed(times.owned, memory.sessionsOf(ownerOf(at(number)), { limit: perOwner }))
      yield* timed(
        times.sweep,
        memory.consume("bench", () => Effect.void, { follow: false }),
      )
    }),
  )

/** The bytes on the disk of a schema, and how long its tables are cleaned up, in milliseconds. */
const inDatabase = async (url: string, { name }: Schema) => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ table: string; bytes: string }>(
      `SELECT quote_ident(nspname) || '.' || quote_ident(relname) AS table, pg_total_relation_size(pg_class.oid) AS bytes
       FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1 AND relkind = 'r'`,
      [name],
    )
    const began = performance.now()
    for (const { table } of rows) await client.query(`VACUUM (ANALYZE) ${table}`)
    return {
      bytes: rows.reduce((sum, { bytes }) => sum + Number(bytes), 0),
      vacuum: performance.now() - began,
    }
  } finally {
    await client.end()
  }
}

/** A transaction of PostgreSQL's own benchmark on this disk, one after the other, in milliseconds. */
const transaction = (url: string): number => {
  const program = join(process.env["MEMFOLD_POSTGRES_BIN"]!, "pgbench")
  const run = (...args: ReadonlyArray<string>) =>
    execFileSync(program, [...args, url], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
  run("-i", "-q", "-s", "10")
  return Number(/latency average = ([\d.]+) ms/u.exec(run("-c", "1", "-T", "10"))?.[1])
}

/** Measures and prints. Returns whether turns and contexts take as long among many sessions as among few. */
export const manySessions = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { counts, rounds } = parseArgs({ args: [...args], options }).values
  return withServer("postgres", async (url) => {
    const schemas = counts.split(",").map((count): Schema => ({
      name: `of_${count}`,
      sessions: Number(count),
      store: PostgresEventLog.layer({ url, schema: `of_${count}` }),
      times: { append: [], context: [], list: [], owned: [], sweep: [] },
    }))
    for (const schema of schemas) {
      const began = performance.now()
      await fill(schema, url)
      const seconds = (performance.now() - began) / 1_000
      process.stderr.write(
        `memfold: ${schema.sessions.toLocaleString("en-US")} sessions in ${Math.round(seconds)} s\n`,
      )
    }
    for (let number = 0; number < Number(rounds); number++)
      for (const schema of schemas) await round(schema, number)
    const shown = (millis: number) => `${millis.toFixed(1)} ms`
    for (const schema of schemas) {
      const { sessions, times } = schema
      console.log(`\n${sessions.toLocaleString("en-US")} sessions in one PostgreSQL`)
      for (const [what, taken] of [
        ["an append of a turn to a cold session", times.append],
        ["a context of a cold session", times.context],
        [`the first ${perRound} sessions of the list`, times.list],
        ["the sessions of an owner", times.owned],
        [`a look at ${perRound} sessions that have changed, by the feed`, times.sweep],
      ] as const)
        told(`${what}: p50, p99`, `${shown(percentile(taken, 0.5))}, ${shown(percentile(taken, 0.99))}`)
      const { bytes, vacuum } = await inDatabase(url, schema)
      const messages = 4 * sessions + 2 * perRound * Number(rounds)
      told("on the disk, of a message", `${Math.round(bytes / messages)} B`)
      told("vacuum and analyze", `${(vacuum / 1_000).toFixed(1)} s`)
    }
    const [few, many] = [schemas[0]!, schemas.at(-1)!]
    console.log("")
    told("a transaction of pgbench, one client", shown(transaction(url)))
    return (["append", "context"] as const)
      .flatMap((what) =>
        [0.5, 0.99].map((share) =>
          claim(
            `${what} among most sessions against among fewest, p${100 * share}`,
            percentile(many.times[what], share) / percentile(few.times[what], share),
            1.5,
          ),
        ),
      )
      .every(Boolean)
  })
}
