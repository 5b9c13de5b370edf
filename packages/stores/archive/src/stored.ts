/** The form of a session in an archive: a header and every record, as compressed lines of JSON. */
import type { EventLog } from "@memfold/log"
import { Effect, Either, Option, Schema, Stream } from "effect"
import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { gunzip, gzip } from "node:zlib"
import { type Archive, ArchiveError } from "./Archive.js"
import { recordLine, recordOf } from "./copy.js"
import type { Source } from "./Source.js"
import { readSound } from "./sound.js"

const [compress, decompress] = [promisify(gzip), promisify(gunzip)]

const Header = Schema.Struct({
  memfold: Schema.Literal("archived"),
  format: Schema.Literal(1),
  session: Schema.String,
  events: Schema.Positive,
  sha256: Schema.String,
})

const parseHeader = Schema.decodeUnknownEither(Schema.parseJson(Header))

/** The largest object that is read back, in bytes: as text, it has to fit into one string. */
const mostBytes = 2 ** 29 - 1

/** The key of the object of a session, or of a segment of it. An id may be longer than a name of a file, and have any letters. */
export const keyOf = (session: string, segment?: string): string => {
  const hash = createHash("sha256").update(session).digest("hex")
  return `${hash.slice(0, 2)}/${hash.slice(2, 42)}${segment === undefined ? "" : `.${segment}`}.jsonl.gz`
}

/** A session, or a segment of one, that was read whole. */
export interface StoredSession {
  readonly session: string
  readonly records: ReadonlyArray<EventLog.LogRecord>
  /** SHA-256 over all records, as lines. */
  readonly sha256: string
}

const digestOf = (records: ReadonlyArray<EventLog.LogRecord>): string => {
  const hash = createHash("sha256")
  for (const record of records) hash.update(recordLine(record)).update("\n")
  return hash.digest("hex")
}

/** Reads a whole session from a store. It fails if a record is missing or damaged. */
export const readSession = (
  source: Source,
  session: string,
): Effect.Effect<StoredSession, EventLog.LogError> =>
  Effect.map(Stream.runCollect(readSound(source, session)), (chunk) => storedOf(session, [...chunk]))

/** Records as an object has them. */
export const storedOf = (session: string, records: StoredSession["records"]): StoredSession => ({
  session,
  records,
  sha256: digestOf(records),
})

/** A session as the bytes of an object. */
export const encode = ({ session, records, sha256 }: StoredSession): Effect.Effect<Uint8Array> => {
  const header: typeof Header.Type = {
    memfold: "archived",
    format: 1,
    session,
    events: records.length,
    sha256,
  }
  const text = [JSON.stringify(header), ...records.map(recordLine), ""].join("\n")
  return Effect.promise(() => compress(text))
}

/** The session in an object, or what is wrong with it. */
export const decode = (bytes: Uint8Array): Effect.Effect<Either.Either<StoredSession, string>> =>
  Effect.promise(async () => {
    const text = await decompress(bytes, { maxOutputLength: mostBytes }).catch(() => null)
    if (text === null) return Either.left("it is not compressed as an archived session is, or too large")
    const [first = "", ...lines] = text.toString("utf8").split("\n")
    const header = parseHeader(first)
    if (Either.isLeft(header)) return Either.left("it has no header of an archived session")
    const { session, events, sha256 } = header.right
    const records: Array<EventLog.LogRecord> = []
    for (const line of lines.slice(0, -1)) {
      const record = recordOf(line)
      if (Option.isNone(record)) return Either.left(`record ${records.length + 1} is damaged`)
      records.push(record.value)
    }
    if (records.length !== events) return Either.left(`it has ${records.length} of ${events} records`)
    return digestOf(records) === sha256
      ? Either.right({ session, records, sha256 })
      : Either.left("its records are not those that were archived")
  })

/** What an archive has in an object of a session, checked; `null` if it has none. */
export const readObject = (
  archive: Archive,
  key: string,
  session: string,
): Effect.Effect<StoredSession | null, ArchiveError> =>
  Effect.gen(function* () {
    const bytes = yield* archive.get(key)
    if (bytes === null) return null
    const found = Either.filterOrLeft(
      yield* decode(bytes),
      (one) => one.session === session,
      () => "it is of another session",
    )
    return yield* Either.mapLeft(
      found,
      (reason) => new ArchiveError({ operation: "get", about: session, reason }),
    )
  })

/**
 * Writes the object of a session, or of a segment of it, and reads it back. Returns its size in bytes; fails if it is not what was written.
 *
 * @param remains - what stays in the store then
 */
export const writeObject = (
  archive: Archive,
  key: string,
  stored: StoredSession,
  remains: string,
): Effect.Effect<number, ArchiveError> =>
  Effect.gen(function* () {
    const bytes = yield* encode(stored)
    yield* archive.put(key, bytes)
    const there = yield* readObject(archive, key, stored.session)
    if (there?.sha256 === stored.sha256) return bytes.length
    const reason = `what it gives back is not what was written; ${remains} in the store`
    return yield* new ArchiveError({ operation: "put", about: stored.session, reason })
  })

/** An archived session as the source of a copy. */
export const sourceOfStored = ({ records }: StoredSession): Source => ({
  version: () => Effect.succeed(records.length),
  records: (_session, { fromVersion = 1, toVersion = records.length, reverse = false } = {}) => {
    const range = records.slice(Math.max(fromVersion, 1) - 1, toVersion)
    return Stream.fromIterable(reverse ? range.toReversed() : range)
  },
  rows: () => Effect.succeed([]),
})
