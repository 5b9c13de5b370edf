/** The event log in the SQLite of a Durable Object, which is its only writer. */
import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import { EventLog } from "@memfold/log"
import {
  changesOf,
  connectionOf,
  createTables,
  database,
  failedStatement,
  inTurn,
  logOf,
  type Row,
} from "@memfold/store-sql"
import { Deferred, Effect, Layer, type Scope } from "effect"
import { objectDialect, reasonOf } from "./dialect.js"

/** The rows of a statement. */
export interface ObjectCursor {
  readonly columnNames: Array<string>
  toArray(): Array<Record<string, unknown>>
  raw(): Iterable<Array<unknown>>
}

/** The storage of a Durable Object with SQLite, `ctx.storage`: as much as the log uses of it. */
export interface ObjectStorage {
  readonly sql: { exec(sql: string, ...values: Array<unknown>): ObjectCursor }
  transaction<A>(work: (transaction: { rollback(): void }) => Promise<A>): Promise<A>
}

/** How the log in a Durable Object is opened. */
export interface ObjectOptions {
  /** The storage of the object, `ctx.storage`. Its class is one with SQLite: `new_sqlite_classes` in its migration. */
  readonly storage: ObjectStorage
}

type End = "commit" | "rollback"

/**
 * A transaction of the storage is a function that is called; one of the log is between two statements. So the function waits for
 * the statement that ends it.
 */
const transactionOf = (storage: ObjectStorage) =>
  Effect.gen(function* () {
    const begun = yield* Deferred.make<void, SqlError>()
    const ended = yield* Deferred.make<End>()
    const whole = storage.transaction(async (transaction) => {
      Deferred.unsafeDone(begun, Effect.void)
      if ((await Effect.runPromise(Deferred.await(ended))) === "rollback") transaction.rollback()
    })
    // Where it never begins, nobody waits for its end.
    whole.catch((cause) => Deferred.unsafeDone(begun, Effect.fail(failedStatement(cause))))
    yield* Deferred.await(begun)
    return (how: End) =>
      Effect.zipRight(
        Deferred.succeed(ended, how),
        Effect.tryPromise({ try: () => whole, catch: failedStatement }),
      )
  })

/** The connection to a storage. One fiber uses it at a time. */
const connectionTo = (storage: ObjectStorage): Connection => {
  let end: Effect.Effect.Success<ReturnType<typeof transactionOf>> | null = null
  const trying = <A>(sql: string, parameters: ReadonlyArray<unknown>, read: (cursor: ObjectCursor) => A) =>
    Effect.try({ try: () => read(storage.sql.exec(sql, ...parameters)), catch: failedStatement })

  return connectionOf({
    rows: (sql, parameters = []) => {
      if (sql === objectDialect.begin)
        return Effect.map(transactionOf(storage), (begun): ReadonlyArray<Row> => {
          end = begun
          return []
        })
      if (sql === "COMMIT" || sql === "ROLLBACK")
        return Effect.suspend(() => {
          const ending = end?.(sql === "COMMIT" ? "commit" : "rollback") ?? Effect.void
          end = null
          return Effect.as(ending, [])
        })
      return trying(sql, parameters, (cursor) => cursor.toArray())
    },
    lists: (sql, parameters) => trying(sql, parameters, (cursor) => [...cursor.raw()]),
  })
}

/**
 * Opens the event log in the storage of a Durable Object, and creates its tables if there are none.
 *
 * Fails with a `LogError` that says why, if the storage has tables of another program or of another version of memfold.
 *
 * @example
 * ```ts
 * import { makeObject, type ObjectStorage } from "@memfold/store-cloudflare"
 * import { Effect } from "effect"
 *
 * export const head = (storage: ObjectStorage) =>
 *   Effect.scoped(Effect.flatMap(makeObject({ storage }), (log) => log.head("chat-1")))
 * ```
 */
export const makeObject = ({
  storage,
}: ObjectOptions): Effect.Effect<EventLog.Service, EventLog.LogError, Scope.Scope> =>
  Effect.gen(function* () {
    const name = "the storage of this Durable Object"
    const use = yield* inTurn(connectionTo(storage))
    const opened = database(use, { dialect: objectDialect, reasonOf: reasonOf(name) })
    yield* createTables(opened, { name, create: true })
    // All who write are in this object, and may have logs of their own.
    const changes = yield* changesOf(opened, { every: () => "250 millis" })
    return { ...logOf(opened, { onWritten: changes.tell }), changes: changes.of }
  })

/**
 * Provides the event log in the storage of a Durable Object; see {@link makeObject}.
 *
 * @example
 * ```ts
 * import { layerObject, type ObjectStorage } from "@memfold/store-cloudflare"
 * import { createMemory } from "memfold"
 *
 * // An object for each chat: `env.CHATS.get(env.CHATS.idFromName("chat-1")).fetch(request)`.
 * export class Chat {
 *   private readonly memory
 *   constructor(context: { readonly storage: ObjectStorage }) {
 *     this.memory = createMemory({ store: layerObject(context) })
 *   }
 *   async fetch(request: Request): Promise<Response> {
 *     await this.memory.append("chat", { role: "user", content: await request.text() })
 *     return Response.json((await this.memory.context("chat")).messages)
 *   }
 * }
 * ```
 */
export const layerObject = (options: ObjectOptions): Layer.Layer<EventLog.EventLog, EventLog.LogError> =>
  Layer.scoped(EventLog.EventLog, makeObject(options))
