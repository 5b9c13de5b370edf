/**
 * Which shard a session is on: a log for each session in the directory, a store. Its last record is the place, and each change is an append
 * at the version that it was decided on, so that two processes never decide differently. The id of the log is a hash: it stays when the
 * session is deleted, and says nothing of it.
 */
import { EventLog } from "@memfold/log"
import { Clock, Effect, Random, Schema } from "effect"
import { createHash } from "node:crypto"
import { saidOf } from "./Shard.js"

const Position = Schema.Struct({ version: Schema.Number, batchId: Schema.String })

/**
 * Where a session is.
 *
 * - `shard`: the shard that has it
 * - `left`: the shards that it has left, to which it never returns: a process that still takes one of them for its place finds nothing there
 * - `tried`: the shards of moves that another process has taken back. The one that began such a move may still write there, however late:
 *   what it writes is nobody's, as long as the session is never on one of them
 * - `to`: the shard that it is copied to. Nobody reads the copy
 * - `at`: the copy is complete up to this position. The session leaves `shard` when it is deleted there at this very position
 * - `held`: whoever writes waits until it has moved, or ends the move if that takes too long. It only brings the pause in which a move ends:
 *   who does not know of it writes on, and the move notices that
 * - `deleting`: the session is being deleted, as it is at this position
 */
const Stored = Schema.Struct({
  shard: Schema.String,
  left: Schema.Array(Schema.String),
  tried: Schema.optional(Schema.Array(Schema.String)),
  to: Schema.optional(Schema.String),
  at: Schema.optional(Position),
  held: Schema.optional(Schema.Boolean),
  deleting: Schema.optional(Position),
})

/** Where a session is, and the version of the directory that says so; 0 for a session without a place. */
export interface Place extends Schema.Schema.Type<typeof Stored> {
  readonly version: number
}

const decode = Schema.decodeUnknownEither(Schema.parseJson(Stored))

/** What the ids of the logs of the directory begin with. */
export const placePrefix = "memfold:place:"

const idOf = (session: string): string =>
  `${placePrefix}${createHash("sha256").update(session.toWellFormed()).digest("hex")}`

/** The log that counts moves. */
const movesLog = `${placePrefix}moves`

/** Makes the id of a batch. */
export const makeId = Effect.map(
  Effect.all([Random.nextIntBetween(0, 2 ** 31), Random.nextIntBetween(0, 2 ** 31), Clock.currentTimeNanos]),
  (parts) => parts.join("-"),
)

const where = "the directory of the shards"

/** The directory in a store. */
export const directoryIn = (log: EventLog.Service) => ({
  /** How many moves have come to where a session may leave its shard: whoever lists several shards sees so that one has changed them meanwhile. */
  moves: Effect.mapError(EventLog.versionOf(log, movesLog), saidOf(undefined, where)),
  /** Counts a move, whose copy has begun, before the session leaves its shard. */
  count: Effect.gen(function* () {
    const entry = { time: yield* Clock.currentTimeMillis, type: "Moves", schemaVersion: 1, data: "{}" }
    const expectedVersion = yield* EventLog.versionOf(log, movesLog)
    yield* log.append(movesLog, [entry], { expectedVersion, batchId: yield* makeId, retried: "in-place" })
  }).pipe(
    Effect.retry({ while: ({ _tag }) => _tag === "VersionConflict" }),
    Effect.catchTag("VersionConflict", () => Effect.void),
    Effect.mapError(saidOf(undefined, where)),
  ),
  /** The place of a session; `null` if it has none. */
  find: (session: string): Effect.Effect<Place | null, EventLog.LogError> =>
    Effect.gen(function* () {
      const range = { fromVersion: 1, toVersion: Number.MAX_SAFE_INTEGER, reverse: true, limit: 1 }
      const [record] = yield* Effect.mapError(log.read(idOf(session), range), saidOf(session, where))
      if (record === undefined) return null
      const stored = decode(record.data)
      if (stored._tag === "Left")
        return yield* new EventLog.LogError({
          operation: "place",
          session,
          reason:
            "its place in the directory of the shards cannot be read; restore the directory from a backup",
        })
      return { ...stored.right, version: record.version }
    }),
  /** Changes a place that is at a version; `null` if another process was first. */
  change: (
    session: string,
    version: number,
    place: Omit<Place, "version">,
  ): Effect.Effect<Place | null, EventLog.LogError> =>
    Effect.gen(function* () {
      const { shard, left, tried, to, at, held, deleting } = place
      const data = JSON.stringify({ shard, left, tried, to, at, held, deleting })
      const time = yield* Clock.currentTimeMillis
      return yield* log
        .append(idOf(session), [{ time, type: "Placed", schemaVersion: 1, data }], {
          expectedVersion: version,
          batchId: yield* makeId,
          retried: "in-place",
        })
        .pipe(
          Effect.map((appended) => ({ ...place, version: appended.version })),
          Effect.catchTag("VersionConflict", () => Effect.succeed(null)),
          Effect.mapError(saidOf(session, where)),
        )
    }),
})

/** The directory in a store. */
export type Directory = ReturnType<typeof directoryIn>
