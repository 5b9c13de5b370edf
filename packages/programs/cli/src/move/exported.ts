/**
 * Sessions as JSON Lines: a header line, every record of every session in order, and a last line with sums and a digest.
 * Without the last line, the file was cut off; if the sums differ, it was changed.
 */
import { type EventLog } from "@memfold/core"
import { Effect, Option, Schema, Stream } from "effect"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { ImportError } from "../import/ImportError.js"
import { InputLimit, requireText, tooLarge } from "../input/Input.js"
import { version as writer } from "../installation.js"
import { withoutMark } from "../transcript/source.js"
import { recordLine, recordOf, type Source, sourceOf, readSound } from "@memfold/archive"

/** `version` is the form of the file, and `writer` the memfold that wrote it. */
const Head = Schema.Struct({
  memfold: Schema.Literal("export"),
  version: Schema.Number,
  writer: Schema.optional(Schema.String),
})

const Sums = Schema.Struct({
  memfold: Schema.Literal("end"),
  sessions: Schema.Number,
  events: Schema.Number,
  sha256: Schema.String,
})

const formatVersion = 1

/** The lines of an export of these sessions. A session deleted after it was listed is not counted. */
export const exportLines = (
  log: EventLog.Service,
  sessions: Stream.Stream<string, EventLog.LogError>,
): Stream.Stream<string, EventLog.LogError> =>
  Stream.suspend(() => {
    const sums = { sessions: 0, events: 0 }
    const hash = createHash("sha256")
    let current: string | null = null
    const records = sessions.pipe(
      Stream.flatMap((session) => readSound(sourceOf(log), session)),
      Stream.map((record) => {
        const line = recordLine(record)
        if (record.session !== current) sums.sessions++
        current = record.session
        sums.events++
        hash.update(line).update("\n")
        return line
      }),
    )
    const head = JSON.stringify({
      memfold: "export",
      version: formatVersion,
      writer,
    } satisfies typeof Head.Type)
    const end = Stream.sync(() =>
      JSON.stringify({ memfold: "end", ...sums, sha256: hash.digest("hex") } satisfies typeof Sums.Type),
    )
    return Stream.concat(Stream.make(head), Stream.concat(records, end))
  })

/** A line, and its offset in the file. */
interface Line {
  readonly text: string
  readonly start: number
}

/** The lines of a file. A line longer than a chunk is joined once, when its end is read; one beyond the limit is an error. */
async function* linesFrom(file: string, limit: number, start = 0): AsyncGenerator<Line> {
  let begun: Array<Buffer> = []
  let size = 0
  let place = start
  for await (const read of createReadStream(file, { start })) {
    const chunk = read as Buffer
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...begun, chunk.subarray(from, end)])
      yield { text: line.toString("utf8"), start: place }
      place += line.length + 1
      from = end + 1
      begun = []
      size = 0
    }
    if (from < chunk.length) begun.push(chunk.subarray(from))
    size += chunk.length - from
    if (size > limit * 2 ** 20) throw wrong(file, `a line is too long: ${tooLarge(limit)}`)
  }
  if (begun.length > 0) yield { text: Buffer.concat(begun).toString("utf8"), start: place }
}

/** A completely checked file, as the source of a copy. */
export interface Exported extends Source {
  readonly sessions: ReadonlyArray<string>
}

const decodeHead = Schema.decodeUnknownOption(Schema.parseJson(Head))
const decodeSums = Schema.decodeUnknownOption(Schema.parseJson(Sums))

/** A session of the file: the offset of its first line, and its last version. */
interface ExportedSession {
  readonly start: number
  readonly version: number
}

const wrong = (file: string, problem: string, line?: number) =>
  new ImportError({ file, problem, ...(line === undefined ? {} : { line }) })

/** Reads a file to its end. Throws an {@link ImportError} if it is invalid. */
const checked = async (file: string, limit: number): Promise<ReadonlyMap<string, ExportedSession>> => {
  const places = new Map<string, ExportedSession>()
  const hash = createHash("sha256")
  let count = 0
  let events = 0
  let current = ""
  let end: typeof Sums.Type | null = null
  for await (const { text, start } of linesFrom(file, limit)) {
    count++
    if (count === 1) {
      const head = Option.getOrNull(decodeHead(withoutMark(text)))
      if (head === null) {
        throw wrong(
          file,
          "it is not an export of memfold; for transcripts use --from transcript, for states of other programs --from NAME",
          1,
        )
      }
      if (head.version > formatVersion) {
        const newer = head.writer === undefined ? "a newer memfold" : `memfold ${head.writer}`
        const problem = `it was exported by ${newer}, in form ${head.version}, and this one reads form ${formatVersion}; update to ${newer}`
        throw wrong(file, problem, 1)
      }
      continue
    }
    if (end !== null) throw wrong(file, "there is more after the end of the export", count)
    const record = Option.getOrNull(recordOf(text))
    if (record === null) {
      end = Option.getOrNull(decodeSums(text))
      if (end === null) throw wrong(file, "this line is not a record; export again", count)
      continue
    }
    const { session, version } = record
    const before = places.get(session)
    if (version !== (before?.version ?? 0) + 1 || (before !== undefined && current !== session)) {
      throw wrong(file, `event ${version} of session "${session}" is out of order; export again`, count)
    }
    places.set(session, { start: before?.start ?? start, version })
    current = session
    events++
    hash.update(recordLine(record)).update("\n")
  }
  if (end === null) throw wrong(file, "it was cut off: its last line is missing; export again")
  if (end.events !== events || end.sessions !== places.size || end.sha256 !== hash.digest("hex")) {
    throw wrong(file, "its sums are wrong: it was changed after the export; export again")
  }
  return places
}

/** Opens an exported file. It is checked completely before anything is written. */
export const openExport = (file: string): Effect.Effect<Exported, ImportError> =>
  Effect.gen(function* () {
    // A pipe could not be read a second time, when it is copied.
    yield* Effect.mapError(requireText(file), ({ problem }) => wrong(file, problem))
    const limit = yield* InputLimit
    const places = yield* Effect.tryPromise({
      try: () => checked(file, limit),
      catch: (error) => (error instanceof ImportError ? error : wrong(file, "it cannot be read")),
    })
    return {
      sessions: [...places.keys()],
      version: (session) => Effect.succeed(places.get(session)?.version ?? 0),
      rows: () => Effect.succeed([]),
      records: (session, { fromVersion = 1, toVersion = Number.POSITIVE_INFINITY } = {}) => {
        const place = places.get(session)
        if (place === undefined) return Stream.empty
        // Suspended: the stream of a source may run twice, and the lines are read once for each run.
        return Stream.suspend(() =>
          Stream.fromAsyncIterable(linesFrom(file, limit, place.start), (error) => error),
        ).pipe(
          Stream.take(Math.min(place.version, toVersion)),
          // The file was read to its end before, so an error here is a defect.
          Stream.map(({ text }) => Option.getOrThrow(recordOf(text))),
          Stream.filter(({ version }) => version >= fromVersion),
          Stream.orDie,
        )
      },
    } satisfies Exported
  })
