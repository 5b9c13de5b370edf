/**
 * What a session costs that moves between web processes: `npm run bench -- moving [--rounds N]`. Nobody has to send a user to one
 * process (no sticky sessions): a process that does not have a session reads its snapshot and what the log has behind it.
 *
 * Three ways of a turn (two messages and a context) are measured in turns: in the process that had the turn before; in two
 * processes by turns, which read what the other one wrote; and in a process that has never had the session.
 */
import { EventLog, Memory, Message, Summarizer } from "@memfold/core"
import * as PostgresEventLog from "@memfold/store-postgres"
import * as RedisEventLog from "@memfold/store-redis"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { Effect, type Layer, Logger, LogLevel } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { withServer } from "./load/server.js"
import { claim, median, milliseconds, told } from "./measure.js"
import { turnAt } from "./turn/conversation.js"

/** How many messages the shorter and the longer session have. */
const lengths = [200, 2_000] as const

/** Answers at once: the work of the process is measured. */
const summarizer = {
  name: "at once",
  summarize: () => Effect.succeed({ text: "The customer asked for the order. ".repeat(20) }),
}

/** Each session that is read from its snapshot would be a line. */
const quietly = Logger.withMinimumLogLevel(LogLevel.Warning)

/** A log that counts the bytes of what is read from it. */
const counting = (log: EventLog.Service) => {
  let bytes = 0
  const counted = <A>(found: A): A => {
    bytes += Buffer.byteLength(JSON.stringify(found) ?? "")
    return found
  }
  const { projections } = log
  return {
    read: () => bytes,
    log: {
      ...log,
      read: (session, page) => Effect.map(log.read(session, page), counted),
      projections: {
        ...projections,
        get: (...args) => Effect.map(projections.get(...args), counted),
      },
    } satisfies EventLog.Service,
  }
}

/** A web process: a memory with caches of its own. */
const processOver = (log: EventLog.Service) =>
  Effect.map(
    Memory.make({ strategy: SlidingWindow(), compaction: { mode: "inline" } }).pipe(
      Effect.provideService(EventLog.EventLog, log),
      Effect.provideService(Summarizer.Summarizer, summarizer),
    ),
    (memory) => (session: string, turn: number) =>
      Effect.gen(function* () {
        const { user, assistant } = turnAt(turn)
        yield* memory.append(session, [Message.user(user), Message.assistant(assistant)])
        return (yield* memory.context(session)).messages
      }),
  )

interface Measured {
  readonly wall: number
  readonly read: number
}

/** The medians of the ways, and the bytes of the context. */
const measured = (given: EventLog.Service, session: string, messages: number, rounds: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { log, read } = counting(given)
      const open = processOver(log)
      const [first, second] = [yield* open, yield* open]
      let turn = 0
      for (; turn < messages / 2; turn++) yield* first(session, turn)
      const ways = {
        stays: [] as Array<Measured>,
        alternates: [] as Array<Measured>,
        arrives: [] as Array<Measured>,
      }
      let context = 0
      const measure = (way: Array<Measured>, take: typeof first) =>
        Effect.promise(async () => {
          const before = read()
          const wall = await milliseconds(async () => {
            const shown = await Effect.runPromise(quietly(take(session, turn++)))
            context = Buffer.byteLength(JSON.stringify(shown))
          })
          way.push({ wall, read: read() - before })
        })
      for (let round = 0; round < rounds; round++) {
        yield* measure(ways.stays, first)
        yield* measure(ways.alternates, second)
        yield* Effect.scoped(Effect.flatMap(open, (fresh) => measure(ways.arrives, fresh)))
        // It reads what the others have written.
        yield* first(session, turn++)
      }
      const medians = (way: ReadonlyArray<Measured>): Measured => ({
        wall: median(way.map(({ wall }) => wall)),
        read: median(way.map(({ read }) => read)),
      })
      return {
        stays: medians(ways.stays),
        alternates: medians(ways.alternates),
        arrives: medians(ways.arrives),
        context,
      }
    }),
  )

/** Measures a store and prints. Returns whether every ratio is within its bound. */
const inStore = (
  name: string,
  store: Layer.Layer<EventLog.EventLog, EventLog.LogError>,
  rounds: number,
): Promise<boolean> =>
  Effect.gen(function* () {
    const log = yield* EventLog.EventLog
    const outcomes: Array<boolean> = []
    console.log(`\n${name}: a turn and its context, of a session that moves between processes`)
    const found = []
    for (const messages of lengths) {
      const of = yield* measured(log, `of ${messages}`, messages, rounds)
      found.push(of)
      const shown = ({ wall, read }: Measured) => `${wall.toFixed(1)} ms, ${(read / 1_024).toFixed(1)} KiB`
      const many = messages.toLocaleString("en-US")
      told(`${many} messages: stays in its process`, shown(of.stays))
      told(`${many} messages: alternates between two processes`, shown(of.alternates))
      told(`${many} messages: arrives in a process that has never had it`, shown(of.arrives))
      outcomes.push(
        claim("  alternating against staying, time", of.alternates.wall / of.stays.wall, 6),
        claim("  arriving against staying, time", of.arrives.wall / of.stays.wall, 6),
        claim("  what an arrival reads against the context itself", of.arrives.read / of.context, 4),
      )
    }
    const [short, long] = found
    if (short !== undefined && long !== undefined)
      outcomes.push(
        claim(
          "what an arrival reads of a session ten times as long",
          long.arrives.read / short.arrives.read,
          1.5,
        ),
      )
    return outcomes.every(Boolean)
  }).pipe(Effect.provide(store), quietly, Effect.runPromise)

/** Measures SQLite, Redis and PostgreSQL, as far as they are installed. Returns whether every ratio is within its bound. */
export const moving = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { values } = parseArgs({ args: [...args], options: { rounds: { type: "string", default: "40" } } })
  const rounds = Number(values.rounds)
  const folder = mkdtempSync(join(tmpdir(), "memfold-bench-"))
  try {
    const outcomes = [
      await inStore("SQLite", SqliteEventLog.layer({ filename: join(folder, "moving.db") }), rounds),
    ]
    for (const [name, kind, layer] of [
      ["Redis", "redis", RedisEventLog.layer],
      ["PostgreSQL", "postgres", PostgresEventLog.layer],
    ] as const) {
      if (kind === "postgres" && process.env["MEMFOLD_POSTGRES_BIN"] === undefined) {
        console.log("\nPostgreSQL is left out: MEMFOLD_POSTGRES_BIN names no folder with initdb")
        continue
      }
      outcomes.push(await withServer(kind, (url) => inStore(name, layer({ url }), rounds)))
    }
    return outcomes.every(Boolean)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
