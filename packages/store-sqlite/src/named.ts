import { EventLog } from "@memfold/core"
import { Effect } from "effect"

/** Adds the session to the errors of the store. */
export const named =
  (session: string | undefined) =>
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.mapError(effect, (error) =>
      error instanceof EventLog.LogError && session !== undefined ? Object.assign(error, { session }) : error,
    )
