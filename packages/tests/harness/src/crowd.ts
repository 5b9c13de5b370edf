/** Writers at work on a log, and what is left of what was acknowledged to them. */
import { EventLog } from "@memfold/core"
import { Chunk, Effect, Fiber, type Scope, Stream } from "effect"

/** A batch of records that are no events of any memfold. */
export const records = (count: number, data = "{}"): [EventLog.NewRecord, ...Array<EventLog.NewRecord>] => {
  const record = { time: 1_700_000_000_000, type: "Test", schemaVersion: 1, data }
  return [record, ...Array.from({ length: count - 1 }, () => record)]
}

/** All elements of a stream. */
export const all = <A, E>(stream: Stream.Stream<A, E>): Effect.Effect<ReadonlyArray<A>, E> =>
  Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

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
  log: EventLog.Service,
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
          // Without a pause, the writers would keep the processor from whatever is to happen to them.
          yield* Effect.sleep("5 millis")
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
      const there = new Set(batches)
      const numbers = batches.map((commit) => Number(commit.split("-").at(-1)))
      const whole =
        list.filter(({ data }) => (JSON.parse(data) as { n: number }).n % 4 === 3).length % 3 === 0
      return {
        lost: sum.lost + commits.filter((commit) => !there.has(commit)).length,
        double: sum.double + batches.length - there.size,
        disorder:
          sum.disorder +
          (whole ? 0 : 1) +
          numbers.filter((number, at) => number < (numbers[at - 1] ?? 0)).length +
          list.filter(({ version }, at) => version !== at + 1).length,
      }
    }),
  )
