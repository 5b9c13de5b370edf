/**
 * The description of a session: the fields `described`, `owner` and `title` of its `meta`, and in each bucket a set of the names
 * of an owner's sessions. An append need not write when a session was active: that is in its head.
 */
import type { EventLog } from "@memfold/log"
import type { Description } from "@memfold/log/Projections"
import { Effect } from "effect"
import type { Connection } from "./Connection.js"
import type { SessionKeys } from "./keys.js"
import { fromStored, toStored } from "./stored.js"

/** A description as a script is given it. */
export interface DescriptionArgument {
  /** Whether the session has a description afterwards. */
  readonly isSet: boolean
  readonly owner?: string
  readonly title?: string
}

/** A change of the row of kind `description` as a script is given it; `undefined` if it changes nothing. */
export const given = ({
  replace = false,
  drop = [],
  rows,
}: EventLog.ProjectionChange): DescriptionArgument | undefined => {
  const row = rows.at(-1)
  if (row === undefined) return replace || drop.includes("") ? { isSet: false } : undefined
  const { owner, title } = JSON.parse(row.data) as Description
  return {
    isSet: true,
    ...(owner === null ? {} : { owner: toStored(owner) }),
    ...(title === null ? {} : { title: toStored(title) }),
  }
}

/** The row of kind `description` of a session. Without its owner's list, a session has no owner. */
export const read = (
  connection: Connection,
  { meta, owned }: SessionKeys,
  session: string,
  filter: EventLog.RowFilter | undefined,
): Effect.Effect<ReadonlyArray<EventLog.ProjectionRow>, EventLog.LogError> =>
  Effect.gen(function* () {
    const about = { operation: "projections.get", session }
    const [described, owner = null, title = null] = yield* connection.ask(about, (client) =>
      client.hmget(meta, "described", "owner", "title"),
    )
    if (described == null || (filter !== undefined && !("keys" in filter && filter.keys.includes(""))))
      return []
    const listed =
      owner === null ||
      (yield* connection.ask(about, (client) => client.sismember(owned + owner, toStored(session)))) === 1
    const row: Description = {
      owner: owner === null || !listed ? null : fromStored(owner),
      title: title === null ? null : fromStored(title),
    }
    return [{ key: "", data: JSON.stringify(row) }]
  })
