/**
 * The audit trail of a session or an owner: a log of its own, which no erasure reaches, for what is no event of a session. It has no
 * text of a conversation. Each entry names the SHA-256 of the record before it, so a record that is changed or taken out is found.
 */
import { Clock, Effect, Either, Stream } from "effect"
import { encoder } from "../event/checksum.js"
import type { LogError, LogRecord, Service as EventLog } from "@memfold/log/EventLog"
import { records, storedLog } from "@memfold/log/pages"
import { type AuditNoted, trailPrefix } from "../event/Event.js"
import { decode, encodeBatch, type RecordedEvent, timedNow } from "../event/EventCodec.js"
import { makeId } from "../shell/id.js"
import { conflictPause, retryTransient } from "../shell/retry.js"

/** What a trail is about. */
export type Subject = { readonly session: string } | { readonly owner: string }

/**
 * The id of the log that is the trail of a session or an owner.
 *
 * @example
 * ```ts
 * import { Audit } from "@memfold/core"
 *
 * console.log(Audit.trailOf({ owner: "ann" })) // memfold:audit:owner:ann
 * ```
 */
export const trailOf = (subject: Subject): string =>
  "owner" in subject ? `${trailPrefix}owner:${subject.owner}` : `${trailPrefix}session:${subject.session}`

// Every runtime has these.
declare const crypto: {
  readonly subtle: { digest(algorithm: "SHA-256", data: Uint8Array): Promise<ArrayBuffer> }
}

const digestOf = (record: LogRecord): Effect.Effect<string> =>
  Effect.promise(async () => {
    const { session, version, batchId, time, type, schemaVersion, data } = record
    const text = JSON.stringify([session, version, batchId, time, type, schemaVersion, data])
    const digest = await crypto.subtle.digest("SHA-256", encoder.encode(text))
    return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("")
  })

/**
 * Adds an entry to the trail of what it is about, with the actor of this fiber.
 *
 * @param log - the store
 * @param entry - what was done to a session or an owner
 *
 * @example
 * ```ts
 * import { Audit, EventLog } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * export const noted = Effect.flatMap(EventLog.EventLog, (log) =>
 *   Audit.note(log, { act: "export", session: "chat-1", reason: "asked for" }),
 * )
 * ```
 */
export const note = (
  log: EventLog,
  entry: Omit<AuditNoted, "_tag" | "previous" | "session" | "owner"> & Subject,
): Effect.Effect<void, LogError> =>
  Effect.gen(function* () {
    const session = trailOf(entry)
    const batchId = yield* makeId
    for (let conflicts = 1; ; conflicts++) {
      const [last] = yield* retryTransient(
        storedLog(log).read(session, {
          fromVersion: 1,
          toVersion: Number.MAX_SAFE_INTEGER,
          reverse: true,
          limit: 1,
        }),
      )
      const version = last?.version ?? 0
      const previous = last === undefined ? "" : yield* digestOf(last)
      const event: AuditNoted = { _tag: "AuditNoted", ...entry, previous }
      const timed = yield* timedNow(yield* Clock.currentTimeMillis, [event] as const)
      const written = yield* retryTransient(
        storedLog(log).append(session, encodeBatch({ session, version }, batchId, timed), {
          expectedVersion: version,
          lastBatchId: last?.batchId,
          batchId,
        }),
      ).pipe(
        Effect.as(true),
        Effect.catchTag("VersionConflict", () => Effect.succeed(false)),
      )
      if (written) return
      yield* conflictPause(conflicts)
    }
  })

/** The check of a trail. */
export interface CheckedTrail {
  readonly entries: number
  /** The SHA-256 of its last record: kept elsewhere, it shows later that no entry was taken away. Empty for an empty trail. */
  readonly head: string
  /** The version of the first record that is not as it was written; `null` if the chain holds. */
  readonly brokenAt: number | null
}

/** Reads a trail, and checks its chain. */
export const readTrail = (
  log: EventLog,
  subject: Subject,
): Effect.Effect<
  { readonly trail: CheckedTrail; readonly noted: ReadonlyArray<RecordedEvent<AuditNoted>> },
  LogError
> =>
  Effect.gen(function* () {
    const noted: Array<RecordedEvent<AuditNoted>> = []
    let [head, version] = ["", 0]
    let brokenAt: number | null = null
    yield* Stream.runForEach(records(storedLog(log), trailOf(subject)), (record) =>
      Effect.gen(function* () {
        const read = Either.getOrNull(decode(record))
        const entry = read?.event._tag === "AuditNoted" ? { ...read, event: read.event } : null
        if (record.version !== version + 1 || entry === null || entry.event.previous !== head)
          brokenAt ??= record.version
        if (entry !== null) noted.push(entry)
        head = yield* digestOf(record)
        version = record.version
      }),
    )
    return { trail: { entries: noted.length, head, brokenAt }, noted }
  })
