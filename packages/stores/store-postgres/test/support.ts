/** What the tests of this package share: logs in schemas of their own. */
import type { EventLog } from "@memfold/core"
import { Effect, type Scope } from "effect"
import { make, type Options } from "../src/index.js"

let schemas = 0
/** A schema of its own, for every test. */
export const newSchema = (): string => `s_${process.pid}_${++schemas}`

/** Opens a log, uses it, and closes it. */
export const withLog = <A, E>(
  options: Options,
  use: (log: EventLog.Service) => Effect.Effect<A, E, Scope.Scope>,
): Promise<A> => Effect.runPromise(Effect.scoped(Effect.flatMap(make(options), use)))

/** The error of an attempt to open. */
export const openingFails = (options: Options): Promise<EventLog.LogError> =>
  Effect.runPromise(Effect.flip(Effect.scoped(make(options))))
