/** A file that is replaced while it is open: SQLite goes on with the old one, which nobody finds again. */
import { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import { closeSync, openSync, readSync, statSync, truncateSync } from "node:fs"
import { resolve } from "node:path"

const look = (path: string) => statSync(path, { bigint: true, throwIfNoEntry: false })

/** Which file stands at a path; `undefined` without one. */
const nameOf = (stat: ReturnType<typeof look>): string | undefined =>
  stat === undefined ? undefined : `${stat.dev}:${stat.ino}`

/** What the beginning of a file says of it, as the latest checkpoint has left it; zeros for an empty file. */
const headerOf = (path: string) => {
  const header = Buffer.alloc(32)
  const file = openSync(path, "r")
  try {
    readSync(file, header, 0, 32, 0)
  } finally {
    closeSync(file)
  }
  const pageSize = header.readUInt16BE(16)
  return {
    /** Whether it is used with a write-ahead log. */
    hasLog: header[18] === 2,
    /** Counts on whenever the number of its pages changes. */
    changes: header.readUInt32BE(24),
    size: header.readUInt32BE(28) * (pageSize === 1 ? 65_536 : pageSize),
  }
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
  let [written, size] = [opened?.mtimeNs, opened?.size ?? 0n]
  let { changes } = headerOf(path)
  // The first read or write makes it.
  let log: string | undefined
  let isCut = false
  const isOther = (): boolean => {
    const now = look(path)
    if (now === undefined || nameOf(now) !== nameOf(opened)) return true
    const logNow = nameOf(look(`${path}-wal`))
    log ??= logNow
    // A connection that uses none any more has removed it.
    if (logNow !== log) return logNow !== undefined || headerOf(path).hasLog
    if (now.mtimeNs === written) return false
    // A checkpoint writes to the file now and then: it brings the file on, and makes it no shorter than the file says. A backup that is copied
    // over it has no write-ahead log, or is behind, as a copy of the file is.
    const [header, before] = [headerOf(path), { changes, size }]
    isCut = now.size < before.size && now.size < header.size
    ;[written, size, changes] = [now.mtimeNs, now.size, header.changes]
    return isCut || (log !== undefined && !header.hasLog) || header.changes < before.changes
  }
  let isReplaced = false
  const error = (): SqlError =>
    new SqlError({ cause: { code: "MEMFOLD_REPLACED" }, message: "another file is in the place of this one" })
  /** The write-ahead log stays at its path, where SQLite would take it for that of the new file. */
  const left = Effect.suspend(() => {
    if (nameOf(look(path)) !== nameOf(opened)) return moveLog
    // Of a file that was cut off, the log may have what is left.
    if (isCut) return Effect.void
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
