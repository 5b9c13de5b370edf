/** What the laws of a store are made with, and how they ask it. */
import { EventLog } from "@memfold/core"
import { Cause, Chunk, Effect, Exit, Layer, Option, Stream } from "effect"
import { type Law, type LawOptions, makeLaw } from "../law/Law.js"
import type { Answer } from "./naiveLog.js"

/** A layer over an event log. */
export type LogLayer = Layer.Layer<EventLog.EventLog, unknown>

/**
 * A store, as its laws need to know it.
 *
 * - `layer`: an empty log of its own each time it is built; or a function that gives such a layer
 * - `reopen`: for a store that outlives its process: gives a layer over a new place each time it is called; whenever
 *   that layer is built, the same place is opened again
 * - `numRuns` (100): how often each law is tried; laws that move much data are tried less often
 */
export interface EventLogPropertiesOptions {
  readonly layer: LogLayer | (() => LogLayer)
  readonly reopen?: (() => LogLayer) | undefined
  readonly numRuns?: number | undefined
}

/** Everything that the laws of a store share. */
export interface LogKit {
  readonly numRuns: number
  readonly options: EventLogPropertiesOptions
  /** A law about a fresh log for each input. */
  readonly law: <A>(
    law: Omit<LawOptions<A>, "numRuns" | "holds" | "describe"> & {
      readonly numRuns?: number
      readonly describe?: (input: A) => string
      readonly holds: (log: EventLog.Service, input: A) => Effect.Effect<unknown, unknown>
    },
  ) => Law
}

/** Runs a program with a layer that is built for it and released after it; what it died of is thrown. */
export const withLog = async <A>(
  layer: LogLayer,
  program: (log: EventLog.Service) => Effect.Effect<A, unknown, EventLog.EventLog>,
): Promise<A> => {
  const exit = await Effect.runPromiseExit(
    Effect.scoped(Effect.provide(Effect.flatMap(EventLog.EventLog, program), Layer.fresh(layer))),
  )
  if (Exit.isSuccess(exit)) return exit.value
  throw Cause.squash(exit.cause)
}

/** All records in a range. */
export const readAll = (log: EventLog.Service, session: string, options?: EventLog.ReadOptions) =>
  Effect.map(Stream.runCollect(log.read(session, options)), Chunk.toReadonlyArray)

/** All sessions of a log. */
export const listed = (log: EventLog.Service) =>
  Effect.map(Stream.runCollect(log.sessions), Chunk.toReadonlyArray)

/** A session's snapshot, or `null`. */
export const snapshotOf = (log: EventLog.Service, session: string) =>
  Effect.map(log.loadSnapshot(session), Option.getOrNull)

/** What an append or a rewrite comes to, in one value. */
export const answerOf = <E>(
  appended: Effect.Effect<EventLog.AppendResult, EventLog.VersionConflict | E>,
): Effect.Effect<Answer, Exclude<EventLog.VersionConflict | E, { readonly _tag: "VersionConflict" }>> =>
  Effect.catchTag(appended as Effect.Effect<Answer, EventLog.VersionConflict>, "VersionConflict", () =>
    Effect.succeed<Answer>("VersionConflict"),
  ) as Effect.Effect<Answer, Exclude<EventLog.VersionConflict | E, { readonly _tag: "VersionConflict" }>>

const inWords = (value: unknown): string =>
  JSON.stringify(value, null, 1)?.replace(/\n\s+/g, " ").slice(0, 2_000) ?? String(value)

/** Everything that the laws of a store share. */
export const logKitOf = (options: EventLogPropertiesOptions): LogKit => {
  const { numRuns = 100, layer } = options
  const fresh = () => (typeof layer === "function" ? layer() : layer)
  return {
    numRuns,
    options,
    law: ({ holds, describe = inWords, numRuns: own, ...law }) =>
      makeLaw({
        ...law,
        describe,
        numRuns: own ?? numRuns,
        holds: async (input) => {
          await withLog(fresh(), (log) => holds(log, input))
        },
      }),
  }
}
