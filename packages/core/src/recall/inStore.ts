/**
 * The full-text index in a store, in parts. It is written when a session is searched, never by an append: the newest
 * messages are indexed in the process, until there are enough of them for a part of their own. Parts of about one size
 * are merged, so a long session has few.
 *
 * Nothing depends on it. What does not belong to the log is dropped and built again, and if the store fails, the session
 * is indexed in the process.
 */
import { Effect, Stream } from "effect"
import { batchIdOf, eventId } from "../event/EventCodec.js"
import { LogError, type LogPosition, type ProjectionRow, type Projections } from "../log/EventLog.js"
import { after, breather, inSteps } from "../shell/breathe.js"
import type { IndexError, Lookup, Postings, Service, Source } from "./FullTextIndex.js"
import { inProcess } from "./inProcess.js"
import {
  bucketKey,
  decodeBucket,
  decodeHead,
  encodePart,
  hashOf,
  type Head,
  headKey,
  keysOf,
  type StoredPart,
} from "./partForm.js"
import { Recent } from "./Recent.js"
import { beginning, lookUp, nothing, type Part, SessionIndex, type Start } from "./SessionIndex.js"
import { indexKind, partsIn, partsKey, partsRow } from "./storedIndex.js"

/** How an index in a store is written. */
export interface InStoreOptions {
  /** How many postings the process keeps of messages that are in no part yet; as for {@link inProcess}. */
  readonly capacity?: number
  /** A part is written when this many events have come since the last part; 32 by default. */
  readonly eventsPerPart?: number
  /** The most messages of a part, and of one write; 1,024 by default. Making one holds the event loop for some 40 ms. */
  readonly largestPart?: number
}

/** How long a search waits for a write, which another process can hold up; then it answers from what it has read. */
const patience = "1 second"

/** How often a search begins again because of a redaction, or of an index that does not belong to the log. */
const mostAttempts = 8

/** A stored part with the postings of the terms that are looked up. */
interface LoadedPart extends Head, Part {
  readonly stored: StoredPart
}

/** The index of the events behind the stored parts. */
class Tail extends SessionIndex {
  constructor(
    start: Start,
    /** The version of the session before its events were read: a later redaction may have changed what was read. */
    readonly readAt: number,
  ) {
    super(start)
  }

  /** Whether a clear came: the stored parts do not count any more. */
  get isCleared(): boolean {
    return this.clears > this.start.clears
  }
}

const startAfter = (parts: ReadonlyArray<LoadedPart>): Start => {
  const last = parts.at(-1)
  return last === undefined
    ? beginning
    : {
        version: last.stored.version,
        lastId: eventId(last.stored),
        clears: last.clears,
        messages: last.from + last.lengths.length,
      }
}

const isSame = (one: Start, other: Start): boolean =>
  one.version === other.version &&
  one.lastId === other.lastId &&
  one.clears === other.clears &&
  one.messages === other.messages

/** The rows of an index by their keys. */
type RowData = ReadonlyMap<string, string>

const byKey = (rows: ReadonlyArray<ProjectionRow>): RowData =>
  new Map(rows.map(({ key, data }) => [key, data]))

/** Reads stored parts, one in a step; `null` if any is damaged, missing, or of another version of the terms. */
function* loadedParts(
  session: string,
  parts: ReadonlyArray<StoredPart>,
  rows: RowData,
  terms: ReadonlyArray<string>,
): Generator<undefined, ReadonlyArray<LoadedPart> | null> {
  const wanted = new Set(terms)
  const loaded: Array<LoadedPart> = []
  for (const stored of parts) {
    const head = decodeHead(session, stored, rows.get(headKey(stored)))
    if (head === null) return null
    const { clears, messages } = loaded.length === 0 ? { ...head, messages: 0 } : startAfter(loaded)
    if (head.clears !== clears || head.from !== messages) return null
    const postings = new Map<string, Array<number>>()
    for (const bucket of bucketsOf(stored, terms)) {
      const data = rows.get(bucketKey(stored, bucket))
      if (!decodeBucket({ ...stored, session }, { bucket, data, from: head.from }, postings, wanted))
        return null
    }
    loaded.push({ ...head, postings, stored })
    yield
  }
  return loaded
}

/** The buckets of a part that have these terms. */
const bucketsOf = ({ buckets }: StoredPart, terms: ReadonlyArray<string>): ReadonlySet<number> =>
  new Set(buckets === 0 ? [] : terms.map((term) => hashOf(term) % buckets))

/** How reading on ended: at the end of the log, or with enough messages for a part; or why it has to begin again. */
type ReadEnd = "all" | "part" | "redacted" | "another log"

/** How a write ended; `moved`: the session or its index has changed since they were read. */
type WriteEnd = "written" | "moved" | "failed"

/** Reads the events behind a tail into it, until it has `most` messages. */
const readOn = (tail: Tail, { events }: Source, most: number): Effect.Effect<ReadEnd, IndexError> =>
  Effect.gen(function* () {
    const { version, lastId, readAt } = tail
    let end: ReadEnd = lastId === null ? "all" : "another log"
    const breathe = breather()
    yield* Stream.runForEachWhile(events({ fromVersion: Math.max(version, 1) }), (recorded) =>
      after(
        breathe(),
        Effect.sync(() => {
          if (recorded.version === version) end = recorded.id === lastId ? "all" : "another log"
          // A redaction that was there before is done with what it rewrote.
          else if (recorded.event._tag === "MessageRedacted" && recorded.version > readAt) end = "redacted"
          else if (tail.lengths.length >= most) end = "part"
          if (end === "all") tail.add(recorded)
          return end === "all"
        }),
      ),
    )
    return end
  })

/**
 * Makes an index that a store keeps. Memories use it by default.
 *
 * @param store - the `projections` of an event log
 * @param options - how it is written
 *
 * @example
 * ```ts
 * import { EventLog, FullTextIndex, Recall } from "@memfold/core"
 * import { Effect, Layer } from "effect"
 *
 * // Writes seldom, and reads more of the log when a process searches a session for the first time.
 * export const seldom = Layer.effect(
 *   FullTextIndex.FullTextIndex,
 *   Effect.map(EventLog.EventLog, ({ projections }) => Recall.inStore(projections, { eventsPerPart: 500 })),
 * )
 * ```
 */
export const inStore = (
  store: Projections,
  { capacity, eventsPerPart = 32, largestPart = 1_024 }: InStoreOptions = {},
): Service => {
  const bound = capacity === undefined ? {} : { capacity }
  const fallback = inProcess(bound)
  const recent = new Recent<Tail>(capacity ?? 4_000_000)

  const rowsOf = (session: string, keys: ReadonlyArray<string>) =>
    Effect.map(store.get(session, indexKind, { keys }), byKey)

  /** The stored parts with the postings of some terms; `null` if they cannot be used. */
  const load = (session: string, terms: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const [listed] = yield* store.get(session, indexKind, { keys: [partsKey] })
      const parts = partsIn(listed)
      if (parts.length === 0) return []
      const keys = parts.flatMap((part) => [
        headKey(part),
        ...[...bucketsOf(part, terms)].map((bucket) => bucketKey(part, bucket)),
      ])
      const rows = yield* rowsOf(session, keys)
      return yield* inSteps(() => loadedParts(session, parts, rows, terms))
    })

  /** The parts at the end that are merged with a tail, because they are not larger than what comes behind them. */
  const merging = (parts: ReadonlyArray<LoadedPart>, tail: Tail): ReadonlyArray<LoadedPart> => {
    let count = tail.lengths.length
    let at = parts.length
    for (; at > 0; at--) {
      const { length } = parts[at - 1]!.lengths
      if (length > count || length + count > largestPart) break
      count += length
    }
    return parts.slice(at)
  }

  /** A stored part with all of its postings; `null` if it is gone or damaged. */
  const whole = (session: string, part: LoadedPart): Effect.Effect<Part | null, LogError> =>
    Effect.map(rowsOf(session, keysOf(part.stored)), (rows) => {
      const postings = new Map<string, Array<number>>()
      const isSound = Array.from({ length: part.stored.buckets }, (_, bucket) => bucket).every((bucket) =>
        decodeBucket(
          { ...part.stored, session },
          { bucket, data: rows.get(bucketKey(part.stored, bucket)), from: part.from },
          postings,
        ),
      )
      return isSound ? { ...part, postings } : null
    })

  /** Stores a tail. What was read before the session moved on may have been redacted since, and is not stored. */
  const write = (
    session: string,
    parts: ReadonlyArray<LoadedPart>,
    tail: Tail,
    head: LogPosition,
  ): Effect.Effect<WriteEnd, LogError> =>
    Effect.gen(function* () {
      const breathe = breather(1)
      const merged = tail.isCleared ? [] : merging(parts, tail)
      const others = tail.isCleared ? [] : parts.slice(0, parts.length - merged.length)
      const index = new SessionIndex({ ...tail.start, messages: merged[0]?.from ?? tail.from })
      for (const part of merged) {
        const all = yield* whole(session, part)
        if (all === null) return "moved"
        index.append(all)
      }
      index.append(tail)
      const { version, lastId, clears } = tail
      const batchId = batchIdOf({ id: lastId ?? "", version })
      yield* breathe() ?? Effect.void
      const { from, versions, lengths, postings } = index
      const { part, rows } = encodePart(
        { session, version, batchId },
        { clears, from, versions, lengths, postings },
      )
      yield* breathe() ?? Effect.void
      yield* store.put(session, head, [
        {
          kind: indexKind,
          replace: tail.isCleared,
          drop: merged.flatMap(({ stored }) => keysOf(stored)),
          rows: [partsRow([...others.map(({ stored }) => stored), part]), ...rows],
        },
      ])
      return "written" as const
    }).pipe(Effect.catchTag("VersionConflict", () => Effect.succeed("moved" as const)))

  /** Stores a tail, without a failure, and without a long wait: a write that takes longer goes on by itself. */
  const tryToWrite = (...args: Parameters<typeof write>): Effect.Effect<WriteEnd> =>
    write(...args).pipe(
      Effect.disconnect,
      Effect.timeoutTo({ duration: patience, onSuccess: (end) => end, onTimeout: () => "failed" as const }),
      Effect.catchAll(({ reason }) =>
        Effect.logDebug("the full-text index was not written").pipe(
          Effect.annotateLogs({ session: args[0], reason }),
          Effect.as("failed" as const),
        ),
      ),
    )

  const lookUpStored = (source: Source, lookup: Lookup): Effect.Effect<Postings<IndexError>, IndexError> =>
    Effect.gen(function* () {
      const { session, clears } = source
      const taken = recent.take(session)
      let tail = taken.index
      let writes = true
      for (let attempt = 0; attempt < mostAttempts;) {
        const head = yield* source.head
        if (head === null) return nothing
        const parts = yield* load(session, lookup.terms)
        if (parts === null) {
          attempt++
          yield* store.drop(indexKind, session)
          continue
        }
        const start = startAfter(parts)
        const current: Tail =
          tail !== null && isSame(tail.start, start) ? tail : new Tail(start, head.version)
        const end = yield* readOn(current, source, writes ? largestPart : Number.POSITIVE_INFINITY)
        tail = null
        if (end === "redacted" || end === "another log") {
          attempt++
          if (end === "another log" && current.start === start && parts.length > 0)
            yield* store.drop(indexKind, session)
          continue
        }
        // A part of a tail that was begun earlier may have been redacted since: the redaction stands behind it.
        if (end === "part" && current.readAt !== head.version) continue
        const isDue =
          end === "part" ||
          current.version - start.version >= eventsPerPart ||
          (current.isCleared && parts.length > 0)
        if (isDue && writes) {
          // What was written is read from the store. A tail that could not be written is still at hand.
          const written = yield* tryToWrite(session, parts, current, head)
          if (written === "moved") attempt++
          writes = written === "written" || (written === "moved" && 2 * attempt < mostAttempts)
          if (written === "failed") tail = current
          continue
        }
        recent.keep(session, current, taken)
        if (current.clears !== clears) return nothing
        return lookUp(current.isCleared ? [current] : [...parts, current], lookup)
      }
      return yield* new LogError({
        operation: "recall",
        session,
        reason: "the stored full-text index does not belong to the log, again and again",
      })
    })

  return {
    lookUp: (source, lookup) =>
      lookUpStored(source, lookup).pipe(
        Effect.catchTag("LogError", ({ reason }) =>
          Effect.logDebug("the stored full-text index is not used").pipe(
            Effect.annotateLogs({ session: source.session, reason }),
            Effect.zipRight(fallback.lookUp(source, lookup)),
          ),
        ),
      ),
    forget: (session) =>
      Effect.zipRight(
        Effect.sync(() => recent.forget(session)),
        fallback.forget(session),
      ),
  }
}
