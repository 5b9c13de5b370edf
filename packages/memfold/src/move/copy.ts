/**
 * A session from one store into another, as it is: every record with its place, its commit id and its checksum. A copy
 * that broke off goes on where it stopped, because what is there already is the beginning of what is to come.
 */
import { EventLog, Session } from "@memfold/core"
import { Array, Effect, Option, Schema, Stream } from "effect"
import { createHash } from "node:crypto"
import { readSound } from "./sound.js"

/** Where a copy is read from: a store, or a file that was exported. */
export type Source = Pick<EventLog.Service, "loadSnapshot" | "read" | "version">

/**
 * In the store it goes to, the session is not the one it is here.
 *
 * - `version`: the first event that differs
 * - `how`: `redacted` where the source has forgotten words that still stand in the other store, `redacted-there` where
 *   it is the other way round, and `differs` for everything else
 * - `written`: the events this copy had written by then
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
        return `${begun}: what was redacted in event ${version} of the source still stands in the store it goes to; redact it there as well`
      case "redacted-there":
        return `${begun}: what was redacted in event ${version} of the store it goes to still stands in the source; redact it in the source as well`
      case "differs":
        return written === 0
          ? `${begun}: from event ${version} on, the store it goes to has another one, and keeps it; delete it there, or choose another store`
          : `${begun}: from event ${version} on the two differ; see which of them is right before you delete the other`
    }
  }
}

/** What became of a copy. */
export interface Copied {
  /** `ahead` where the other store has all of the session already, and has gone on with it: nothing was written. */
  readonly outcome: "copied" | "ahead"
  readonly session: string
  /** The events of the session, and how many of them were not there before. */
  readonly events: number
  readonly written: number
  /** The events it has in the store it went to; more than `events` when that is ahead. */
  readonly there: number
  /** SHA-256 over all its records, the same on both sides. */
  readonly sha256: string
}

/** A record as one line: what exports hold, and what digests are made of. */
export const recordLine = (record: EventLog.LogRecord): string => {
  const { session, version, batchId, time, type, schemaVersion, data, checksum } = record
  return JSON.stringify({ session, version, batchId, time, type, schemaVersion, data, checksum })
}

const digest = (log: Source, session: string, toVersion: number): Effect.Effect<string, EventLog.LogError> =>
  Stream.runFold(log.read(session, { toVersion }), createHash("sha256"), (hash, record) =>
    hash.update(recordLine(record)).update("\n"),
  ).pipe(Effect.map((hash) => hash.digest("hex")))

/** The first place where the two are not the same, up to a version; `null` stands for a record that is not there. */
const firstDifference = (from: Source, to: Source, session: string, version: number) =>
  Stream.zipAll(from.read(session, { toVersion: version }), {
    other: to.read(session, { toVersion: version }),
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

/** The redactions in a log after an event. */
const redactionsAfter = (log: Source, session: string, seq: number) =>
  log.read(session, { fromVersion: seq + 1 }).pipe(
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

/** Whether two records are the same but for their data, which a redaction rewrites. */
const onlyDataDiffers = (here: EventLog.LogRecord, there: EventLog.LogRecord): boolean =>
  recordLine({ ...here, data: "", checksum: 0 }) === recordLine({ ...there, data: "", checksum: 0 })

/** Why two records in one place differ: one side may have been redacted since, and the other knows nothing of it. */
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

/** Others may write to the session meanwhile; what they wrote is looked at anew this often. */
const retries = 3

/**
 * Copies a session, in the batches it was written in. What is there of it already is compared, not written; at the end
 * both sides are read once more and compared by their SHA-256. `told` hears how many events are there by now.
 *
 * A store that has all of it and has gone on is left as it is: see {@link Copied}. Fails with {@link Diverged} where
 * the session is another one in the store it goes to.
 */
export const copySession = (
  from: Source,
  to: EventLog.Service,
  session: string,
  told: (events: number) => void = () => {},
): Effect.Effect<Copied, Diverged | EventLog.LogError> =>
  Effect.suspend(() => {
    let written = 0
    /** The last event that both have, up to a version: fewer where the source has no more. */
    const compared = (version: number) =>
      Effect.gen(function* () {
        const difference = yield* firstDifference(from, to, session, version)
        if (difference === null) return version
        const [here, there] = difference
        if (here !== null && there !== null) {
          const how = yield* howTheyDiffer(from, to, here, there)
          return yield* new Diverged({ session, version: here.version, how, written })
        }
        if (there !== null) return there.version - 1
        // It was deleted there since its version was read.
        return yield* new EventLog.VersionConflict({
          session,
          expectedVersion: version,
          actualVersion: (here?.version ?? version + 1) - 1,
        })
      })
    const once = Effect.gen(function* () {
      const before = yield* to.version(session)
      const same = yield* compared(before)
      if (same < before) {
        const sha256 = yield* digest(from, session, same)
        return { outcome: "ahead", session, events: same, written: 0, there: before, sha256 } satisfies Copied
      }
      const last = yield* Stream.runHead(to.read(session, { reverse: true }))
      const end = yield* from.version(session)
      /** The summary rows come with the last batch: before it, the copy is not finished. */
      const rowsAt = (toVersion: number) =>
        toVersion < end
          ? Effect.succeed(undefined)
          : Effect.map(
              Effect.option(Session.summaryRows(session, Session.readEvents(from, session, { toVersion }))),
              Option.getOrUndefined,
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
            const summaries = yield* rowsAt(version + records.length)
            const appended = yield* to.append(session, records, {
              expectedVersion: version,
              lastBatchId,
              batchId,
              summaries,
            })
            if (!appended.duplicate) written += records.length
            version = appended.version
            lastBatchId = batchId
            told(version)
          }),
        ),
      )
      yield* copySnapshot(from, to, session)
      const [here, there] = [yield* digest(from, session, version), yield* digest(to, session, version)]
      if (here !== there && (yield* compared(version)) < version) {
        const reason = "it was deleted in its store while it was copied; what had been copied is kept"
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
        const reason = "others write to it at the same time; copy it again when they are done"
        return new EventLog.LogError({ operation: "copy", session, reason })
      }),
    )
  })

/** A snapshot costs time when it is missing, and nothing else: that it cannot be had is no reason to stop. */
const copySnapshot = (from: Source, to: EventLog.Service, session: string): Effect.Effect<void> =>
  Effect.flatMap(
    from.loadSnapshot(session),
    Option.match({ onNone: () => Effect.void, onSome: (snapshot) => to.saveSnapshot(session, snapshot) }),
  ).pipe(
    Effect.catchTag("LogError", (error) =>
      Effect.logWarning("The snapshot was not copied; it will be made anew").pipe(
        Effect.annotateLogs({ session, error: error.message }),
      ),
    ),
  )
