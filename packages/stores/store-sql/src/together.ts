/** What is asked about many sessions at the same time, by one statement: a statement costs about as much as what it answers. */
import { EventLog } from "@memfold/log"
import { Effect, Fiber } from "effect"
import * as Batcher from "./batcher.js"
import { type About, type Database, isRefused } from "./Database.js"

type Rows = ReadonlyArray<ReadonlyArray<unknown>>

/**
 * How many sessions a statement answers for. What sessions are opened with is in memory at once for all of them. The statement says it, too:
 * a planner would expect a hundred, and read whole tables for them, or compile the plan, which takes longer than all else.
 */
const atOnce = 16

/** A question about a session. */
export interface Question<A> {
  readonly operation: About["operation"]
  /** The names that the question is about: that of the session, and what is made of it. */
  readonly named: (session: string) => ReadonlyArray<string>
  /** The statement; `name` is what stands in it for a name. */
  readonly statement: (name: (at: number) => string) => string
  /** The parameters of the statement, with these names among them. */
  readonly parameters: (names: ReadonlyArray<string>) => ReadonlyArray<unknown>
  /** The answer for a session, of its rows. */
  readonly answer: (session: string, rows: Rows) => A
}

/**
 * Makes a function that asks about a session, where the database can together with others that ask while a statement is under way. A
 * statement that the database refuses may be refused because of one of them: then each session is asked about alone, but for a database
 * that is gone.
 */
export const together = <A>(
  { dialect, lists }: Database,
  { operation, named, statement, parameters, answer }: Question<A>,
): ((session: string) => Effect.Effect<A, EventLog.LogError>) => {
  const one = statement(() => "?")
  const alone = (session: string): Effect.Effect<A, EventLog.LogError> =>
    Effect.map(lists({ operation, session }, one, parameters(named(session))), (rows) =>
      answer(session, rows),
    )
  if (dialect.isLateral !== true) return alone

  const all = `SELECT elements.key, one.* FROM (SELECT * FROM ${dialect.elements} LIMIT ${atOnce}) AS elements
    CROSS JOIN LATERAL (${statement((at) => `(elements.value ->> ${at})`)}) AS one`
  const ask = Batcher.make<string, A, EventLog.LogError>({
    run: (sessions) => {
      const [first = "", ...others] = sessions
      if (others.length === 0) return Effect.map(alone(first), (answered) => [answered])
      const names = sessions.map((session) => named(session).map((name) => name.toWellFormed()))
      return Effect.map(lists({ operation }, all, [JSON.stringify(names), ...parameters([])]), (rows) => {
        const found = sessions.map((): Array<ReadonlyArray<unknown>> => [])
        for (const [key, ...row] of rows) found[Number(key)]?.push(row)
        return sessions.map((session, at) => answer(session, found[at] ?? []))
      })
    },
    canBeOfOne: isRefused(dialect),
    keyOf: (session) => session,
    sizeOf: () => 1,
    mostSize: atOnce,
  })
  return (session) =>
    // Whoever leaves leaves the others their statement.
    Effect.flatMap(Effect.forkDaemon(ask(session)), Fiber.join).pipe(
      Effect.mapError(({ reason, cause }) => new EventLog.LogError({ operation, session, reason, cause })),
    )
}
