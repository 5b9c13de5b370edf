/** The log in a transaction of the application: it writes on the connection that has the transaction. */
import { TransactionConnection } from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { EventLog } from "@memfold/log"
import { database, type DatabaseOptions, type Dialect, inTurn, logOf, type Use } from "@memfold/store-sql"
import { Effect, Option } from "effect"
import type { ClientBase } from "pg"
import { clientBehind, connectionTo, listening } from "./connect.js"
import { connectionToEmbedded, type EmbeddedClient } from "./connectEmbedded.js"

const taken =
  "give the client of pg that began it, a transaction of PGlite, the transaction of drizzle-orm/node-postgres or drizzle-orm/pglite, or the SqlClient of @effect/sql-pg inside withTransaction"

const refused = (problem: string) =>
  new EventLog.LogError({ operation: "within", reason: `${problem}; ${taken}` })

/** Whether a value has methods of these names. */
const has = <Name extends string>(value: unknown, ...names: ReadonlyArray<Name>): boolean =>
  typeof value === "object" &&
  value !== null &&
  names.every((name) => typeof (value as Readonly<Record<string, unknown>>)[name] === "function")

/** Whether a value is a pool of `pg`: each statement of it may go to another connection. */
const isPool = (value: unknown): boolean =>
  has(value, "query", "connect") && "totalCount" in (value as object)

/** What runs the statements of a transaction of Drizzle; `undefined` for anything else. */
const underDrizzle = (value: unknown): unknown =>
  has(value, "execute", "transaction")
    ? (value as { readonly session?: { readonly client?: unknown } }).session?.client
    : undefined

/** A client of Effect SQL is a function with methods. */
const isSqlClient = (value: unknown): boolean => typeof value === "function" && "withTransaction" in value

/** The object that has the connection of a transaction. */
const clientOf = (transaction: unknown): Effect.Effect<object, EventLog.LogError> =>
  Effect.gen(function* () {
    if (isSqlClient(transaction)) {
      const inside = yield* Effect.serviceOption(TransactionConnection)
      if (Option.isNone(inside)) return yield* refused("this is outside of withTransaction")
      const [connection] = inside.value
      return clientBehind(connection) ?? (yield* refused("this SqlClient is not that of @effect/sql-pg"))
    }
    const client = underDrizzle(transaction) ?? transaction
    if (isPool(client)) return yield* refused("a pool is not a transaction")
    if (has(client, "query")) return client as object
    return yield* refused("this is not a transaction that the store knows")
  })

/** One call after the other on each connection, however many logs use it. */
const uses = new WeakMap<object, Use>()

const useOf = (client: object): Effect.Effect<Use> =>
  Effect.suspend(() => {
    const known = uses.get(client)
    if (known !== undefined) return Effect.succeed(known)
    const isEmbedded = has(client, "query", "exec")
    const connection: Connection = isEmbedded
      ? connectionToEmbedded(client as EmbeddedClient)
      : connectionTo(client as ClientBase)
    // A connection that breaks in a transaction tells the statement, and then whoever listens.
    const heard = has(client, "on", "off", "listenerCount") ? listening(client as ClientBase) : Effect.void
    return Effect.map(Effect.zipRight(heard, inTurn(connection)), (use) => {
      const inOrder: Use = (body) => Effect.uninterruptible(use(body))
      uses.set(client, inOrder)
      return inOrder
    })
  })

/** What the log of a transaction shares with the log of its store. */
export interface Shared {
  readonly dialect: Dialect
  readonly reasonOf: NonNullable<DatabaseOptions["reasonOf"]>
  /** The event types that are committed. */
  readonly types: ReadonlySet<string>
}

/** Makes the log of a transaction. Nothing is tried again there: what fails for a moment fails the transaction. */
export const within =
  ({ dialect, reasonOf, types }: Shared): NonNullable<EventLog.Service["within"]> =>
  (transaction) =>
    Effect.gen(function* () {
      const use = yield* useOf(yield* clientOf(transaction))
      const opened = database(use, { dialect, reasonOf, isInTransaction: true })
      // A type that is first stored here may be rolled back: the log of the store does not hear of it.
      return logOf(opened, { types: new Set(types) })
    })
