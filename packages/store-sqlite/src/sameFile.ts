/** A file that is replaced while it is open: SQLite goes on with the old one, which nobody finds again. */
import { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import { closeSync, openSync, readSync, statSync, truncateSync } from "node:fs"
import { resolve } from "node:path"

const look = (path: string) => statSync(path, { bigint: true, throwIfNoEntry: false })

/** Which file stands at a path; `undefined` without one. */
const nameOf = (stat: ReturnType<typeof look>): string | undefined =>
  stat === undefined ? undefined : `${stat.dev}:${stat.ino}`

/** Whether a file is used with a write-ahead log: the version in its header says so. */
const hasLog = (path: string): boolean => {
  const header = Buffer.alloc(20)
  const file = openSync(path, "r")
  try {
    readSync(file, header, 0, 20, 0)
  } finally {
    closeSync(file)
  }
  return header[18] === 2
}

type Around = <A, E>(work: Effect.Effect<A, E | SqlError>) => Effect.Effect<A, E | SqlError>

/**
 * Makes a function around each read and write: it fails if the file that was opened is not the one at its path any more. It looks afterwards, so that nothing is
 * acknowledged that went to the old file. The write-ahead log is a part of the file: it is there as long as a connection is open.
 *
 * @param filename - an open file
 * @param moveLog - moves the write-ahead log into the file that was opened, as far as others let it
 */
export const sameFile = (filename: string, moveLog: Effect.Effect<unknown>): Around => {
  if (filename === ":memory:") return (work) => work
  const path = resolve(filename)
  const opened = look(path)
  let written = opened?.mtimeNs
  // The first read or write makes it.
  let log: string | undefined
  const isOther = (): boolean => {
    const now = look(path)
    if (now === undefined || nameOf(now) !== nameOf(opened)) return true
    const logNow = nameOf(look(`${path}-wal`))
    log ??= logNow
    // A connection that uses none any more has removed it.
    if (logNow !== log) return logNow !== undefined || hasLog(path)
    if (now.mtimeNs === written) return false
    // A checkpoint writes to the file now and then. A backup that is copied over it has no write-ahead log.
    written = now.mtimeNs
    return log !== undefined && !hasLog(path)
  }
  let isReplaced = false
  const error = (): SqlError =>
    new SqlError({ cause: { code: "MEMFOLD_REPLACED" }, message: "another file is in the place of this one" })
  /** The write-ahead log stays at its path, where SQLite would take it for that of the new file. */
  const left = Effect.suspend(() => {
    if (nameOf(look(path)) !== nameOf(opened)) return moveLog
    // The file has the backup in it, which the pages of the log would destroy.
    return Effect.ignore(Effect.try(() => truncateSync(`${path}-wal`)))
  })
  return (work) =>
    Effect.suspend(() =>
      isReplaced
        ? Effect.fail(error())
        : Effect.flatMap(work, (result) => {
            if (!isReplaced && !isOther()) return Effect.succeed(result)
            const isFirst = !isReplaced
            isReplaced = true
            return Effect.zipRight(isFirst ? left : Effect.void, Effect.fail(error()))
          }),
    )
}
