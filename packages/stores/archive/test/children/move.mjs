/** Moves sessions to an archive and back, without an end: `node move.mjs FILE FOLDER`. It says each session that it begins with. */
import { archiveSession, behind, folderArchive, restoreSession } from "@memfold/archive"
import { EventLog } from "@memfold/core"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { Effect } from "effect"

const [filename, folder] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const log = yield* EventLog.EventLog
  const archive = folderArchive(folder)
  for (let round = 0; ; round++) {
    for (let at = 0; at < 6; at++) {
      const session = `chat ${at}`
      console.log(session)
      if (round % 2 === 0) yield* archiveSession(log, archive, session)
      else if (at % 2 === 0) yield* restoreSession(log, archive, session)
      else yield* (yield* behind(log, archive)).head(session)
    }
  }
})

await Effect.runPromise(Effect.provide(program, SqliteEventLog.layer({ filename })))
