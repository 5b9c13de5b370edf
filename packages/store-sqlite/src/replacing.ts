/** Writing again what is derived from the log, if the session is where it was computed. */
import { EventLog } from "@memfold/core"
import { Effect } from "effect"
import type { Database } from "./Database.js"
import { attempt } from "./driver.js"
import { integer, type RunNow, text } from "./Row.js"
import { lastEvent } from "./schema.js"

/** Makes a function that runs `change` for a session that is at a place. A session that does not exist stays so. */
export const replacing =
  (database: Database) =>
  (
    operation: string,
    session: string,
    at: EventLog.LogPosition,
    change: (run: RunNow, id: number) => unknown,
  ): Effect.Effect<void, EventLog.VersionConflict | EventLog.LogError> =>
    database.write<void, EventLog.VersionConflict>({ operation, session }, (run, now) =>
      Effect.gen(function* () {
        const [known] = yield* run(lastEvent, [session])
        const actualVersion = known === undefined ? 0 : integer(known, "version")
        if (actualVersion !== at.version || (known !== undefined && text(known, "batch_id") !== at.batchId))
          return yield* new EventLog.VersionConflict({ session, expectedVersion: at.version, actualVersion })
        if (known !== undefined) yield* attempt(() => change(now, integer(known, "session")))
      }),
    )
