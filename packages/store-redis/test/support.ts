/** What the tests of this package share: logs over servers, their errors, and those who listen. */
import { EventLog } from "@memfold/core"
import { Effect, Exit, type Scope, Stream } from "effect"
import { inspect } from "node:util"
import { expect } from "vitest"
import { make, type Options, type RedisEventLog } from "../src/index.js"
import { records } from "@memfold/harness/crowd"
import type { SummaryRow } from "@memfold/harness/logs"
import { eventually } from "@memfold/harness/redisServers"

export { all, crowd, found } from "@memfold/harness/crowd"
export { records }

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
