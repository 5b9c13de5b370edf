/**
 * A very large installation, simulated with numbers that are measured on this machine in the same run.
 *
 * `npm run bench -- scale --sessions 100000000 --appends 10000 --shards 16` measures what an append, a session and a compaction cost
 * over PostgreSQL, then draws a minute of appends: which sessions they are for, which shard keeps each, and who waits for whom.
 */
import { Memory, Message } from "@memfold/core"
import * as PostgresEventLog from "@memfold/store-postgres"
import { RollingBuffer } from "@memfold/strategy-rolling-buffer"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Effect, Logger, LogLevel } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Client } from "pg"
import { startServer } from "./load/server.js"
import { sessionOf, turnOf } from "./load/talk.js"

/** What was measured. */
interface Measured {
  /** Appends of two messages a second that one server takes, with many at once. */
  readonly appendsPerSecond: number
  /** How long one append waits for its answer when nothing else is done, in milliseconds. */
  readonly appendMillis: number
  /** On the disk, indexes and summaries included. */
  readonly bytesPerMessage: number
  /** Of the process, for each session that it has in its cache. */
  readonly bytesPerCachedSession: number
  /** A context of a session that is cached, and of one that has to be opened, in milliseconds. */
  readonly contextMillis: number
  readonly openMillis: number
  /** The engine's own time for a compaction, with a summarizer that takes no time, in milliseconds. */
  readonly compactionMillis: number
  readonly messagesPerCompaction: number
}

const messagesOf = (session: string, turn: number) =>
  turnOf(session, turn).map(({ role, content }) =>
    role === "user" ? Message.user(content) : Message.assistant(content),
  )

/** Milliseconds that an effect takes. */
const timed = <A, E, R>(run: Effect.Effect<A, E, R>): Effect.Effect<number, E, R> =>
  Effect.suspend(() => {
    const began = performance.now()
    return Effect.map(run, () => performance.now() - began)
  })

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

/** The bytes that are in use: what is garbage is as much as chance has left. */
const collect = (): number => {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

const measure = async (sessions: number, turns: number): Promise<Measured> => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-scale-"))
  const server = await startServer("postgres", folder)
  const names = Array.from({ length: sessions }, (_, at) => sessionOf(at))
  const strategy = RollingBuffer({ bufferSize: 4 })
  const client = new Client({ connectionString: server.url })
  await client.connect()
  const size = async (): Promise<number> => {
    const { rows } = await client.query("SELECT pg_database_size(current_database()) AS bytes")
    return Number((rows[0] as { bytes: string }).bytes)
  }
  const make = (mode: "manual" | "off") =>
    Memory.make({ strategy, compaction: { mode }, cachedSessions: sessions })
  const program = Effect.gen(function* () {
    const memory = yield* make("manual")
    const empty = yield* Effect.promise(size)
    const heap = collect()
    const alone: Array<number> = []
    for (let turn = 0; turn < 30; turn++)
      alone.push(yield* timed(memory.append("alone", messagesOf("alone", turn))))
    const began = performance.now()
    for (let turn = 0; turn < turns; turn++)
      yield* Effect.forEach(names, (name) => memory.append(name, messagesOf(name, turn)), {
        concurrency: 64,
        discard: true,
      })
    const seconds = (performance.now() - began) / 1_000
    const cached = collect()
    const compacting = performance.now()
    const outcomes = yield* Effect.forEach(names, (name) => memory.compact(name, { which: "due" }), {
      concurrency: 8,
    })
    const compactions = outcomes.reduce((sum, all) => sum + all.length, 0)
    const compactionMillis = (performance.now() - compacting) / Math.max(compactions, 1)
    const contexts = performance.now()
    yield* Effect.forEach(names, (name) => memory.context(name), { discard: true })
    const contextMillis = (performance.now() - contexts) / sessions
    const other = yield* make("off")
    const opening = performance.now()
    yield* Effect.forEach(names, (name) => other.context(name), { discard: true })
    const openMillis = (performance.now() - opening) / sessions
    const bytes = (yield* Effect.promise(size)) - empty
    return {
      appendsPerSecond: (sessions * turns) / seconds,
      appendMillis: alone.toSorted((a, b) => a - b)[15] ?? 0,
      bytesPerMessage: bytes / (sessions * turns * 2),
      bytesPerCachedSession: Math.max(cached - heap, 0) / sessions,
      contextMillis,
      openMillis,
      compactionMillis,
      messagesPerCompaction: 4,
    } satisfies Measured
  }).pipe(Effect.scoped)
  try {
    return await Effect.runPromise(
      program.pipe(
        Effect.provide(PostgresEventLog.layer({ url: server.url })),
        Effect.provide(ExtractiveSummarizer.layer()),
        Logger.withMinimumLogLevel(LogLevel.Warning),
        Effect.orDie,
      ) as Effect.Effect<Measured>,
    )
  } finally {
    await client.end()
    await server.end()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Numbers that look random and are the same each time. */
const random = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * A session by Zipf's law with the exponent `skew`, below 1: few sessions have many of the appends. The inverse of the integral from
 * one half on, rounded to ranks: for the first rank, it is within a sixth of the law.
 */
const drawSession = (next: () => number, sessions: number, skew: number): number => {
  const [first, last] = [0.5 ** (1 - skew), (sessions + 0.5) ** (1 - skew)]
  const rank = Math.round((first + next() * (last - first)) ** (1 / (1 - skew)))
  return Math.min(Math.max(rank, 1), sessions) - 1
}

const shardOf = (session: number, shards: number): number =>
  (Math.imul(session + 1, 0x9e3779b1) >>> 0) % shards

/** What a simulated minute shows. */
interface Minute {
  /** The load of each shard, in proportion to what it takes, the highest last. */
  readonly loads: ReadonlyArray<number>
  /** Of the session with the most appends: how many a second, and in proportion to what one session can take. */
  readonly hottest: number
  readonly hottestLoad: number
  /** How long appends wait for others of their shard, in milliseconds. */
  readonly median: number
  readonly p99: number
  /** The share of appends whose session the web processes have in their caches. */
  readonly cached: number
}

const simulate = (
  given: {
    readonly sessions: number
    readonly appends: number
    readonly shards: number
    readonly skew: number
    readonly cache: number
  },
  measured: Measured,
): Minute => {
  const { sessions, appends, shards, skew, cache } = given
  const next = random(2_026)
  const seconds = 60
  const perAppend = 1_000 / measured.appendsPerSecond
  const free = new Float64Array(shards)
  const busy = new Float64Array(shards)
  const counts = new Map<number, number>()
  let [young, old] = [new Set<number>(), new Set<number>()]
  const waits: Array<number> = []
  let hits = 0
  const total = appends * seconds
  let time = 0
  for (let at = 0; at < total; at++) {
    time += (-Math.log(1 - next()) / appends) * 1_000
    const session = drawSession(next, sessions, skew)
    const shard = shardOf(session, shards)
    const start = Math.max(time, free[shard] ?? 0)
    waits.push(start - time)
    free[shard] = start + perAppend
    busy[shard] = (busy[shard] ?? 0) + perAppend
    counts.set(session, (counts.get(session) ?? 0) + 1)
    // Two halves in place of a list by age: what was used lately is in one of them.
    if (young.has(session) || old.has(session)) hits++
    young.add(session)
    if (young.size > cache / 2) [old, young] = [young, new Set()]
  }
  const sorted = waits.toSorted((a, b) => a - b)
  let hottest = 0
  for (const count of counts.values()) hottest = Math.max(hottest, count)
  return {
    loads: [...busy].map((millis) => millis / (seconds * 1_000)).toSorted((a, b) => a - b),
    hottest: hottest / seconds,
    hottestLoad: (hottest / seconds) * (measured.appendMillis / 1_000),
    median: sorted[Math.floor(sorted.length / 2)] ?? 0,
    p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    cached: hits / total,
  }
}

const number = (value: number, digits = 0): string =>
  value.toLocaleString("en-US", { maximumFractionDigits: digits })
const year = 365 * 86_400

/** Measures, simulates, and says what breaks first. */
export const scale = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sessions: { type: "string", default: "100000000" },
      appends: { type: "string", default: "10000" },
      shards: { type: "string", default: "0" },
      skew: { type: "string", default: "0.8" },
      /** Sessions in the caches of all web processes together. */
      cache: { type: "string", default: "200000" },
      /** How long a model takes for a summary, in seconds; and how much of a server the rest of the work may have. */
      summary: { type: "string", default: "6" },
      headroom: { type: "string", default: "0.5" },
      measured: { type: "string", default: "400" },
    },
  })
  const [sessions, appends, skew, cache] = [values.sessions, values.appends, values.skew, values.cache].map(
    Number,
  ) as [number, number, number, number]
  const measured = await measure(Number(values.measured), 10)
  const needed = Math.ceil(appends / (measured.appendsPerSecond * Number(values.headroom)))
  const shards = Number(values.shards) === 0 ? needed : Number(values.shards)
  const minute = simulate({ sessions, appends, shards, skew, cache }, measured)
  const compactions = (appends * 2) / measured.messagesPerCompaction
  const bytesPerYear = appends * 2 * measured.bytesPerMessage * year
  const opened = appends * (1 - minute.cached)
  const limits: ReadonlyArray<readonly [string, number]> = [
    [`the fullest of ${shards} shards: its appends`, minute.loads.at(-1) ?? 0],
    ["the hottest session: one append after another", minute.hottestLoad],
    [
      "one web process: contexts and openings, if it were alone",
      (appends * measured.contextMillis + opened * measured.openMillis) / 1_000,
    ],
    [
      "one log for a total cap of the spend: two appends for each call",
      compactions * 2 * (measured.appendMillis / 1_000),
    ],
  ]
  console.log(
    [
      "measured here, over PostgreSQL with synchronous_commit = on:",
      `  ${number(measured.appendsPerSecond)} appends of two messages a second with 64 at once; one alone takes ${number(measured.appendMillis, 1)} ms`,
      `  ${number(measured.bytesPerMessage)} bytes on the disk for a message; ${number(measured.bytesPerCachedSession / 1_024, 1)} KiB of a process for a cached session`,
      `  a context ${number(measured.contextMillis, 2)} ms, ${number(measured.openMillis, 2)} ms where the session has to be opened; a compaction ${number(measured.compactionMillis, 1)} ms without its model`,
      `simulated: ${number(sessions)} sessions, ${number(appends)} appends a second, Zipf ${skew}, ${shards} shards by a hash of the session's id:`,
      `  shards: ${number((minute.loads[0] ?? 0) * 100)} to ${number((minute.loads.at(-1) ?? 0) * 100)} % busy; an append waits ${number(minute.median, 1)} ms (median), ${number(minute.p99, 1)} ms (99th percentile) for others`,
      `  the hottest session: ${number(minute.hottest, 1)} appends a second, ${number(minute.hottestLoad * 100, 1)} % of what one can take`,
      `  caches of ${number(cache)} sessions have ${number(minute.cached * 100)} % of the appends' sessions, and take ${number((cache * measured.bytesPerCachedSession) / 2 ** 30, 1)} GiB`,
      `  ${number(compactions)} compactions a second: ${number(compactions * Number(values.summary))} wait for a model at once, and ${number(Math.ceil((compactions * measured.compactionMillis) / 1_000))} cores do the rest`,
      `  ${number(bytesPerYear / 2 ** 40, 1)} TiB a year on the disk, ${number(bytesPerYear / 2 ** 40 / shards, 2)} TiB a shard, ${number(bytesPerYear / sessions / 1_024, 1)} KiB a session`,
      "what breaks first (1 is its limit):",
      ...limits
        .toSorted((a, b) => b[1] - a[1])
        .map(([what, load]) => `  ${number(load, 2).padStart(8)}  ${what}`),
    ].join("\n"),
  )
  return (minute.loads.at(-1) ?? 0) < 1
}
