/** Reading the records of a session, and its head. */
import type { EventLog } from "@memfold/log"
import { Effect } from "effect"
import type { Connection } from "./Connection.js"
import type { SessionKeys } from "./keys.js"
import { fromHead, toRecord } from "./stored.js"

/** A page of the records of a session, in one request. */
export const readPage = (
  connection: Connection,
  { log }: SessionKeys,
  session: string,
  { fromVersion, toVersion, reverse, limit }: EventLog.PageOptions,
): Effect.Effect<ReadonlyArray<EventLog.LogRecord>, EventLog.LogError> => {
  const first = fromVersion <= 1 ? "-" : `${fromVersion}-0`
  const last = toVersion === Number.MAX_SAFE_INTEGER ? "+" : `${toVersion}-0`
  return connection
    .ask({ operation: "read", session }, (client) =>
      reverse
        ? client.xrevrange(log, last, first, "COUNT", limit)
        : client.xrange(log, first, last, "COUNT", limit),
    )
    .pipe(Effect.map((entries) => entries.map((entry) => toRecord(session, entry))))
}

/** The position of the last record of a session. */
export const readHead = (
  connection: Connection,
  { meta }: SessionKeys,
  session: string,
): Effect.Effect<EventLog.LogPosition | null, EventLog.LogError> =>
  connection
    .ask({ operation: "head", session }, (client) => client.hget(meta, "head"))
    .pipe(
      Effect.map((head) => {
        if (head === null) return null
        const { version, batchId } = fromHead(head)
        return { version, batchId }
      }),
    )
