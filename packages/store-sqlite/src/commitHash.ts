/**
 * The number by which a commit is found: an index over whole ids would take as much room as a short message.
 *
 * It stands on the first event of each batch, and says where to look; the id itself is compared then.
 */
import type { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import { integer, type Run, text } from "./Row.js"

/** FNV-1a over the UTF-16 code units, of which 24 bits are kept: three bytes in a row, and three in the index. */
export const commitHash = (commit: string): number => {
  let hash = 0x811c_9dc5
  for (let at = 0; at < commit.length; at++) {
    hash = Math.imul(hash ^ commit.charCodeAt(at), 0x0100_0193)
  }
  // Positive numbers of so many bits would take a byte more.
  return ((hash ^ (hash >>> 24)) << 8) >> 8
}

const pageSize = 512

/** Gives the batches from before schema 3 their numbers. */
export const hashCommits = (run: Run): Effect.Effect<void, SqlError> =>
  Effect.gen(function* () {
    for (let after = 0, more = true; more;) {
      const rows = yield* run(
        `SELECT rowid, commit_id FROM events AS event
         WHERE rowid > ? AND NOT EXISTS (
           SELECT 1 FROM events AS before
           WHERE before.session = event.session AND before.seq = event.seq - 1
             AND before.commit_id = event.commit_id)
         ORDER BY rowid LIMIT ${pageSize}`,
        [after],
      )
      yield* Effect.forEach(
        rows,
        (row) =>
          run("UPDATE events SET commit_hash = ? WHERE rowid = ?", [
            commitHash(text(row, "commit_id")),
            integer(row, "rowid"),
          ]),
        { discard: true },
      )
      after = rows.length === 0 ? after : integer(rows[rows.length - 1] ?? {}, "rowid")
      more = rows.length === pageSize
    }
  })
