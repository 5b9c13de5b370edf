/** What the tests of this package share: logs over servers, records, and crowds of writers. */
import { EventLog } from "@memfold/core"
import { Chunk, Effect, Exit, Fiber, type Scope, Stream } from "effect"
import { inspect } from "node:util"
import { expect } from "vitest"
import { make, type Options, type RedisEventLog } from "../src/index.js"
import type { SummaryRow } from "@memfold/harness/logs"
import { eventually } from "@memfold/harness/redisServers"

let tenants = 0
/** A tenant of its own, for every test. */
export const tenant = (): string => `tenant-${process.pid}-${++tenants}`

/** Opens a log, uses it, and closes it. */
export const withLog = <A, E>(
  options: Options,
  use: (log: RedisEventLog) => Effect.Effect<A, E, Scope.Scope>,
): Promise<A> => Effect.runPromise(Effect.scoped(Effect.flatMap(make(options), use)))

/** The error of an attempt to open. */
export const openingFails = (options: Options): Promise<EventLog.LogError> =>
  Effect.runPromise(Effect.flip(Effect.scoped(make(options))))

/** A batch of records that are no events of any memfold. */
export const records = (count: number, data = "{}"): [EventLog.NewRecord, ...Array<EventLog.NewRecord>] => {
  const record = { time: 1_700_000_000_000, type: "Test", schemaVersion: 1, data }
  return [record, ...Array.from({ length: count - 1 }, () => record)]
}

/** A summary row; active, unless the rest says otherwise. */
export const row = (version: number, rest: Partial<SummaryRow> = {}): SummaryRow => ({
  version,
  id: `s${version}`,
  status: "active",
  supersededBy: null,
  coveredTo: 2,
  total: 9,
  text: `summary ${version}`,
  turnPrefix: null,
  tokens: 7,
  time: 1_700_000_000_000,
  ...rest,
})

/** Puts a snapshot of a session at a position. */
export const putSnapshot = (log: EventLog.Service, session: string, at: EventLog.LogPosition, data = "{}") =>
  log.projections.put(session, at, [{ kind: "snapshot", replace: true, rows: [{ key: "1", data }] }])

export const all = <A, E>(stream: Stream.Stream<A, E>): Effect.Effect<ReadonlyArray<A>, E> =>
  Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

/** The `LogError` that something fails with; everything about it is looked at for what must not stand there. */
export const logError = <A>(
  effect: Effect.Effect<A, EventLog.LogError | EventLog.VersionConflict>,
  ...secrets: ReadonlyArray<string>
): Effect.Effect<EventLog.LogError> =>
  Effect.map(Effect.exit(effect), (exit) => {
    const error = Exit.isFailure(exit) && exit.cause._tag === "Fail" ? exit.cause.error : undefined
    if (!(error instanceof EventLog.LogError)) throw new Error(`not a LogError: ${inspect(exit)}`)
    for (const secret of secrets)
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(secret)
    return error
  })

/** Somebody who listens to the session "s". */
export interface Listener {
  /** How often it has been told. */
  readonly told: () => number
}

/** Listens, and goes on once that has begun. */
export const listener = (log: RedisEventLog): Effect.Effect<Listener, never, Scope.Scope> =>
  Effect.gen(function* () {
    let told = 0
    yield* Effect.forkScoped(Stream.runForEach(log.changes("s"), () => Effect.sync(() => told++)))
    yield* Effect.promise(() => eventually("it listens", async () => told > 0))
    return { told: () => told }
  })

/** Appends until a listener hears of it each time: that there is a new connection is told as well, but only once. */
export const hears = (log: RedisEventLog, { told }: Listener): Effect.Effect<void> =>
  Effect.promise(async () => {
    let [expectedVersion, inTurn, before] = [await Effect.runPromise(EventLog.versionOf(log, "s")), 0, told()]
    await eventually("each append is heard of", async () => {
      const { version } = await Effect.runPromise(
        log.append("s", records(1), { expectedVersion, batchId: `heard-${expectedVersion}` }),
      )
      expectedVersion = version
      inTurn = told() > before ? inTurn + 1 : 0
      before = told()
      return inTurn === 3
    })
  })

/** The errors that nobody catches while something runs; those who listen for them anyway still hear of them. */
export const uncaught = async (run: () => Promise<unknown>): Promise<ReadonlyArray<string>> => {
  const errors: Array<string> = []
  const heard = (error: unknown) => void errors.push(String(error))
  process.on("unhandledRejection", heard).on("uncaughtException", heard)
  try {
    await run()
  } finally {
    process.off("unhandledRejection", heard).off("uncaughtException", heard)
  }
  return errors
}

/** Writers at work, one for each session, and everything that was acknowledged to them. */
export interface Crowd {
  /** The commit ids that were acknowledged, by session, in order. */
  readonly acknowledged: ReadonlyMap<string, ReadonlyArray<string>>
  readonly count: () => number
  /** How often an append was answered with an error, after all its tries. */
  readonly errors: () => number
  /** How often a writer found the log shorter than it had been told. */
  readonly shortened: () => number
  /** Lets every writer finish what it is at. */
  readonly stop: Effect.Effect<void>
}

/** Lets a writer append to each session, one record or three at a time, until it is told to stop. */
export const crowd = (
  log: RedisEventLog,
  sessions: ReadonlyArray<string>,
): Effect.Effect<Crowd, never, Scope.Scope> =>
  Effect.gen(function* () {
    const acknowledged = new Map(sessions.map((session): [string, Array<string>] => [session, []]))
    const until = { stopped: false }
    let [errors, shortened] = [0, 0]
    const write = (session: string) =>
      Effect.gen(function* () {
        const mine = acknowledged.get(session)!
        for (let number = 0, expectedVersion = 0; !until.stopped; number++) {
          const batch = records(number % 4 === 3 ? 3 : 1, `{"n":${number}}`)
          const batchId = `${session}-${number}`
          for (let known = false; !known;) {
            const outcome = yield* Effect.either(log.append(session, batch, { expectedVersion, batchId }))
            if (outcome._tag === "Right") {
              expectedVersion = outcome.right.version
              mine.push(batchId)
              known = true
            } else if (outcome.left._tag === "VersionConflict") {
              if (outcome.left.actualVersion < expectedVersion) shortened++
              expectedVersion = outcome.left.actualVersion
            } else {
              errors++
            }
          }
          yield* Effect.yieldNow()
        }
      })
    const fibers = yield* Effect.forEach(sessions, (session) => Effect.forkScoped(write(session)))
    return {
      acknowledged,
      count: () => [...acknowledged.values()].reduce((sum, { length }) => sum + length, 0),
      errors: () => errors,
      shortened: () => shortened,
      stop: Effect.suspend(() => {
        until.stopped = true
        return Effect.asVoid(Fiber.joinAll(fibers))
      }),
    }
  })

/** What is left of what was acknowledged: how much is lost, and how much is there twice or out of order. */
export const found = (log: EventLog.Service, { acknowledged }: Crowd) =>
  Effect.reduce(acknowledged, { lost: 0, double: 0, disorder: 0 }, (sum, [session, commits]) =>
    Effect.map(all(EventLog.records(log, session)), (list) => {
      const batches = list
        .filter(({ batchId }, at) => batchId !== list[at - 1]?.batchId)
        .map(({ batchId }) => batchId)
      const numbers = batches.map((commit) => Number(commit.split("-").at(-1)))
      const whole =
        list.filter(({ data }) => (JSON.parse(data) as { n: number }).n % 4 === 3).length % 3 === 0
      return {
        lost: sum.lost + commits.filter((commit) => !batches.includes(commit)).length,
        double: sum.double + batches.length - new Set(batches).size,
        disorder:
          sum.disorder +
          (whole ? 0 : 1) +
          numbers.filter((number, at) => number < (numbers[at - 1] ?? 0)).length +
          list.filter(({ version }, at) => version !== at + 1).length,
      }
    }),
  )
