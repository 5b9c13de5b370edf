/** A driver of SQLite. */
import type { SqlError } from "@effect/sql/SqlError"
import type { Use } from "@memfold/store-sql"
import type { Effect, Scope } from "effect"
import type { Options } from "./Options.js"

/** The connection to a file. */
export interface Client {
  readonly use: Use
  /** Copies the database to a file that does not exist or is empty. */
  readonly backup: (to: string) => Effect.Effect<unknown, SqlError>
}

/**
 * A driver, loaded. It connects to a file until the scope ends, and fails with what it throws when it opens the file. Errors of
 * SQLite have a `code` with SQLite's name for it: `SQLITE_BUSY`.
 */
export type Driver = (
  options: Pick<Options, "filename" | "readonly">,
) => Effect.Effect<Client, unknown, Scope.Scope>
