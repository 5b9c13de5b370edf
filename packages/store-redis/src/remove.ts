/** Deleting a session. */
import { EventLog } from "@memfold/log"
import { Effect } from "effect"
import type { Connection } from "./Connection.js"
import type { SessionKeys } from "./keys.js"
import type { Script } from "./scripts.js"
import { toStartOfHead, toStored } from "./stored.js"

/** How often a deletion looks again at a session that others delete and start again meanwhile. */
const mostLooks = 100

/** Deletes a session as it was when this was called, or only at a position; `false` if there is none. */
export const remove = (
  connection: Connection,
  { log, meta, numbers, sessions, unfinished }: SessionKeys,
  script: Script,
  { session, at }: { readonly session: string; readonly at: EventLog.LogPosition | undefined },
): Effect.Effect<boolean, EventLog.LogError> => {
  const about = { operation: "delete", session }
  const restarted = new EventLog.LogError({
    ...about,
    reason: "others start it again all the time; try again",
  })
  return connection
    .ask(about, (client) => client.hget(meta, "head"))
    .pipe(
      Effect.flatMap((head) =>
        connection.run(
          about,
          script,
          [log, meta, sessions, unfinished, numbers],
          [
            JSON.stringify({
              name: toStored(session),
              head: head ?? "",
              ...(at === undefined ? {} : { only: toStartOfHead(at.version, at.batchId) }),
            }),
          ],
        ),
      ),
      Effect.filterOrFail(
        (removed) => removed !== -1,
        () => restarted,
      ),
      Effect.retry({ times: mostLooks, while: (error) => error === restarted }),
      Effect.map((removed) => removed === 1),
    )
}
