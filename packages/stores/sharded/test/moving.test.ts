/** The laws of every store over shards among which each session moves while it is written to. */
import { EventLog, InMemoryEventLog } from "@memfold/core"
import { often } from "@memfold/harness/depth"
import { eventLogLaws } from "@memfold/testing/vitest"
import { Effect, Layer } from "effect"
import { makeSharded, type ShardedLog } from "../src/index.js"

const names = Array.from({ length: 6 }, (_, at) => `shard-${at}`)

/** Each write to a session, and each read, has a move of it beside it. */
const moving = (log: ShardedLog): EventLog.Service => {
  let next = 0
  const beside =
    <Given extends ReadonlyArray<unknown>, A, E>(
      run: (session: string, ...given: Given) => Effect.Effect<A, E>,
    ) =>
    (session: string, ...given: Given): Effect.Effect<A, E> =>
      Effect.suspend(() => {
        const move = Effect.either(log.move(session, names[++next % names.length]!))
        return Effect.map(
          Effect.all([run(session, ...given), move], { concurrency: "unbounded" }),
          ([answer]) => answer,
        )
      })
  const { projections } = log
  return {
    ...log,
    append: beside(log.append),
    rewrite: beside(log.rewrite),
    replace: beside(log.replace!),
    read: beside(log.read),
    head: beside(log.head),
    projections: { ...projections, get: beside(projections.get), put: beside(projections.put) },
  }
}

const rows = "a move takes only the rows along that are not made from the log by whoever reads next"
const feed = "the feed has a session again that has moved"

eventLogLaws({
  name: "six shards in memory, among which sessions move",
  numRuns: often(5, 200),
  layer: () =>
    Layer.effect(
      EventLog.EventLog,
      Effect.map(
        Effect.forEach(names, (name) => Effect.map(InMemoryEventLog.make, (log) => ({ name, log }))),
        (shards): EventLog.Service => moving(makeSharded({ shards })),
      ),
    ),
  skip: {
    "L12: sessions with similar ids are kept apart": rows,
    "L6: projection rows are returned as they were put": rows,
    "L12: projection changes are made with their append, all or none": rows,
    "L1: no two rows of a kind in a session have one mark": rows,
    "L6: rows that were computed at another position are refused": rows,
    "L15: a rewrite, a deletion and a drop leave no rows": rows,
    "L6: 9,000 rows and a row of one megabyte are returned whole": rows,
    "L12: a reader of the feed goes on from any position": feed,
    "L15: the feed has nothing of what was deleted or rewritten": feed,
    "L12: behind the end of the feed is what comes from then on": feed,
  },
})
