/** Writes the events of an import to a log in one batch: all of them or none. */
import { EventCodec, EventLog, Session } from "@memfold/core"
import { Effect, Stream } from "effect"
import { createHash } from "node:crypto"
import type { TimedEvent } from "./events.js"
import { SessionTaken } from "./ImportError.js"

/** The JSON of a value in pieces, to a depth: in one, that of a long conversation would be longer than a string can be. */
function* jsonPieces(value: unknown, depth: number): Generator<string, void, undefined> {
  if (depth === 0 || typeof value !== "object" || value === null || "toJSON" in value)
    return yield JSON.stringify(value) ?? "null"
  const isList = Array.isArray(value)
  const fields = Object.entries(value).filter(([, one]) => isList || one !== undefined)
  yield isList ? "[" : "{"
  for (const [at, [name, one]] of fields.entries()) {
    yield `${at === 0 ? "" : ","}${isList ? "" : `${JSON.stringify(name)}:`}`
    yield* jsonPieces(one, depth - 1)
  }
  yield isList ? "]" : "}"
}

/** The batch id of an import, derived from its content: importing the same content again writes nothing (law L12). */
export const commitOf = (content: unknown): string => {
  const hash = createHash("sha256")
  for (const piece of jsonPieces(content, 3)) hash.update(piece)
  return `import-${hash.digest("hex").slice(0, 20)}`
}

/**
 * How many events a session has of an import of a file that may have grown since, or has changed; `null` if it was made by the same import.
 * Fails if it has other content.
 */
export const importedBefore = (
  log: EventLog.Service,
  session: string,
  commit: string,
): Effect.Effect<number | null, SessionTaken | EventLog.LogError> =>
  Effect.gen(function* () {
    const events = yield* EventLog.versionOf(log, session)
    if (events === 0) return 0
    const [first] = yield* log.read(session, { fromVersion: 1, toVersion: 1, reverse: false, limit: 1 })
    if (first?.batchId === commit) return null
    return first?.batchId.startsWith("import-") === true
      ? events
      : yield* new SessionTaken({ session, events })
  })

/**
 * Writes the events of a session, of which it has the first `known` ones already; `false` if there is nothing more, or if another process has
 * written the same import meanwhile.
 */
export const write = (
  log: EventLog.Service,
  session: string,
  batchId: string,
  events: ReadonlyArray<TimedEvent>,
  known = 0,
): Effect.Effect<boolean, SessionTaken | EventLog.LogError> =>
  Effect.gen(function* () {
    const [first, ...rest] = EventCodec.encodeBatch({ session, version: known }, batchId, events.slice(known))
    if (first === undefined) return false
    const recorded = EventCodec.recordedAfter({ session, version: 0 }, batchId, events)
    const projections = yield* Session.projectionsOf(session, Stream.fromIterable(recorded))
    const { duplicate } = yield* log.append(session, [first, ...rest], {
      expectedVersion: known,
      batchId,
      projections,
    })
    return !duplicate
  }).pipe(
    Effect.catchTag(
      "VersionConflict",
      ({ actualVersion }) => new SessionTaken({ session, events: actualVersion }),
    ),
  )
