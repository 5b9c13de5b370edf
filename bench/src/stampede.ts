/**
 * A stampede: `npm run bench -- stampede [--sessions N] [--stores sqlite,postgres]`. Turns of two messages and a context come for all
 * sessions at once: first again and again to a process that has them all; then, with its model down until the compaction of each session has
 * failed and is due again, to a new process with empty caches, on a server that was killed and started again, while the model stays down.
 */
import { type EventLog, Memory, Message, Summarizer } from "@memfold/core"
import * as PostgresEventLog from "@memfold/store-postgres"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { RollingBuffer } from "@memfold/strategy-rolling-buffer"
import { Duration, Effect, type Layer, Logger, LogLevel } from "effect"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { setTimeout } from "node:timers/promises"
import { parseArgs } from "node:util"
import { startServer } from "./load/server.js"
import { sessionOf, turnOf } from "./load/talk.js"
import { claim, median, told } from "./measure.js"

const options = {
  sessions: { type: "string", default: "1000" },
  stores: { type: "string", default: "sqlite,postgres" },
  // Of a process that the run starts.
  url: { type: "string" },
  model: { type: "string", default: "up" },
  "back-off": { type: "string", default: "60000" },
  rounds: { type: "string", default: "1" },
  from: { type: "string", default: "0" },
  warm: { type: "string", default: "0" },
  prefix: { type: "string", default: "" },
} as const

/**
 * What a process has seen: the turns of all sessions at once, in milliseconds for each round, how long its own processor time was, which
 * other work on the machine hardly changes, and how many sessions have failed.
 */
interface Seen {
  readonly rounds: ReadonlyArray<number>
  readonly processor: ReadonlyArray<number>
  readonly failed: number
}

/** A model that answers after 50 milliseconds, or is down. */
const modelThat = (isUp: boolean): Summarizer.Service => ({
  name: "model",
  summarize: ({ session }) =>
    Effect.zipRight(
      Effect.sleep("50 millis"),
      isUp
        ? Effect.succeed({ text: "The customer asked for the order. ".repeat(20) })
        : new Summarizer.SummarizerError({ session, reason: "unavailable", detail: "the model is down" }),
    ),
})

const storeAt = (url: string): Layer.Layer<EventLog.EventLog, EventLog.LogError> =>
  url.startsWith("postgres:") ? PostgresEventLog.layer({ url }) : SqliteEventLog.layer({ filename: url })

/** Takes rounds of turns for all sessions at once. */
const takeTurns = (given: {
  readonly url: string
  readonly sessions: number
  readonly isUp: boolean
  readonly backOff: number
  readonly rounds: number
  readonly from: number
  /**
   * How often the code is run before anything is measured: another memory, which is closed then, opens all sessions, and takes turns of as
   * many others.
   */
  readonly warm: number
  readonly prefix: string
}): Promise<Seen> =>
  Effect.gen(function* () {
    const opened = Memory.make({
      strategy: RollingBuffer({ bufferSize: 4 }),
      compaction: {
        mode: "background",
        backOff: Duration.millis(given.backOff),
        ...(given.backOff < 60_000 ? { summarizerRetries: 0 } : {}),
      },
    })
    const namesOf = (prefix: string) =>
      Array.from({ length: given.sessions }, (_, at) => prefix + sessionOf(at))
    const names = namesOf(given.prefix)
    const turn = (memory: Memory.Service, session: string, at: number) => {
      const [asked, answered] = turnOf(session, at)
      const messages = [Message.user(asked!.content), Message.assistant(answered!.content)]
      return Effect.zipRight(memory.append(session, messages), memory.context(session))
    }
    const all = (memory: Memory.Service, sessions: ReadonlyArray<string>, at: number) =>
      Effect.forEach(sessions, (name) => turn(memory, name, at), { concurrency: "unbounded", discard: true })
    for (let round = 0; round < given.warm; round++)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const before = yield* opened
          yield* Effect.forEach(names, (name) => before.state(name), {
            concurrency: "unbounded",
            discard: true,
          })
          yield* all(before, namesOf("warm-"), round)
        }),
      )
    const memory = yield* opened
    // The store is open, and has no session in its caches.
    yield* memory.state("nobody")
    const [rounds, processor]: [Array<number>, Array<number>] = [[], []]
    for (let round = 0; round < given.rounds; round++) {
      const [began, before] = [performance.now(), process.cpuUsage()]
      yield* all(memory, names, given.from + round)
      rounds.push(performance.now() - began)
      const { user, system } = process.cpuUsage(before)
      processor.push((user + system) / 1_000)
    }
    const failed = Effect.map(
      Effect.forEach(names, (name) => memory.state(name)),
      (states) => states.filter(({ failures }) => failures !== null).length,
    )
    const seconds = given.backOff < 60_000 ? 120 : 0
    for (let left = seconds; left > 0 && (yield* failed) < given.sessions; left--)
      yield* Effect.sleep("1 second")
    return { rounds, processor, failed: yield* failed }
  }).pipe(
    Effect.scoped,
    Effect.provide(storeAt(given.url)),
    Effect.provideService(Summarizer.Summarizer, modelThat(given.isUp)),
    Logger.withMinimumLogLevel(LogLevel.None),
    Effect.runPromise,
  )

/** {@link takeTurns} in a process of its own. */
const inProcess = async (args: Readonly<Record<string, string>>): Promise<Seen> => {
  const flags = Object.entries(args).flatMap(([name, value]) => [`--${name}`, value])
  const child = spawn(process.execPath, [process.argv[1]!, "stampede", ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  return JSON.parse(await text(child.stdout)) as Seen
}

/** Runs a store and prints. Returns whether the ratio is within its bound. */
const inStore = async (
  name: string,
  url: string,
  sessions: number,
  restart: () => Promise<void>,
): Promise<boolean> => {
  const of = { url, sessions: String(sessions) }
  const steady = await inProcess({ ...of, rounds: "8" })
  const failing = await inProcess({ ...of, rounds: "5", from: "8", model: "down", "back-off": "1000" })
  await restart()
  // Every retry is due by then.
  await setTimeout(3_000)
  const cold = await inProcess({ ...of, rounds: "4", from: "13", model: "down" })
  // A restart has both: caches without sessions, and code that is not compiled yet. Each is measured without the other. After three turns,
  // nothing is due in the other sessions.
  await restart()
  const caches = await inProcess({ ...of, from: "17", model: "down", warm: "3" })
  const code = await inProcess({ ...of, prefix: "new-", model: "down", rounds: "6" })
  const each = (millis: number) => Math.round(sessions / (millis / 1_000))
  const shown = (millis: number) => `${each(millis).toLocaleString("en-US")}/s`
  const warm = median(steady.rounds.slice(2))
  const [first = 0, ...later] = cold.rounds
  console.log(`\n${name}: turns of ${sessions.toLocaleString("en-US")} sessions, all at once`)
  told("steady, the model answers and compactions run", shown(warm))
  told("sessions whose compaction had failed and was due again", String(failing.failed))
  told("all cold after a restart, the model is down", shown(first))
  told("the rounds behind that, the model is down", later.map(shown).join(", "))
  told("cold caches, in a process whose code is compiled", shown(caches.rounds[0] ?? 0))
  told("sessions without events, in a new process, and behind that", code.rounds.map(shown).join(", "))
  const used = (of: Seen) => `${Math.round(of.processor[0] ?? 0)}`
  told(
    "processor time of a round: steady, all cold, caches, code",
    `${Math.round(median(steady.processor.slice(2)))}, ${used(cold)}, ${used(caches)}, ${used(code)} ms`,
  )
  const all = cold.rounds.reduce((sum, time) => sum + time, 0) / cold.rounds.length
  claim("steady against all four rounds after the restart", all / warm, Number.POSITIVE_INFINITY)
  return claim("steady against all cold (two thirds are 1.5)", first / warm, 1.5)
}

/** Measures and prints. Returns whether every ratio is within its bound. */
export const stampede = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { values } = parseArgs({ args: [...args], options })
  const sessions = Number(values.sessions)
  const { url } = values
  if (url !== undefined) {
    const seen = await takeTurns({
      url,
      sessions,
      isUp: values.model === "up",
      backOff: Number(values["back-off"]),
      rounds: Number(values.rounds),
      from: Number(values.from),
      warm: Number(values.warm),
      prefix: values.prefix,
    })
    process.stdout.write(JSON.stringify(seen))
    return true
  }
  const outcomes: Array<boolean> = []
  for (const kind of values.stores.split(",")) {
    const folder = mkdtempSync(join(tmpdir(), "memfold-bench-"))
    try {
      if (kind === "sqlite") {
        outcomes.push(await inStore("SQLite", join(folder, "chats.db"), sessions, async () => {}))
        continue
      }
      const server = await startServer("postgres", folder)
      try {
        outcomes.push(await inStore("PostgreSQL", server.url, sessions, server.restart))
      } finally {
        await server.end()
      }
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    }
  }
  return outcomes.every(Boolean)
}
