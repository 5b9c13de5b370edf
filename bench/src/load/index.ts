/**
 * The load run: web processes that append, workers that compact, and consumers of the feed, over one server and its queue. Every few
 * seconds one of them is killed, and the server is killed and started again twice. Summarizers are slow, and some fail.
 *
 * `npm run bench -- load redis postgres --sessions 10000 --messages 200000 --seconds-between-kills 5 --minutes 30`
 *
 * `npm run bench -- load shards` has three servers of PostgreSQL as one store. Each of them is killed once, and meanwhile sessions move
 * from one to another, by a process that is killed as well.
 */
import { EventLog, Message, Policy, Session, Verify } from "@memfold/core"
import * as PostgresEventLog from "@memfold/store-postgres"
import * as RedisEventLog from "@memfold/store-redis"
import { RollingBuffer } from "@memfold/strategy-rolling-buffer"
import { Effect, type Layer, Stream } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { percentile } from "../measure.js"
import { type Commands, type Crew, startCrew } from "./crew.js"
import { type Kind, type Server, startServer } from "./server.js"
import { sessionOf, shardsIn, strategy, turnOf } from "./talk.js"

interface Size {
  readonly sessions: number
  readonly messages: number
  readonly webs: number
  readonly workers: number
  readonly consumers: number
  /** In milliseconds; 0 for a run without kills, of servers either. */
  readonly betweenKills: number
  /** How long the appends may take, in milliseconds. */
  readonly longest: number
  /** How long the compactions may take that are left when everything is appended, in milliseconds. */
  readonly patience: number
}

const program = join(dirname(createRequire(import.meta.url).resolve("@memfold/cli/main")), "main.js")
const programOf = (name: string) => fileURLToPath(new URL(`${name}.js`, import.meta.url))

/** A summarizer that takes a moment, and fails four times in a row now and then: more often than a compaction tries. */
const summarizer = `
let calls = 0
export default async ({ user }) => {
  await new Promise((go) => setTimeout(go, 20 + (calls * 37) % 180))
  if (++calls % 25 < 4) throw new Error("503")
  return "they talked about orders, the last one is " + (user.match(/order chat-\\d+\\/\\d+/g) ?? ["none"]).at(-1)
}
`

/** The store of a server as the programs are given it. */
const storeOf = ({ url, shards }: Server): string =>
  shards === undefined
    ? url
    : JSON.stringify(Object.fromEntries(Object.entries(shards).map(([name, one]) => [name, one.url])))

/** How to start each process of a run. */
const commandsOf = (size: Size, server: Server, folder: string): Commands => {
  const [{ url, shards }, store] = [server, storeOf(server)]
  const shardsFile = join(folder, "shards.json")
  if (shards !== undefined) writeFileSync(shardsFile, `{"shards":${store}}`)
  const [sessions, messages] = [String(size.sessions), String(size.messages)]
  const worker = [
    program,
    "worker",
    `--store=${shards === undefined ? url : `sharded:${shardsFile}`}`,
    `--queue=${url}`,
    `--strategy=${strategy.strategy}`,
    `--set=bufferSize=${strategy.settings.bufferSize}`,
    "--lease=5",
    "--sweep=10",
    "--json",
    `--summarizer=${join(folder, "summarizer.mjs")}`,
  ]
  return {
    web: [
      ...Array.from({ length: size.webs }, (_, part) => [
        programOf("web"),
        store,
        url,
        sessions,
        messages,
        String(part),
        String(size.webs),
      ]),
      ...(shards === undefined ? [] : [[programOf("mover"), store, sessions, messages]]),
    ],
    worker: Array.from({ length: size.workers }, () => worker),
    consumer: Array.from({ length: size.consumers }, () => [programOf("consumer"), store]),
  }
}

/** What is found in the log of a session afterwards. */
interface Found {
  readonly session: string
  /** The version of its last event. */
  readonly version: number
  readonly lost: number
  readonly twice: number
  readonly findings: number
  readonly compactions: number
  readonly failures: number
  /** From when a compaction was due to its commit, in milliseconds. */
  readonly lags: ReadonlyArray<number>
  readonly isDue: boolean
}

const settled = RollingBuffer({ bufferSize: strategy.settings.bufferSize })

const look = (log: EventLog.Service, session: string, turns: number) =>
  Effect.gen(function* () {
    const events = [...(yield* Stream.runCollect(Session.make(log, { capacity: 1 }).events(session)))]
    let state = Session.empty(session)
    let dueSince: number | null = null
    const lags: Array<number> = []
    const covered = new Set<number>()
    let [twice, failures] = [0, 0]
    const said: Array<string> = []
    for (const recorded of events) {
      const { event, time } = recorded
      state = Session.evolve(state, recorded)
      if (event._tag === "MessageAppended") said.push(Message.text(event.message))
      if (event._tag === "CompactionFailed") failures++
      if (event._tag === "SummaryCommitted") {
        if (covered.has(event.coveredTo)) twice++
        covered.add(event.coveredTo)
        lags.push(time - (dueSince ?? time))
        dueSince = null
      }
      const isDue = state.uncovered.length > 2 * strategy.settings.bufferSize
      if (isDue) dueSince ??= time
    }
    const expected = Array.from({ length: turns }, (_, turn) =>
      turnOf(session, turn).map(({ content }) => content),
    ).flat()
    const lost =
      expected.filter((text, at) => said[at] !== text).length + Math.abs(said.length - expected.length)
    const findings = yield* Verify.session(log, session)
    const last = Policy.decide(settled, { ...state, failures: null }, { now: Date.now() })
    return {
      session,
      version: events.length,
      lost,
      twice,
      findings: findings.length,
      compactions: covered.size,
      failures,
      lags,
      isDue: last._tag === "Due",
    } satisfies Found
  })

const shown = (value: number): string => Math.round(value).toLocaleString("en-US")

const withLog = <A>(
  kind: Kind,
  server: Server,
  run: (log: EventLog.Service) => Effect.Effect<A, unknown>,
): Promise<A> => {
  const { url } = server
  const layer: Layer.Layer<EventLog.EventLog, unknown> =
    kind === "redis"
      ? RedisEventLog.layer({ url })
      : kind === "shards"
        ? shardsIn(storeOf(server))
        : PostgresEventLog.layer({ url })
  return Effect.runPromise(Effect.flatMap(EventLog.EventLog, run).pipe(Effect.provide(layer), Effect.orDie))
}

/** How many appends were acknowledged, and how many sessions have moved. */
const saidBy = ({ acknowledged }: Crew) => {
  const moved = [...acknowledged].filter((line) => line.startsWith("moved ")).length
  return { moved, appends: acknowledged.size - moved }
}

/** Where a run is: the time, how many appends are acknowledged, and the processor time of each part, in milliseconds. */
const markOf = (crew: Crew, server: Server) => ({
  time: performance.now(),
  appends: saidBy(crew).appends,
  processor: { ...crew.processor(), server: server.processor() },
})

/**
 * What an append of the second half took, when every process had compiled its code: appends a second, and the processor time of each part,
 * in milliseconds.
 */
const secondHalf = (from: ReturnType<typeof markOf>, to: ReturnType<typeof markOf>) => {
  const appends = to.appends - from.appends
  const each = (part: keyof typeof to.processor) =>
    `${part} ${((to.processor[part] - from.processor[part]) / appends).toFixed(2)}`
  const parts = (["web", "worker", "consumer", "server"] as const).map(each).join(", ")
  return { perSecond: (appends / (to.time - from.time)) * 1_000, parts }
}

/**
 * Waits until all is appended, and restarts the server when a third and two thirds of the appends are acknowledged, or each of several
 * once; how often, when all was appended, and what the second half took.
 */
const allAppended = async (crew: Crew, server: Server, size: Size) => {
  const appends = size.messages / 2
  const until = performance.now() + size.longest
  const killed = server.shards === undefined ? [server, server] : Object.values(server.shards)
  const servers = size.betweenKills === 0 ? [] : killed
  let restarts = 0
  let half: ReturnType<typeof markOf> | null = null
  let end: ReturnType<typeof markOf> | null = null
  while (!crew.isAppended()) {
    const { appends: acknowledged } = saidBy(crew)
    // Also of a process that ends before the next look.
    crew.processor()
    if (2 * acknowledged >= appends) half ??= markOf(crew, server)
    if (acknowledged === appends) end ??= markOf(crew, server)
    if (performance.now() > until)
      throw new Error(
        `${acknowledged} of ${appends} appends were acknowledged in ${size.longest / 60_000} minutes; ${crew.endedBy.themselves} processes ended by themselves: ${crew.endedBy.lastError}`,
      )
    await setTimeout(100)
    if (restarts < servers.length && acknowledged > ((restarts + 1) * appends) / (servers.length + 1))
      await servers[restarts++]!.restart()
  }
  end ??= markOf(crew, server)
  return { restarts, ended: end.time, half: secondHalf(half ?? end, end) }
}

/** What is found in the logs of all sessions, once no compaction is due, or after the time for that. */
const settledLogs = async (
  size: Size,
  lookAt: (sessions: ReadonlyArray<string>) => Promise<ReadonlyArray<Found>>,
): Promise<ReadonlyArray<Found>> => {
  const all = Array.from({ length: size.sessions }, (_, number) => sessionOf(number))
  const until = performance.now() + size.patience
  for (let due: ReadonlyArray<string> = all; ; await setTimeout(2_000)) {
    due = (await lookAt(due)).filter(({ isDue }) => isDue).map(({ session }) => session)
    if (due.length === 0 || performance.now() > until) return await lookAt(all)
  }
}

/** What consumers have missed of the logs, what came to them before an event in front of it, and how often they got one again. */
const feedOf = ({ consumed }: Crew, found: ReadonlyArray<Found>) => {
  const seen = new Set<string>()
  let [early, again] = [0, 0]
  for (const line of consumed) {
    const [session, version] = line.split(" ")
    if (seen.has(line)) again++
    else if (version !== "1" && !seen.has(`${session} ${Number(version) - 1}`)) early++
    seen.add(line)
  }
  const missed = found.reduce(
    (sum, { session, version }) =>
      sum +
      Array.from({ length: version }, (_, at) => `${session} ${at + 1}`).filter((one) => !seen.has(one))
        .length,
    0,
  )
  return { missed, early, again }
}

/** Waits until consumers have come to the end of the feed, or the time for that is over. */
const consumedAll = async (size: Size, crew: Crew, found: ReadonlyArray<Found>) => {
  const until = performance.now() + size.patience
  for (;;) {
    const fed = feedOf(crew, found)
    if (fed.missed === 0 || performance.now() > until) return fed
    await setTimeout(500)
  }
}

/** One run; whether nothing was lost, and nothing done twice. */
const once = async (kind: Kind, size: Size): Promise<boolean> => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-load-"))
  writeFileSync(join(folder, "summarizer.mjs"), summarizer)
  const server = await startServer(kind, folder)
  const texts = Array.from({ length: 100 }, (_, turn) => JSON.stringify(turnOf(sessionOf(turn), turn)))
  const appends = size.messages / 2
  const before = await server.bareInserts(texts, 2_000)
  const began = performance.now()
  const crew = startCrew(commandsOf(size, server, folder))
  let kills = 0
  const killing = setInterval(() => {
    if (size.betweenKills > 0 && crew.kill()) kills++
    process.stderr.write(`  ${saidBy(crew).appends} of ${appends} appends, ${kills} kills\n`)
  }, size.betweenKills || 5_000)
  try {
    const { restarts, ended, half } = await allAppended(crew, server, size)
    const perSecond = (appends / (ended - began)) * 1_000
    // From here on, what is left is counted: with few processes and a busy machine, more kills would only lengthen it.
    clearInterval(killing)
    const found = await settledLogs(size, (sessions) =>
      withLog(kind, server, (log) =>
        Effect.forEach(sessions, (session) => look(log, session, appends / size.sessions), {
          concurrency: 8,
        }),
      ),
    )
    const fed = await consumedAll(size, crew, size.consumers === 0 ? [] : found)
    crew.end()
    const bare = (before + (await server.bareInserts(texts, 2_000))) / 2
    const sum = (of: (one: Found) => number) => found.reduce((total, one) => total + of(one), 0)
    const lags = found.flatMap((one) => one.lags)
    const { moved } = saidBy(crew)
    const [lost, twice, findings, due] = [
      sum((one) => one.lost),
      sum((one) => one.twice),
      sum((one) => one.findings),
      sum((one) => Number(one.isDue)),
    ]
    console.log(
      [
        `load, ${kind}: ${shown(size.sessions)} sessions, ${shown(size.messages)} messages, ${size.webs} web processes, ${size.workers} workers, ${size.consumers} consumers`,
        `  ${kills} processes killed, ${server.shards === undefined ? "the server" : "servers"} killed and started again ${restarts} times`,
        `  sessions moved while they were written to: ${moved}`,
        `  processes that ended by themselves: ${crew.endedBy.themselves} ${crew.endedBy.lastError}`,
        `  messages lost, double or out of place: ${lost}; summaries twice: ${twice}; findings of verify: ${findings}; compactions still due: ${due}`,
        `  events that the consumers missed: ${fed.missed}; before one in front of it: ${fed.early}; got again: ${shown(fed.again)} of ${shown(crew.consumed.length)}`,
        `  ${shown(sum((one) => one.compactions))} compactions, ${shown(sum((one) => one.failures))} compactions failed and were tried again`,
        `  lag of a due compaction: median ${shown(percentile(lags, 0.5))} ms, 99th percentile ${shown(percentile(lags, 0.99))} ms`,
        `  ${shown(perSecond)} appends of two messages a second, all kills included; bare inserts of their bytes: ${shown(bare)} a second (${(perSecond / bare).toFixed(2)} of it)`,
        // A server that was killed has begun its time anew.
        ...(size.betweenKills > 0
          ? []
          : [
              `  the second half: ${shown(half.perSecond)} a second (${(half.perSecond / bare).toFixed(2)}); milliseconds of processor time for an append: ${half.parts}`,
            ]),
      ].join("\n"),
    )
    return lost + twice + findings + due + fed.missed + fed.early === 0
  } finally {
    clearInterval(killing)
    crew.end()
    await server.end()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Runs the load that the arguments name; a fiftieth of the full size by default. */
export const load = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      sessions: { type: "string", default: "200" },
      messages: { type: "string", default: "4000" },
      webs: { type: "string", default: "4" },
      workers: { type: "string", default: "4" },
      consumers: { type: "string", default: "2" },
      "seconds-between-kills": { type: "string", default: "5" },
      minutes: { type: "string", default: "30" },
      patience: { type: "string", default: "180" },
    },
  })
  const size: Size = {
    sessions: Number(values.sessions),
    messages: Number(values.messages),
    webs: Number(values.webs),
    workers: Number(values.workers),
    consumers: Number(values.consumers),
    betweenKills: Number(values["seconds-between-kills"]) * 1_000,
    longest: Number(values.minutes) * 60_000,
    patience: Number(values.patience) * 1_000,
  }
  const kinds: ReadonlyArray<Kind> =
    positionals.length === 0
      ? ["postgres", "redis"]
      : positionals.filter((one): one is Kind => ["redis", "postgres", "shards"].includes(one))
  const outcomes = []
  for (const kind of kinds) outcomes.push(await once(kind, size))
  return outcomes.every(Boolean)
}
