/** The driver better-sqlite3, through the client of Effect SQL. */
import * as Reactivity from "@effect/experimental/Reactivity"
import type { SqliteClient } from "@effect/sql-sqlite-node/SqliteClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { inTurn, type Use } from "@memfold/store-sql"
import { Cause, Effect } from "effect"
import type { Driver } from "./Driver.js"

/** As much of better-sqlite3's `package.json` as is read. */
interface Manifest {
  readonly version: string
  readonly engines?: { readonly node?: string }
}

/**
 * The driver's `package.json`; `undefined` where it is not found: loading the driver then says what is wrong. No bundler sees that it is
 * required, and looks for it.
 */
const manifest = (): Manifest | undefined => {
  try {
    const { createRequire } = process.getBuiltinModule("node:module")
    return createRequire(import.meta.url)("better-sqlite3/package.json") as Manifest
  } catch {
    return undefined
  }
}

/**
 * Refuses a driver that needs a newer Node. Version 13 in Node 20 ends the process with a segmentation fault, and pnpm installs it
 * there. A Node that is newer than all that the driver names is no reason: the driver may be built for it.
 */
const refuseNewer = (): void => {
  const { version, engines } = manifest() ?? {}
  const named = engines?.node?.split("||").flatMap((range) => range.match(/\d+/u)?.map(Number) ?? []) ?? []
  const oldest = Math.min(...named)
  if (named.length === 0 || oldest <= Number.parseInt(process.versions.node, 10)) return
  throw new Error(
    `better-sqlite3 ${version} needs Node ${oldest}, and would end this process. Run \`npm install better-sqlite3@12\` or \`pnpm add better-sqlite3@12\`, or use Node 22.16 or newer, which has SQLite in it`,
  )
}

/**
 * Prepares a statement that failed to be prepared anew each time. The client keeps that failure for minutes, and it can be that
 * another process had the lock for a moment. What the driver throws at that is a defect of the client.
 */
const preparingAgain = (connection: Connection): Connection => {
  const unprepared: Connection["executeUnprepared"] = (sql, parameters, transform) =>
    Effect.catchAllDefect(
      Effect.suspend(() => connection.executeUnprepared(sql, parameters, transform)),
      (cause) => new SqlError({ cause, message: "Failed to prepare a statement" }),
    )
  const isOfPreparing = ({ message }: SqlError) => message.startsWith("Failed to prepare")
  return {
    ...connection,
    execute: (sql, parameters, transform) =>
      Effect.catchIf(connection.execute(sql, parameters, transform), isOfPreparing, () =>
        unprepared(sql, parameters, transform),
      ),
    executeValues: (sql, parameters) =>
      Effect.catchIf(connection.executeValues(sql, parameters), isOfPreparing, () =>
        Effect.map(unprepared(sql, parameters, undefined), (rows) =>
          rows.map((row: object): ReadonlyArray<unknown> => Object.values(row)),
        ),
      ),
  }
}

/** Gives the only connection of a client to one fiber after the other. The client does as well, in more steps. */
const oneByOne = (client: SqliteClient): Effect.Effect<Use, SqlError> =>
  Effect.flatMap(Effect.scoped(client.reserve), (connection) => inTurn(preparingAgain(connection)))

/**
 * The error of a driver that cannot be loaded, without the paths where it was looked for: they are dozens of lines, and stand behind
 * the one that helps.
 */
const withoutPaths = (error: unknown): unknown => {
  if (!(error instanceof Error)) return error
  const [line = "", ...paths] = error.message.split("\n")
  if (paths.length === 0) return error
  const { code } = error as { readonly code?: unknown }
  return Object.assign(new Error(line), code === undefined ? {} : { code })
}

/**
 * Loads better-sqlite3. Fails if it is not installed, needs a newer Node, or its native part is not built for this Node: the driver
 * looks for that part when it opens its first database, so one in memory is opened.
 *
 * The client loads its driver when it is imported: it is imported here, so that a program that opens no file does not load it.
 */
export const betterSqlite: Effect.Effect<Driver, unknown> = Effect.tryPromise({
  try: () => {
    refuseNewer()
    return import("@effect/sql-sqlite-node/SqliteClient")
  },
  catch: (error) => error,
}).pipe(
  Effect.map(
    ({ make }): Driver =>
      ({ filename, readonly = false }) =>
        // With its own WAL mode, the client would change the journal mode before the file is checked.
        make({ filename, readonly, disableWAL: true }).pipe(
          Effect.provideServiceEffect(Reactivity.Reactivity, Reactivity.make),
          Effect.flatMap((client) => Effect.map(oneByOne(client), (use) => ({ use, backup: client.backup }))),
          Effect.catchAllCause((cause) => Effect.fail(Cause.squash(cause))),
        ),
  ),
  Effect.tap((driver) => Effect.scoped(driver({ filename: ":memory:" }))),
  Effect.mapError(withoutPaths),
)
