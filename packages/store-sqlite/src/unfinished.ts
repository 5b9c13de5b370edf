/**
 * Rewrites whose old text is still in the write-ahead log. A rewrite overwrites the text in the tables, but the log keeps
 * the pages as they were before until it is emptied, and another connection that reads them prevents that. The file lists
 * such rewrites, so that every process that opens it can finish them.
 */
import { EventLog, sleepUntil } from "@memfold/core"
import { Clock, type Duration, Effect, Schedule } from "effect"
import type { Database } from "./Database.js"
import { type Run, text } from "./Row.js"

/** How often a process with the file open tries to finish what is unfinished, in milliseconds. */
const tryEvery = 1_000

/** Lists a rewrite as unfinished, in the transaction that writes it. */
export const begin = (run: Run, session: string, batchId: string) =>
  run("INSERT OR IGNORE INTO unfinished_rewrites (session, batch_id) VALUES (?, ?)", [session, batchId])

/** Finishes all rewrites of a file if no other connection reads an old state; otherwise `false`. It does not wait. */
const tryToFinish = (database: Database): Effect.Effect<boolean, EventLog.LogError> =>
  Effect.gen(function* () {
    const listed = yield* database.query("rewrite", "SELECT session, batch_id FROM unfinished_rewrites", [])
    if (listed.length === 0) return true
    if (!(yield* database.checkpoint("rewrite"))) return false
    // One by one: a rewrite that was listed since is not finished.
    yield* database.write({ operation: "rewrite" }, (run) =>
      Effect.forEach(
        listed,
        (row) =>
          run("DELETE FROM unfinished_rewrites WHERE session = ? AND batch_id = ?", [
            text(row, "session"),
            text(row, "batch_id"),
          ]),
        { discard: true },
      ),
    )
    return true
  })

/** Finishes all rewrites of a file. Waits for others as long as `patience`, and fails after that. */
export const finish = (
  database: Database,
  session: string,
  patience: Duration.DurationInput,
): Effect.Effect<void, EventLog.LogError> => {
  const late = new EventLog.LogError({
    operation: "rewrite",
    session,
    reason:
      "the text is erased from the session, but another connection still reads the file as it was before, and keeps the old bytes in its write-ahead log; they are removed when that one is done, and repeating the operation waits for that",
  })
  return tryToFinish(database).pipe(
    Effect.filterOrFail(
      (done) => done,
      () => late,
    ),
    Effect.retry({
      while: (error) => error === late,
      schedule: Schedule.jittered(Schedule.spaced("10 millis")).pipe(Schedule.upTo(patience)),
    }),
    Effect.asVoid,
  )
}

const pause = Effect.flatMap(Clock.currentTimeMillis, (now) => sleepUntil(now + tryEvery))

/** Tries to finish all rewrites now, and then again and again in the background, until the scope ends. */
export const finishing = (database: Database) => {
  const attempt = Effect.ignore(tryToFinish(database))
  return Effect.zipRight(attempt, Effect.forkScoped(Effect.forever(Effect.zipRight(pause, attempt))))
}
