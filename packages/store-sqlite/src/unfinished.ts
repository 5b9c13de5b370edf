/**
 * Rewrites whose old text is still in the write-ahead log. A rewrite overwrites the text in the tables, but the log keeps
 * the pages as they were before until it is emptied, and another connection that reads them prevents that. The file lists
 * such rewrites, so that every process that opens it can finish them.
 */
import { EventLog, sleepUntil } from "@memfold/log"
import { type Run, text } from "@memfold/store-sql"
import { Clock, type Duration, Effect, Schedule } from "effect"
import type { File } from "./File.js"

/** The batches that erased text which may still be in the write-ahead log. */
export const table = `CREATE TABLE unfinished_rewrites (
     session TEXT NOT NULL,
     batch_id TEXT NOT NULL,
     PRIMARY KEY (session, batch_id)
   ) WITHOUT ROWID`

/** How often a process with the file open tries to finish what is unfinished, in milliseconds. */
const tryEvery = 1_000

const about = { operation: "rewrite" }

/** Lists a rewrite as unfinished, in the transaction that writes it. */
export const begin = (run: Run, session: string, batchId: string) =>
  run("INSERT OR IGNORE INTO unfinished_rewrites (session, batch_id) VALUES (?, ?)", [session, batchId])

/** Finishes all rewrites of a file if no other connection reads an old state; otherwise `false`. It does not wait. */
const tryToFinish = ({
  query,
  checkpoint,
  statement,
  failing,
}: File): Effect.Effect<boolean, EventLog.LogError> =>
  Effect.gen(function* () {
    const listed = yield* query(about, "SELECT session, batch_id FROM unfinished_rewrites")
    if (listed.length === 0) return true
    if (!(yield* checkpoint("rewrite"))) return false
    // Only these: a rewrite that was listed since is not finished.
    const finished = JSON.stringify(listed.map((row) => [text(row, "session"), text(row, "batch_id")]))
    yield* failing(about)(
      statement(
        `DELETE FROM unfinished_rewrites
         WHERE (session, batch_id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))`,
        [finished],
      ),
    )
    return true
  })

/** Finishes all rewrites of a file. Waits for others as long as `patience`, and fails after that. */
export const finish = (
  file: File,
  session: string,
  patience: Duration.DurationInput,
): Effect.Effect<void, EventLog.LogError> => {
  const late = new EventLog.LogError({
    ...about,
    session,
    reason:
      "the text is erased from the session, but another connection still reads the file as it was before, and keeps the old bytes in its write-ahead log; they are removed when that one is done, and repeating the operation waits for that",
  })
  return tryToFinish(file).pipe(
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
export const finishing = (file: File) => {
  const attempt = Effect.ignore(tryToFinish(file))
  return Effect.zipRight(attempt, Effect.forkScoped(Effect.forever(Effect.zipRight(pause, attempt))))
}
