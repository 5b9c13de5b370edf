/** A queue in a cluster that the application runs. */
import { SingleRunner } from "@effect/cluster"
import { SqliteClient } from "@effect/sql-sqlite-node"
import { SqlClient } from "@effect/sql"
import { Dispatcher } from "@memfold/core"
import { eventually } from "@memfold/harness/eventually"
import { Effect, Layer } from "effect"
import { expect, it } from "vitest"
import { within } from "../src/index.js"

it("carries out looks in a cluster of the application, and removes the messages of those that are done", async () => {
  const database = SqliteClient.layer({ filename: ":memory:" })
  const cluster = SingleRunner.layer({ shardingConfig: { entityMessagePollInterval: 50 } })
  await Effect.gen(function* () {
    const queue = yield* within({ attempts: 2, backOff: 10, tidyInterval: 50 })
    const looks: Array<string> = []
    const long = "s".repeat(1_000)
    yield* queue.work(
      ({ session }) => {
        looks.push(session)
        const reason = "no luck"
        return session === "bad" ? new Dispatcher.LookFailed({ session, reason, final: false }) : Effect.void
      },
      { concurrency: 2, shutdown: 1_000 },
    )
    for (const session of ["good", "bad", long]) yield* queue.dispatch({ session, time: 0, fill: 0.5 })
    const run = yield* Effect.runtime<SqlClient.SqlClient>()
    const left = Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql<{ readonly tag: string }>`SELECT tag FROM cluster_messages`,
    )
    yield* Effect.promise(() =>
      eventually("only the dead letter is left", async () => {
        const letters = await Effect.runPromise(queue.deadLetters)
        const rows = await Effect.runPromise(Effect.provide(left, run))
        return letters.length === 1 && rows.length === 1
      }),
    )
    expect(looks.toSorted()).toEqual(["bad", "bad", "good", long].toSorted())
    expect(yield* queue.deadLetters).toMatchObject([{ session: "bad", attempts: 2, reason: "no luck" }])
  }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(cluster, database)), Effect.runPromise)
})
