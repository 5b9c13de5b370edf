/**
 * Copies a session to another store, unchanged: every record with its version, its batch id and its checksum. An
 * interrupted copy continues where it stopped.
 */
import { Audit, Session } from "@memfold/core"
import { EventLog } from "@memfold/log"
import { Array, Effect, Option, Schema, Stream } from "effect"
import { createHash } from "node:crypto"
import { readSound } from "./sound.js"
import { type Source, sourceOf } from "./Source.js"

/**
 * The session in the target store differs from the session in the source store.
 *
 * - `version`: the first event that differs
 * - `how`: `redacted` if only the source was redacted, `redacted-there` if only the target was, `differs` for everything
 *   else
 * - `written`: how many events this copy had written by then
 */
export class Diverged extends Schema.TaggedError<Diverged>()("Diverged", {
  session: Schema.String,
  version: Schema.Number,
  how: Schema.Literal("differs", "redacted", "redacted-there"),
  written: Schema.Number,
}) {
  override get message(): string {
    const { version, written } = this
    const begun =
      written === 0
        ? `session "${this.session}" was not copied`
        : `session "${this.session}" was not copied to its end (written: ${written})`
    switch (this.how) {
      case "redacted":
        return `${begun}: the text redacted in event ${version} of the source is still in the target store; redact it there as well`
      case "redacted-there":
        return `${begun}: the text redacted in event ${version} of the target store is still in the source; redact it in the source as well`
      case "differs":
        return written === 0
          ? `${begun}: from event ${version} on, the target store has a different session of this id; delete it there, or choose another store`
          : `${begun}: the source and the target differ from event ${version} on; check which one is right before you delete the other`
    }
  }
}

/** The result of a copy. */
export interface Copied {
  /** `ahead` if the target has the whole session already and more events after it. Nothing was written. */
  readonly outcome: "copied" | "ahead"
  readonly session: string
  /** The number of events of the session, and how many of them were new in the target. */
  readonly events: number
  readonly written: number
  /** The number of events in the target; more than `events` if it is ahead. */
  readonly there: number
  /** SHA-256 over all its records, the same on both sides. */
  readonly sha256: string
}

/** A record as one line: the form in exports, and the input of digests. */
export const recordLine = (record: EventLog.LogRecord): string => {
  const { session, version, batchId, time, type, schemaVersion, data, checksum } = record
  return JSON.stringify({ session, version, batchId, time, type, schemaVersion, data, checksum })
}

const Record = Schema.Struct({
  session: Schema.String,
  version: Schema.Positive,
  batchId: Schema.String,
  time: Schema.Number,
  type: Schema.String,
  schemaVersion: Schema.Number,
  data: Schema.String,
  checksum: Schema.optionalWith(Schema.Number, { exact: true }),
})

/** The record of a line that {@link recordLine} wrote; nothing if the line is no record. */
export const recordOf: (line: string) => Option.Option<EventLog.LogRecord> = Schema.decodeUnknownOption(
  Schema.parseJson(Record),
)

const digest = (
  log: Source,
  session: string,
  range: EventLog.ReadOptions,
): Effect.Effect<string, EventLog.LogError> =>
  Stream.runFold(log.records(session, range), createHash("sha256"), (hash, record) =>
    hash.update(recordLine(record)).update("\n"),
  ).pipe(Effect.map((hash) => hash.digest("hex")))

/** The first difference in a range; `null` stands for a missing record. */
const firstDifference = (from: Source, to: Source, session: string, range: EventLog.ReadOptions) =>
  Stream.zipAll(from.records(session, range), {
    other: to.records(session, range),
    defaultSelf: null,
    defaultOther: null,
  }).pipe(
    Stream.filter(
      ([here, there]) => here === null || there === null || recordLine(here) !== recordLine(there),
    ),
    Stream.runHead,
    Effect.map(Option.getOrNull),
  )

const decodeRedaction = Schema.decodeUnknownOption(
  Schema.parseJson(Schema.Struct({ rewritten: Schema.Array(Schema.Number) })),
)

/** The redactions in a log after a version. */
const redactionsAfter = (log: Source, session: string, seq: number) =>
  log.records(session, { fromVersion: seq + 1 }).pipe(
    Stream.filter(({ type }) => type === "MessageRedacted"),
    Stream.runCollect,
    Effect.map((records) =>
      Array.fromIterable(records).map(({ batchId, data }) => ({
        batchId,
        rewritten: Option.match(decodeRedaction(data), {
          onNone: (): ReadonlyArray<number> => [],
          onSome: (redaction) => redaction.rewritten,
        }),
      })),
    ),
  )

/** Whether two records differ only in their data and checksum, which a redaction rewrites. */
const onlyDataDiffers = (here: EventLog.LogRecord, there: EventLog.LogRecord): boolean =>
  recordLine({ ...here, data: "", checksum: 0 }) === recordLine({ ...there, data: "", checksum: 0 })

/** Why two records of the same version differ: perhaps only one side was redacted. */
const howTheyDiffer = (
  from: Source,
  to: Source,
  here: EventLog.LogRecord,
  there: EventLog.LogRecord,
): Effect.Effect<Diverged["how"], EventLog.LogError> =>
  Effect.gen(function* () {
    if (!onlyDataDiffers(here, there)) return "differs"
    const { session, version } = here
    const [source, destination] = [
      yield* redactionsAfter(from, session, version),
      yield* redactionsAfter(to, session, version),
    ]
    const lacks = (one: typeof source, other: typeof source) =>
      other.some(
        ({ batchId, rewritten }) =>
          rewritten.includes(version) && !one.some((known) => known.batchId === batchId),
      )
    if (lacks(destination, source)) return "redacted"
    return lacks(source, destination) ? "redacted-there" : "differs"
  })

/** How often to compare again if other processes write to the session meanwhile. */
const retries = 3

/**
 * Copies a session in its original batches. Records that the target has already are compared, not written. At the end,
 * both sides are read again and compared by their SHA-256. `told` is called with the number of events in the target.
 *
 * A target that is ahead is left unchanged, see {@link Copied}. With `rows: false`, what follows from the log is left to the caller: of
 * sealed records, nobody knows it without keys. With `same`, both sides are known to be the same up to this version: only what is behind it
 * is read, and `sha256` is of that. `read` reads the target, as {@link sourceOf} has it. Fails with {@link Diverged} if the target has a different session of this id.
 */
export const copySession = (
  from: Source,
  store: EventLog.Service,
  session: string,
  told: (events: number) => void = () => {},
  {
    rows = true,
    same: known = 0,
    read,
  }: {
    readonly rows?: boolean
    readonly same?: number
    readonly read?: typeof EventLog.records
  } = {},
): Effect.Effect<Copied, Diverged | EventLog.LogError> =>
  Effect.suspend(() => {
    // A trail is read without keys, and is chained over what it has: sealed, it would look altered.
    const to = Audit.isTrail(session) ? EventLog.storedLog(store) : store
    let written = 0
    const target = sourceOf(to, read)
    /** Compares both logs in a range, or up to the end of the shorter log, and returns the last compared version. */
    const compared = (fromVersion: number, version: number) =>
      Effect.gen(function* () {
        const difference = yield* firstDifference(from, target, session, { fromVersion, toVersion: version })
        if (difference === null) return version
        const [here, there] = difference
        if (here !== null && there !== null) {
          const how = yield* howTheyDiffer(from, target, here, there)
          return yield* new Diverged({ session, version: here.version, how, written })
        }
        if (there !== null) return there.version - 1
        // It was deleted there after its version was read.
        return yield* new EventLog.VersionConflict({
          session,
          expectedVersion: version,
          actualVersion: (here?.version ?? version + 1) - 1,
        })
      })
    const once = Effect.gen(function* () {
      const before = yield* target.version(session)
      const fromVersion = before < known ? 1 : known + 1
      const same = yield* compared(fromVersion, before)
      if (same < before) {
        const sha256 = yield* digest(from, session, { fromVersion, toVersion: same })
        return { outcome: "ahead", session, events: same, written: 0, there: before, sha256 } satisfies Copied
      }
      const last = yield* Stream.runHead(target.records(session, { fromVersion: before, toVersion: before }))
      const end = yield* from.version(session)
      /** What follows from the log is written with the last batch, when the copy is complete. */
      const projectionsAt = (toVersion: number) =>
        toVersion < end || !rows
          ? Effect.succeed(undefined)
          : Effect.catchAll(
              Session.projectionsOf(session, Session.decodeRecords(from.records(session, { toVersion }))),
              // Of what cannot be read here, such as a sealed session, the owner stays the owner.
              () => describedAs(from, session),
            )
      let version = before
      let lastBatchId = Option.getOrUndefined(Option.map(last, ({ batchId }) => batchId))
      yield* readSound(from, session, { fromVersion: before + 1 }).pipe(
        Stream.groupAdjacentBy(({ batchId }) => batchId),
        Stream.runForEach(([batchId, batch]) =>
          Effect.gen(function* () {
            const records = Array.map(
              Array.fromIterable(batch) as Array.NonEmptyArray<EventLog.LogRecord>,
              ({ session: _session, version: _seq, batchId: _commit, ...record }): EventLog.NewRecord =>
                record,
            )
            const projections = yield* projectionsAt(version + records.length)
            const appended = yield* to.append(session, records, {
              expectedVersion: version,
              lastBatchId,
              batchId,
              projections,
            })
            if (!appended.duplicate) written += records.length
            version = appended.version
            lastBatchId = batchId
            told(version)
          }),
        ),
      )
      if (rows) yield* copySnapshot(from, to, session)
      const range = { fromVersion, toVersion: version }
      const [here, there] = [yield* digest(from, session, range), yield* digest(target, session, range)]
      if (here !== there && (yield* compared(fromVersion, version)) < version) {
        const reason = "it was deleted in the source during the copy; the events copied so far are kept"
        return yield* new EventLog.LogError({ operation: "copy", session, reason })
      }
      return {
        outcome: "copied",
        session,
        events: version,
        written: version - before,
        there: version,
        sha256: there,
      } satisfies Copied
    })
    return Effect.retry(once, { times: retries, while: ({ _tag }) => _tag === "VersionConflict" }).pipe(
      Effect.catchTag("VersionConflict", () => {
        const reason = "other processes write to it at the same time; copy it again when they have ended"
        return new EventLog.LogError({ operation: "copy", session, reason })
      }),
    )
  })

/** The owner and the title as the source has them. */
const describedAs = (from: Source, session: string) =>
  Effect.map(from.rows(session, "description"), (rows): ReadonlyArray<EventLog.ProjectionChange> => [
    { kind: "description", replace: true, rows },
  ])

/** Copies the snapshot. A failure is only logged: without a snapshot, the next read folds the whole log. */
const copySnapshot = (from: Source, to: EventLog.Service, session: string): Effect.Effect<void> =>
  Effect.gen(function* () {
    const rows = yield* from.rows(session, "snapshot")
    const head = yield* to.head(session)
    if (rows.length === 0 || head === null) return
    yield* to.projections.put(session, head, [{ kind: "snapshot", replace: true, rows }])
  }).pipe(
    Effect.catchAll((error) =>
      Effect.logWarning("The snapshot was not copied; the next read makes a new one").pipe(
        Effect.annotateLogs({ session, error: error.message }),
      ),
    ),
  )
