/**
 * A session from one store into another, as it is: every record with its place, its commit id and its checksum. A copy
 * that broke off goes on where it stopped, because what is there already is the beginning of what is to come.
 */
import { type EventLog } from "@memfold/core"
import { Array, Effect, Option, Schema, Stream } from "effect"
import { createHash } from "node:crypto"

/** Where a copy is read from: a store, or a file that was exported. */
export type Source = Pick<EventLog.Service, "loadSnapshot" | "read" | "version">

/** In the store it goes to, the session is another one. What is there was left alone. */
export class Diverged extends Schema.TaggedError<Diverged>()("Diverged", {
  session: Schema.String,
  /** The first event that differs. */
  seq: Schema.Number,
}) {
  override get message(): string {
    return `session "${this.session}" was not copied: from event ${this.seq} on, the store it goes to has another one; delete it there, or choose another store`
  }
}

/** What has been copied. */
export interface Copied {
  readonly session: string
  /** The events of the session, and how many of them were not there before. */
  readonly events: number
  readonly written: number
  /** SHA-256 over all its records, the same on both sides. */
  readonly sha256: string
}

/** A record as one line: what exports hold, and what digests are made of. */
export const recordLine = (record: EventLog.LogRecord): string => {
  const { session, seq, commit, at, type, version, data, checksum } = record
  return JSON.stringify({ session, seq, commit, at, type, version, data, checksum })
}

const digest = (log: Source, session: string, to: number): Effect.Effect<string, EventLog.LogError> =>
  Stream.runFold(log.read(session, { to }), createHash("sha256"), (hash, record) =>
    hash.update(recordLine(record)).update("\n"),
  ).pipe(Effect.map((hash) => hash.digest("hex")))

/** Fails at the first of the records there that is not the one here. */
const sameSoFar = (
  from: Source,
  to: Source,
  session: string,
  version: number,
): Effect.Effect<void, Diverged | EventLog.LogError> =>
  Stream.zipAll(from.read(session, { to: version }), {
    other: to.read(session, { to: version }),
    defaultSelf: null,
    defaultOther: null,
  }).pipe(
    Stream.runForEach(([here, there]) =>
      here !== null && there !== null && recordLine(here) === recordLine(there)
        ? Effect.void
        : new Diverged({ session, seq: there?.seq ?? here?.seq ?? version }),
    ),
  )

/**
 * Copies a session, in the batches it was written in. What is there of it already is compared, not written; at the end
 * both sides are read once more and compared by their SHA-256. `told` hears how many events are there by now.
 *
 * Fails with {@link Diverged} where the session is another one in the store it goes to; that one stays as it is.
 */
export const copySession = (
  from: Source,
  to: EventLog.Service,
  session: string,
  told: (events: number) => void = () => {},
): Effect.Effect<Copied, Diverged | EventLog.LogError> =>
  Effect.gen(function* () {
    const before = yield* to.version(session)
    yield* sameSoFar(from, to, session, before)
    const last = yield* Stream.runHead(to.read(session, { reverse: true }))
    let version = before
    let after = Option.getOrUndefined(Option.map(last, ({ commit }) => commit))
    yield* from.read(session, { from: before + 1 }).pipe(
      Stream.groupAdjacentBy(({ commit }) => commit),
      Stream.runForEach(([commit, batch]) =>
        Effect.gen(function* () {
          const records = Array.map(
            Array.fromIterable(batch) as Array.NonEmptyArray<EventLog.LogRecord>,
            ({ session: _session, seq: _seq, commit: _commit, ...record }): EventLog.NewRecord => record,
          )
          const appended = yield* to.append(session, records, { expected: version, after, commit })
          version = appended.version
          after = commit
          told(version)
        }),
      ),
    )
    const snapshot = yield* from.loadSnapshot(session)
    if (Option.isSome(snapshot)) yield* to.saveSnapshot(session, snapshot.value)
    const sha256 = yield* digest(from, session, version)
    if (sha256 !== (yield* digest(to, session, version))) yield* sameSoFar(from, to, session, version)
    return { session, events: version, written: version - before, sha256 }
  }).pipe(Effect.catchTag("VersionConflict", ({ expected }) => new Diverged({ session, seq: expected + 1 })))
