/** Runs statements and transactions through a client of Effect SQL, and turns its errors into errors of the log. */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { EventLog } from "@memfold/log"
import { atMost } from "@memfold/log/atMost"
import { Effect } from "effect"
import type { Dialect } from "./Dialect.js"

/** A row as the database returns it. */
export type Row = Readonly<Record<string, unknown>>

/** Runs one statement. */
export type Run = (
  sql: string,
  parameters?: ReadonlyArray<unknown>,
) => Effect.Effect<ReadonlyArray<Row>, SqlError>

/** Uses a connection that nobody else uses meanwhile. */
export type Use = <A, E>(
  body: (connection: Connection) => Effect.Effect<A, E>,
) => Effect.Effect<A, E | SqlError>

/** The operation that a statement belongs to, and its session, if it is of one: errors name both. */
export interface About {
  readonly operation: string
  readonly session?: string | undefined
}

/** How to use a database. */
export interface DatabaseOptions {
  readonly dialect: Dialect
  /** The reason of an error, in words: what happened and what to do. By default, the message of the database. */
  readonly reasonOf?: ((cause: unknown) => string | undefined) | undefined
  /** Runs a statement that reads, and tries it again while the database is busy. Once, by default. */
  readonly reading?:
    | (<A, E>(read: Effect.Effect<A, E | SqlError>) => Effect.Effect<A, E | SqlError>)
    | undefined
  /** Runs a statement or a transaction that writes, and tries it again while the database is busy. */
  readonly writing?:
    | (<A, E>(write: Effect.Effect<A, E | SqlError>) => Effect.Effect<A, E | SqlError>)
    | undefined
  /**
   * Whether the connection is in a transaction of the application, `false` by default. Then each statement or transaction is a
   * savepoint: the application commits it or rolls it back, and what fails leaves the transaction as it was.
   */
  readonly isInTransaction?: boolean | undefined
}

const writeRefused = new Error("it is open to be read, and takes no writes")

/** How a database is written that is open to be read: every write fails. So one of a newer memfold can be read, and not be harmed. */
export const refusingWrites: NonNullable<DatabaseOptions["writing"]> = () =>
  Effect.fail(new SqlError({ cause: writeRefused, message: writeRefused.message }))

interface Bounds {
  readonly begin: string
  readonly commit: string
  readonly rollback: string
}

const savepoint: Bounds = {
  begin: "SAVEPOINT memfold",
  commit: "RELEASE SAVEPOINT memfold",
  rollback: "ROLLBACK TO SAVEPOINT memfold",
}

/** A database in use. */
export interface Database {
  readonly dialect: Dialect
  /** Runs one statement that reads. */
  readonly query: (
    about: About,
    sql: string,
    parameters?: ReadonlyArray<unknown>,
  ) => Effect.Effect<ReadonlyArray<Row>, EventLog.LogError>
  /** The same, with rows as lists of their columns: many of them are read faster so. */
  readonly lists: (
    about: About,
    sql: string,
    parameters: ReadonlyArray<unknown>,
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, EventLog.LogError>
  /** Runs one statement that writes. Its errors are not in words yet: see `failing`. */
  readonly statement: Run
  /** Runs statements that write in one transaction, with the same parameters; returns the rows of the last. */
  readonly statements: (
    all: ReadonlyArray<string>,
    parameters: ReadonlyArray<unknown>,
  ) => Effect.Effect<ReadonlyArray<Row>, SqlError>
  /** Runs statements in one transaction, which is a writer from its start: all of them or none. */
  readonly transaction: <A, E>(
    about: About,
    body: (run: Run) => Effect.Effect<A, E | SqlError>,
  ) => Effect.Effect<A, Exclude<E, SqlError> | EventLog.LogError>
  /** Puts the errors of the database into words. */
  readonly failing: (
    about: About,
  ) => <A, E>(
    effect: Effect.Effect<A, E | SqlError>,
  ) => Effect.Effect<A, Exclude<E, SqlError> | EventLog.LogError>
}

export const text = (row: Row, column: string): string => String(row[column])
export const integer = (row: Row, column: string): number => Number(row[column])
export const textOrNull = (row: Row, column: string): string | null =>
  row[column] === null ? null : text(row, column)

/** What an error says where its store has no words for it. */
const messageOf = ({ isDuplicate }: Dialect, cause: unknown): string => {
  if (isDuplicate(cause)) return "the change would leave two rows with one mark; nothing was written"
  return cause instanceof Error ? cause.message : String(cause)
}

/** Whether the database refused a statement, and was not only busy. */
export const isRefused =
  ({ isBusy }: Dialect) =>
  ({ cause }: EventLog.LogError): boolean =>
    cause instanceof SqlError && !isBusy(cause.cause)

/** Translates statements for a dialect, each once. */
const translating = ({ statement }: Dialect): ((sql: string) => string) => {
  if (statement === undefined) return (sql) => sql
  const translated = new Map<string, string>()
  return (sql) => {
    const known = translated.get(sql)
    if (known !== undefined) return known
    const made = statement(sql)
    translated.set(sql, made)
    return made
  }
}

/** Keeps other writers away from a session until the transaction ends. */
export const lockSession = ({ lock }: Dialect, run: Run, session: string): Effect.Effect<unknown, SqlError> =>
  lock === undefined ? Effect.void : run(lock, [session])

/**
 * Uses the connections of a client. Each is reserved: where there is a single connection, the client's other way can run a
 * statement in a transaction that another fiber has open.
 */
export const reserving =
  (client: SqlClient): Use =>
  (body) =>
    Effect.scoped(Effect.flatMap(client.reserve, body))

/** Gives one connection to one fiber after the other. */
export const inTurn = (connection: Connection): Effect.Effect<Use> =>
  Effect.sync(() => {
    const oneAtATime = atMost(1)
    return (body) => oneAtATime(Effect.suspend(() => body(connection)))
  })

/** Uses a database through its connections. */
export const database = (use: Use, options: DatabaseOptions): Database => {
  const { dialect, reasonOf, reading = (read) => read, writing = (write) => write } = options
  const { isInTransaction = false } = options
  const bounds: Bounds = isInTransaction
    ? savepoint
    : { begin: dialect.begin, commit: "COMMIT", rollback: "ROLLBACK" }
  const textOf = translating(dialect)

  const runOn =
    (connection: Connection): Run =>
    (sql, parameters = []) =>
      connection.execute(textOf(sql), parameters, undefined)

  const failing: Database["failing"] = ({ operation, session }) =>
    Effect.mapError((error) => {
      if (!(error instanceof SqlError)) return error as Exclude<typeof error, SqlError>
      const named = session === undefined ? {} : { session }
      return new EventLog.LogError({
        operation,
        ...named,
        // No database has said it.
        reason:
          error.cause === writeRefused
            ? writeRefused.message
            : (reasonOf?.(error.cause) ?? messageOf(dialect, error.cause)),
        ...(dialect.isTooLong(error.cause) ? { refused: "limit" as const } : {}),
        cause: error,
      })
    })

  /** All statements of a body, or none of them. */
  const whole = <A, E>(body: (run: Run, connection: Connection) => Effect.Effect<A, E | SqlError>) =>
    use((connection) => {
      const run = runOn(connection)
      const worked = body(run, connection).pipe(
        Effect.zipLeft(run(bounds.commit)),
        // A database may have rolled back by itself, when the disk was full for example.
        Effect.tapErrorCause(() => Effect.ignore(run(bounds.rollback))),
      )
      return Effect.uninterruptible(Effect.zipRight(run(bounds.begin), worked))
    })

  /** One statement. In a transaction of the application, a failure of it would fail the transaction, without a savepoint. */
  const alone = <A>(body: (connection: Connection) => Effect.Effect<A, SqlError>) =>
    isInTransaction ? whole((_run, connection) => body(connection)) : use(body)

  return {
    dialect,
    failing,
    query: (about, sql, parameters = []) =>
      failing(about)(reading(alone((connection) => runOn(connection)(sql, parameters)))),
    lists: (about, sql, parameters) =>
      failing(about)(reading(alone((connection) => connection.executeValues(textOf(sql), parameters)))),
    statement: (sql, parameters = []) => writing(alone((connection) => runOn(connection)(sql, parameters))),
    statements: (all, parameters) =>
      writing(
        whole((run) => Effect.reduce(all, [] as ReadonlyArray<Row>, (_rows, sql) => run(sql, parameters))),
      ),
    transaction: (about, body) => failing(about)(writing(whole(body))),
  }
}
