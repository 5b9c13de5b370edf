/** Reading a range of a log to its ends: what is missing there is said, as what is missing in the middle. */
import { Chunk, Effect, Option, Stream } from "effect"
import { DamagedEvent, type RecordedEvent } from "../event/EventCodec.js"
import { type LogError, oneRecord, type ReadOptions, type Service as EventLog } from "@memfold/log/EventLog"
import { readEvents } from "./replay.js"

type Log = Pick<EventLog, "head" | "read">

/** Fails if the store has lost a record: it is not there, though the session reaches it. */
const failIfLost = (
  log: Log,
  session: string,
  version: number,
): Effect.Effect<void, LogError | DamagedEvent> =>
  Effect.gen(function* () {
    const before = yield* log.head(session)
    if (before === null || before.version < version) return
    if ((yield* log.read(session, oneRecord(version))).length > 0) return
    const after = yield* log.head(session)
    // Of a session that is deleted at this moment, nothing is lost.
    if (after === null || after.version < before.version) return
    const detail = "it is missing; restore the log from a backup"
    return yield* new DamagedEvent({ session, version, detail })
  })

/**
 * The decoded events of a session, in order. The stream fails with `DamagedEvent` at a record that is damaged or missing,
 * between others, or at an end of the range. Whether the log has lost its end, opening a session finds out: a range that
 * goes on to the end of the log, oldest first, is not compared with the head.
 */
export const eventsIn = (
  log: Log,
  session: string,
  options: ReadOptions = {},
): Stream.Stream<RecordedEvent, LogError | DamagedEvent> =>
  Stream.suspend(() => {
    const { fromVersion = 1, toVersion, reverse = false } = options
    const first = Math.max(fromVersion, 1)
    const step = reverse ? -1 : 1
    /** The version of the event that was read last. */
    let last: number | null = null
    const read = Stream.mapChunksEffect(readEvents(log, session, options), (events) => {
      const newest: number | null = Option.getOrNull(Chunk.head(events))?.version ?? null
      const begins = last === null && newest !== null
      last = Option.getOrNull(Chunk.last(events))?.version ?? last
      return begins && reverse && toVersion !== undefined && newest < toVersion
        ? Effect.as(failIfLost(log, session, newest + 1), events)
        : Effect.succeed(events)
    })
    const end = Effect.suspend(() => {
      const bound = reverse ? first : toVersion
      if (bound === undefined || last === bound || first > (toVersion ?? first)) return Effect.void
      return failIfLost(log, session, last === null ? first : last + step)
    })
    return Stream.concat(read, Stream.execute(end))
  })
