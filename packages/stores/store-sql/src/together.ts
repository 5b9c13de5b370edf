/** What is asked about many sessions at the same time, by one statement: a statement costs about as much as what it answers. */
import { EventLog } from "@memfold/log"
import { SqlError } from "@effect/sql/SqlError"
import { Effect, Fiber } from "effect"
import * as Batcher from "./batcher.js"
import type { About, Database } from "./Database.js"

type Rows = ReadonlyArray<ReadonlyArray<unknown>>

/**
 * How many sessions a statement answers for. What sessions are opened with is in memory at once for all of them. The statement says it, too:
 * a planner would expect a hundred, and read whole tables for them, or compile the plan, which takes longer than all else.
 */
const atOnce = 16

/** A question about a session. */
export interface Question<A> {
  readonly operation: About["operation"]
  /** The statement for one session; `elements.value` is the list that `named` answers. */
  readonly statement: string
  /** The parameters of the statement. */
  readonly parameters: ReadonlyArray<unknown>
  readonly named: (session: string) => ReadonlyArray<string>
  /** The answer for a session, of its rows. */
  readonly answer: (session: string, rows: Rows) => A
}

/**
 * Makes a function that asks about a session together with others that ask while a statement is under way. A statement that the database
 * refuses may be refused because of one of them: whoever asks has to ask again, for its own session alone.
 */
export const together = <A>(
  { dialect, lists }: Database,
  { operation, statement, parameters, named, answer }: Question<A>,
): ((session: string) => Effect.Effect<A, EventLog.LogError>) => {
  const all = `SELECT elements.key, one.* FROM (SELECT * FROM ${dialect.elements} LIMIT ${atOnce}) AS elements
    CROSS JOIN LATERAL (${statement}) AS one`
  const ask = Batcher.make<string, A, EventLog.LogError>({
    run: (sessions) => {
      const names = sessions.map((session) => named(session).map((name) => name.toWellFormed()))
      return Effect.map(lists({ operation }, all, [JSON.stringify(names), ...parameters]), (rows) => {
        const found = sessions.map((): Array<ReadonlyArray<unknown>> => [])
        for (const [key, ...row] of rows) found[Number(key)]?.push(row)
        return sessions.map((session, at) => answer(session, found[at] ?? []))
      })
    },
    canBeOfOne: () => false,
    keyOf: (session) => session,
    sizeOf: () => 1,
    mostSize: atOnce,
  })
  // Whoever leaves leaves the others their statement.
  return (session) => Effect.flatMap(Effect.forkDaemon(ask(session)), Fiber.join)
}

/**
 * Asks together with others where the database can, and else, or where it refused that, alone. A database that is gone is not asked
 * twice.
 */
export const preferably =
  <A>(
    { dialect }: Database,
    operation: About["operation"],
    shared: ((session: string) => Effect.Effect<A, EventLog.LogError>) | null,
    alone: (session: string) => Effect.Effect<A, EventLog.LogError>,
  ): ((session: string) => Effect.Effect<A, EventLog.LogError>) =>
  (session) =>
    shared === null
      ? alone(session)
      : Effect.catchAll(shared(session), ({ reason, cause }) =>
          cause instanceof SqlError && !dialect.isBusy(cause.cause)
            ? alone(session)
            : new EventLog.LogError({ operation, session, reason, cause }),
        )
