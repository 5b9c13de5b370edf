/** The input of the laws of a store, and helpers to use the store. */
import { EventLog } from "@memfold/core"
import { Cause, Chunk, Effect, Exit, Layer, Stream } from "effect"
import { type Law, type LawOptions, makeLaw, same } from "../law/Law.js"
import type { Answer } from "./naiveLog.js"

/** A layer over an event log. */
export type LogLayer = Layer.Layer<EventLog.EventLog, unknown>

/**
 * The store to check.
 *
 * - `layer`: a layer that builds a new, empty log each time, or a function that returns such a layer
 * - `reopen`: for a store that outlives its process, a function that returns a layer over a new file or database each
 *   time it is called; building that layer again opens the same file or database again
 * - `feed` (`true`): whether the store has a feed
 * - `replace` (`true`): whether the store has `replace`, by which an archive takes old events out of it
 * - `numRuns` (100): how many inputs each law is checked with; laws that move much data use fewer
 */
export interface EventLogPropertiesOptions {
  readonly layer: LogLayer | (() => LogLayer)
  readonly reopen?: (() => LogLayer) | undefined
  readonly feed?: boolean | undefined
  readonly replace?: boolean | undefined
  readonly numRuns?: number | undefined
}

/** The values and helpers that the laws of a store share. */
export interface LogKit {
  readonly numRuns: number
  readonly options: EventLogPropertiesOptions
  /** Makes a law that gets a new log for each input. */
  readonly law: <A>(
    law: Omit<LawOptions<A>, "numRuns" | "holds" | "describe"> & {
      readonly numRuns?: number
      readonly describe?: (input: A) => string
      readonly holds: (log: EventLog.Service, input: A) => Effect.Effect<unknown, unknown>
    },
  ) => Law
}

/** Runs a program with a layer that is built for it and released after it; throws the program's defect. */
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
  Effect.map(Stream.runCollect(EventLog.records(log, session, options)), Chunk.toReadonlyArray)

/** All sessions of a log, or of an owner. */
export const listed = (log: EventLog.Service, owner?: string) =>
  Effect.map(Stream.runCollect(EventLog.sessions(log, owner)), Chunk.toReadonlyArray)

/** The version of a session; 0 if it does not exist. */
export const versionOf = (log: EventLog.Service, session: string) =>
  Effect.map(log.head(session), (head) => head?.version ?? 0)

/** The result of an append or a rewrite, success or conflict, as one value. */
export const answerOf = <E>(
  appended: Effect.Effect<EventLog.AppendResult, EventLog.VersionConflict | E>,
): Effect.Effect<Answer, Exclude<EventLog.VersionConflict | E, { readonly _tag: "VersionConflict" }>> =>
  Effect.catchTag(appended as Effect.Effect<Answer, EventLog.VersionConflict>, "VersionConflict", () =>
    Effect.succeed<Answer>("VersionConflict"),
  ) as Effect.Effect<Answer, Exclude<EventLog.VersionConflict | E, { readonly _tag: "VersionConflict" }>>

/** The data of a snapshot, an index or another kind of row is text; these two kinds are JSON values. */
const readable: ReadonlySet<string> = new Set(["summary", "description"])

/** Rows in one order. The data of a readable kind is a JSON value: a store may order its fields differently. */
const inOneOrder = (kind: string, rows: ReadonlyArray<EventLog.ProjectionRow>): ReadonlyArray<unknown> =>
  rows
    .toSorted((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ key, data, mark }) => ({
      key,
      mark,
      data: readable.has(kind) ? (JSON.parse(data) as unknown) : data,
    }))

/** Fails unless two sets of rows of a kind are equal. */
export const sameRows = (
  kind: string,
  actual: ReadonlyArray<EventLog.ProjectionRow>,
  expected: ReadonlyArray<EventLog.ProjectionRow>,
  what: () => string,
): void => same(inOneOrder(kind, actual), inOneOrder(kind, expected), what)

const inWords = (value: unknown): string =>
  JSON.stringify(value, null, 1)?.replace(/\n\s+/g, " ").slice(0, 2_000) ?? String(value)

/** The values and helpers that the laws of a store share. */
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
