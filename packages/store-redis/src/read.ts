/** Reading the records of a session, and its head. */
import type { EventLog } from "@memfold/log"
import { Effect } from "effect"
import type { Connection } from "./Connection.js"
import type { SessionKeys } from "./keys.js"
import type { Script } from "./scripts.js"
import { type Entry, fromHead, fromStored, toRecord } from "./stored.js"

/** A page of the records of a session, in one request. */
export const readPage = (
  connection: Connection,
  script: Script,
  { log }: SessionKeys,
  session: string,
  { fromVersion, toVersion, reverse, limit }: EventLog.PageOptions,
): Effect.Effect<ReadonlyArray<EventLog.LogRecord>, EventLog.LogError> => {
  const first = fromVersion <= 1 ? "-" : `${fromVersion}-0`
  const last = toVersion === Number.MAX_SAFE_INTEGER ? "+" : `${toVersion}-0`
  const range = reverse ? ["XREVRANGE", last, first] : ["XRANGE", first, last]
  return Effect.map(
    connection.run({ operation: "read", session }, script, [log], [...range, String(limit)]),
    (entries) => (entries as ReadonlyArray<Entry>).map((entry) => toRecord(session, entry)),
  )
}

/** The position in the field `head`. */
const positionIn = (head: string | null | undefined): EventLog.LogPosition | null => {
  if (head == null) return null
  const { version, batchId } = fromHead(head)
  return { version, batchId }
}

/** The position of the last record of a session. */
export const readHead = (
  connection: Connection,
  { meta }: SessionKeys,
  session: string,
): Effect.Effect<EventLog.LogPosition | null, EventLog.LogError> =>
  connection
    .ask({ operation: "head", session }, (client) => client.hget(meta, "head"))
    .pipe(Effect.map(positionIn))

/** What a session is opened with, in one request. The mark of an archive is on another master, and is not looked for. */
export const readOpened = (
  connection: Connection,
  script: Script,
  { log, meta, rows }: SessionKeys,
  session: string,
  limit: number,
): Effect.Effect<EventLog.Opened, EventLog.LogError> =>
  Effect.map(
    connection.run(
      { operation: "open", session },
      script,
      [log, meta, rows("snapshot"), rows("summary")],
      [String(limit)],
    ),
    (answer) => {
      const [head, snapshot, mark, active, summary, page = []] = answer as readonly [
        head?: string,
        snapshot?: string | null,
        mark?: string | null,
        active?: string | null,
        summary?: string | null,
        page?: ReadonlyArray<Entry>,
      ]
      return {
        head: positionIn(head),
        snapshot:
          snapshot == null
            ? null
            : { key: "", data: fromStored(snapshot), ...(mark == null ? {} : { mark: fromStored(mark) }) },
        active:
          active == null || summary == null
            ? []
            : [{ key: fromStored(active), data: fromStored(summary), mark: "active" }],
        page: page.map((entry) => toRecord(session, entry)),
      }
    },
  )
