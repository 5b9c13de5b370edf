/**
 * Rewrites and deletions whose old text may still be in the servers' files. The script that rewrites or deletes a session lists it in the same
 * step, and it is taken off the list when the files are rewritten. Whoever opens the log goes on with what is listed.
 */
import type { EventLog } from "@memfold/log"
import { atMost } from "@memfold/log/atMost"
import { Effect, type Scope } from "effect"
import { type Connection, sleptUnheld } from "./Connection.js"
import { forget } from "./forget.js"
import { bucketKeys, keysUnder } from "./keys.js"
import type { Script } from "./scripts.js"
import { fromStored, toStored } from "./stored.js"

/** How long to wait until an unfinished rewrite is tried again, in milliseconds: at first, and at most. */
const wait = { first: 1_000, most: 60_000 }

/** How many lists are read at a time. */
const concurrency = 64

/** Finishes the rewrites of a session, and waits for it. */
export type Finish = (session: string) => Effect.Effect<void, EventLog.LogError>

/**
 * Finishes rewrites when it is called, and in the background what is listed when it is made, or could not be finished
 * when it was called.
 */
export const make = (
  connection: Connection,
  prefix: string,
  finished: Script,
): Effect.Effect<Finish, never, Scope.Scope> =>
  Effect.gen(function* () {
    const keysOf = keysUnder(prefix)
    const allLists = bucketKeys(prefix).map(({ unfinished }) => unfinished)
    /** The sessions to try again. */
    const left = new Set<string>()
    let pause = wait.first
    const oneAtATime = atMost(1)

    const finish: Finish = (session) =>
      Effect.gen(function* () {
        const about = { operation: "rewrite", session }
        const { unfinished } = keysOf(session)
        // A server writes its files anew for all that is listed: whoever waits meanwhile is mostly done, too.
        const isListed = connection.ask(about, (client) => client.hexists(unfinished, toStored(session)))
        if ((yield* isListed) === 1)
          yield* oneAtATime(
            Effect.gen(function* () {
              if ((yield* isListed) === 0) return
              const lists = connection.servers().length === 1 ? allLists : [unfinished]
              const listed = yield* Effect.forEach(
                lists,
                (list) =>
                  Effect.map(
                    connection.ask(about, (client) => client.hgetall(list)),
                    (entries) => Object.entries(entries).map(([name, batch]) => ({ list, name, batch })),
                  ),
                { concurrency },
              )
              yield* forget(connection, session, unfinished)
              yield* Effect.forEach(
                listed.flat(),
                ({ list, name, batch }) =>
                  connection.run(about, finished, [list], [JSON.stringify({ name, batch })]),
                { concurrency, discard: true },
              )
            }),
          )
        left.delete(session)
      }).pipe(Effect.tapError(() => Effect.sync(() => left.add(session))))

    const find = Effect.forEach(
      allLists,
      (list) =>
        connection
          .ask({ operation: "rewrite" }, (client) => client.hkeys(list))
          .pipe(Effect.map((names) => names.forEach((name) => left.add(fromStored(name))))),
      { concurrency, discard: true },
    )

    const round = Effect.gen(function* () {
      yield* Effect.forEach([...left], (session) => Effect.ignore(finish(session)), { discard: true })
      // Each try makes a server rewrite its files, which is work for it.
      pause = left.size === 0 ? wait.first : Math.min(2 * pause, wait.most)
      yield* sleptUnheld(pause)
    })
    yield* Effect.forkScoped(Effect.zipRight(Effect.ignore(find), Effect.forever(round)))
    return finish
  })
