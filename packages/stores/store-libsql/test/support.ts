/** What the tests of this package share. */
import { createClient } from "@libsql/client/web"
import type { EventLog } from "@memfold/core"
import { Effect, type Scope } from "effect"
import { make, type Options } from "../src/index.js"

/** Opens a log, uses it, and closes it. */
export const withLog = <A, E>(
  options: Options,
  use: (log: EventLog.Service) => Effect.Effect<A, E, Scope.Scope>,
): Promise<A> => Effect.runPromise(Effect.scoped(Effect.flatMap(make(options), use)))

/** The error of an attempt to open. */
export const openingFails = (options: Options): Promise<EventLog.LogError> =>
  Effect.runPromise(Effect.flip(Effect.scoped(make(options))))

/** Drops all that a database has. A server has one. */
export const empty = async (url: string): Promise<void> => {
  const client = createClient({ url })
  const { rows } = await client.execute(
    "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'",
  )
  // With foreign keys off: tables go in any order.
  await client.migrate(rows.map((row) => `DROP ${String(row["type"])} "${String(row["name"])}"`))
  client.close()
}
