/**
 * The owner and the title of sessions: two fields of `meta`, and in each bucket a set of the ids of an owner's sessions. An
 * append need not write when a session was active: that is in its head.
 */
import { EventLog } from "@memfold/core"
import { Effect, Option } from "effect"
import type { Connection } from "./Connection.js"
import { keysUnder, ownedLists, type SessionKeys } from "./keys.js"
import { partsOfHead, script } from "./scripts.js"
import { infoOf } from "./sessions.js"
import { fromStored, toStored } from "./stored.js"

/** How many requests run at a time. */
const concurrency = 512

/** An owner or a title as an argument of a script: behind a mark, or empty for none. */
const marked = (text: string | null): string => (text === null ? "" : `=${toStored(text)}`)

/** A description as the arguments of an append. */
export const toDescribed = (
  description: EventLog.Description | undefined,
): readonly [change: string, owner: string, title: string] =>
  description === undefined ? ["", "", ""] : ["1", marked(description.owner), marked(description.title)]

/** The sessions of an owner, the one with the newest activity first. */
export const owned =
  (connection: Connection, prefix: string): EventLog.Service["owned"] =>
  (owner, { limit, after }) =>
    Effect.gen(function* () {
      const keysOf = keysUnder(prefix)
      const ids = yield* Effect.forEach(
        ownedLists(prefix, owner),
        (key) => connection.ask({ operation: "owned" }, (client) => client.smembers(key)),
        { concurrency },
      )
      const infos = yield* Effect.forEach(
        ids.flat().map(fromStored),
        (session) => infoOf(connection, keysOf(session), session, "owned"),
        { concurrency },
      )
      return infos
        .flatMap(Option.toArray)
        .filter(
          (info) =>
            info.owner === owner && (after === undefined || EventLog.compareActivity(info, after) > 0),
        )
        .toSorted(EventLog.compareActivity)
        .slice(0, limit)
    })

/** The stored owner and title of a session, if it is in its owner's list. */
export const description = (
  connection: Connection,
  { meta, owned }: SessionKeys,
  session: string,
): Effect.Effect<EventLog.Description | null, EventLog.LogError> =>
  Effect.gen(function* () {
    const about = { operation: "description", session }
    const [head, owner = null, title = null] = yield* connection.ask(about, (client) =>
      client.hmget(meta, "head", "owner", "title"),
    )
    if (head == null) return null
    const listed =
      owner === null ||
      (yield* connection.ask(about, (client) => client.sismember(owned + owner, toStored(session)))) === 1
    return {
      owner: owner === null || !listed ? null : fromStored(owner),
      title: title === null ? null : fromStored(title),
    }
  })

/**
 * Replaces the owner and the title of a session that is still at the given place. The arguments are the version and the
 * batch id of the place, the owner and the title, each behind `=`, or empty for none, and the session as it is stored.
 */
const replace = script(`
local meta, owned = unpack(KEYS)
local version, batch, owner, title, name = unpack(ARGV)
local head = redis.call('HGET', meta, 'head') or ''
local now, last = string.match(head, ${partsOfHead})
if not now then return version == '0' and 'done' or '0' end
if now ~= version or last ~= batch then return now end
local before = redis.call('HGET', meta, 'owner')
local after = owner ~= '' and owned .. string.sub(owner, 2)
if before then redis.call('SCARD', owned .. before) end
if after then redis.call('SADD', after, name) end
if before and owned .. before ~= after then redis.call('SREM', owned .. before, name) end
for field, value in pairs({owner = owner, title = title}) do
  if value == '' then redis.call('HDEL', meta, field) else redis.call('HSET', meta, field, string.sub(value, 2)) end
end
return 'done'
`)

/** Replaces the stored owner and title of a session that is still at the given place. */
export const replaceDescription = (
  connection: Connection,
  { meta, owned }: SessionKeys,
  session: string,
  { owner, title }: EventLog.Description,
  at: EventLog.LogPosition,
): Effect.Effect<void, EventLog.VersionConflict | EventLog.LogError> =>
  Effect.flatMap(
    connection.run(
      { operation: "replaceDescription", session },
      replace,
      [meta, owned],
      [String(at.version), toStored(at.batchId), marked(owner), marked(title), toStored(session)],
    ),
    (answer) =>
      answer === "done"
        ? Effect.void
        : new EventLog.VersionConflict({
            session,
            expectedVersion: at.version,
            actualVersion: Number(answer),
          }),
  )
