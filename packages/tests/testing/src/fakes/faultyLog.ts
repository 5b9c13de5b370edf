/** An event log behind an unreliable network. */
import { EventLog } from "@memfold/core"
import { Duration, Effect, Layer } from "effect"

/** A call of a log: one of its methods, or of the methods of its projections. */
export type LogOperation =
  | Exclude<keyof EventLog.Service, "projections" | "changes">
  | `projections.${keyof EventLog.Projections}`

/**
 * The fault of one call.
 *
 * - `lost: "request"`: the call is not executed, and fails with a `LogError`
 * - `lost: "answer"`: the call is executed, but fails with a `LogError`, like a lost acknowledgement
 * - `there`, `back`: the delays of request and answer, in milliseconds of Effect's clock; 0 by default
 * - `on`: the fault waits for a call of this operation; other calls work
 */
export interface Fault {
  readonly lost?: "request" | "answer" | undefined
  readonly there?: number | undefined
  readonly back?: number | undefined
  readonly on?: LogOperation | undefined
}

/** The faults of a log's calls, in order. After the last one, all calls work. */
export type FaultScript = ReadonlyArray<Fault>

const pause = (millis = 0) => (millis > 0 ? Effect.sleep(Duration.millis(millis)) : Effect.void)

/**
 * Wraps a log so that each call takes the next fault of the script.
 *
 * @example
 * ```ts
 * import { InMemoryEventLog } from "@memfold/core"
 * import * as Fakes from "@memfold/testing/fakes"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const log = yield* InMemoryEventLog.make
 *   // The first append is executed, but its answer is lost.
 *   const faulty = Fakes.faultyLog(log, [{ on: "append", lost: "answer" }])
 *   const write = faulty.append("s", [{ time: 0, type: "Noted", schemaVersion: 1, data: "{}" }], {
 *     expectedVersion: 0,
 *     batchId: "a",
 *   })
 *   yield* Effect.flip(write)
 *   return yield* write // { fromVersion: 1, version: 1, duplicate: true }
 * })
 * ```
 */
export const faultyLog = (log: EventLog.Service, script: FaultScript): EventLog.Service => {
  const left = [...script]
  const next = (operation: LogOperation): Fault => {
    const [fault] = left
    if (fault === undefined || (fault.on !== undefined && fault.on !== operation)) return {}
    left.shift()
    return fault
  }
  const failed = (operation: string) => new EventLog.LogError({ operation, reason: "a fake: no answer" })
  const call = <A, E>(
    operation: LogOperation,
    perform: Effect.Effect<A, E>,
  ): Effect.Effect<A, E | EventLog.LogError> =>
    Effect.suspend(() => {
      const { lost, there, back } = next(operation)
      const done: Effect.Effect<A, E | EventLog.LogError> =
        lost === "request" ? Effect.fail(failed(operation)) : perform
      return pause(there).pipe(
        Effect.zipRight(done),
        Effect.zipLeft(pause(back)),
        Effect.flatMap((answer) =>
          lost === "answer" ? Effect.fail(failed(operation)) : Effect.succeed(answer),
        ),
      )
    })
  const { projections, feed, feedEnd } = log
  return {
    append: (...args) => call("append", log.append(...args)),
    read: (...args) => call("read", log.read(...args)),
    head: (session) => call("head", log.head(session)),
    list: (options) => call("list", log.list(options)),
    delete: (...args) => call("delete", log.delete(...args)),
    rewrite: (...args) => call("rewrite", log.rewrite(...args)),
    ...(feed === undefined ? {} : { feed: (page) => call("feed", feed(page)) }),
    ...(feedEnd === undefined ? {} : { feedEnd: call("feed", feedEnd) }),
    finishRewrites: (session) => call("finishRewrites", log.finishRewrites?.(session) ?? Effect.void),
    projections: {
      get: (...args) => call("projections.get", projections.get(...args)),
      put: (...args) => call("projections.put", projections.put(...args)),
      drop: (...args) => call("projections.drop", projections.drop(...args)),
    },
  }
}

/** The layer of {@link faultyLog}: wraps the log that is provided to it. */
export const faultyLogLayer = (
  script: FaultScript,
): Layer.Layer<EventLog.EventLog, never, EventLog.EventLog> =>
  Layer.effect(
    EventLog.EventLog,
    Effect.map(EventLog.EventLog, (log) => faultyLog(log, script)),
  )
