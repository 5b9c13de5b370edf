/** The parts of full-text indexes in a store: reading them for the terms of a search, and writing a tail as one more part. */
import { Array, Effect } from "effect"
import { batchIdOf, eventId } from "../event/EventCodec.js"
import type { LogError, LogPosition, ProjectionRow, Projections } from "@memfold/log/EventLog"
import { breather, inSteps, type Steps } from "@memfold/log/breathe"
import {
  bucketKey,
  decodeBucket,
  decodeHead,
  encodeInSteps,
  hashOf,
  type Head,
  headKey,
  keysOf,
  type StoredPart,
} from "./partForm.js"
import { divergence, type Gap } from "../session/branches.js"
import type { IndexError, Source } from "./FullTextIndex.js"
import { beginning, type Part, SessionIndex, type Start } from "./SessionIndex.js"
import { indexKind, listIn, partsKey, partsRow } from "./storedIndex.js"
import type { Tail } from "./Tail.js"

/** How long a search waits for a write, which another process can hold up; then it answers from what it has read. */
const patience = "1 second"

/** A stored part with the postings of the terms that are looked up. */
export interface LoadedPart extends Head, Part {
  readonly stored: StoredPart
}

/** How a write ended; `moved`: the session or its index has changed since they were read. */
export type WriteEnd = "written" | "moved" | "failed"

/** The stored parts that a branch has, with the postings of some terms, and the parts of other branches behind them. */
export interface LoadedIndex {
  readonly parts: ReadonlyArray<LoadedPart>
  readonly others: ReadonlyArray<StoredPart>
}

/** Where the events behind the parts of a branch begin. */
export const startAfter = (parts: ReadonlyArray<LoadedPart>, gaps: ReadonlyArray<Gap>): Start => {
  const last = parts.at(-1)
  return last === undefined
    ? beginning(gaps)
    : {
        version: last.stored.version,
        lastId: eventId(last.stored),
        messages: last.from + last.lengths.length,
      }
}

type RowData = ReadonlyMap<string, string>

const byKey = (rows: ReadonlyArray<ProjectionRow>): RowData =>
  new Map(rows.map(({ key, data }) => [key, data]))

/** Reads stored parts behind loaded ones, one in a step; `null` if any is damaged, missing, or of another version of the terms. */
function* loadedParts(
  session: string,
  parts: ReadonlyArray<StoredPart>,
  rows: RowData,
  terms: ReadonlyArray<string>,
  known: ReadonlyArray<LoadedPart>,
): Generator<undefined, ReadonlyArray<LoadedPart> | null> {
  const wanted = new Set(terms)
  const loaded = [...known]
  for (const stored of parts) {
    const head = decodeHead(session, stored, rows.get(headKey(stored)))
    if (head === null) return null
    const last = loaded.at(-1)
    if (head.from !== (last === undefined ? 0 : last.from + last.lengths.length)) return null
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

/** A stored part with all of its postings, a bucket in a step; `null` if it is damaged. */
function* wholePart(session: string, part: LoadedPart, rows: RowData): Steps<Part | null> {
  const { stored, from } = part
  const postings = new Map<string, Array<number>>()
  for (let bucket = 0; bucket < stored.buckets; bucket++) {
    const data = rows.get(bucketKey(stored, bucket))
    if (!decodeBucket({ ...stored, session }, { bucket, data, from }, postings)) return null
    yield
  }
  return { ...part, postings }
}

const isSame = (one: StoredPart, other: StoredPart | undefined): boolean =>
  one.version === other?.version && one.batchId === other.batchId && one.buckets === other.buckets

const bucketsOf = ({ buckets }: StoredPart, terms: ReadonlyArray<string>): ReadonlySet<number> =>
  new Set(buckets === 0 ? [] : terms.map((term) => hashOf(term) % buckets))

/** The parts at the end that are merged with a tail, because they are not larger than what comes behind them. */
const merging = (
  parts: ReadonlyArray<LoadedPart>,
  tail: Tail,
  largestPart: number,
): ReadonlyArray<LoadedPart> => {
  let count = tail.lengths.length
  let at = parts.length
  for (; at > 0; at--) {
    const { length } = parts[at - 1]!.lengths
    if (length > count || length + count > largestPart) break
    count += length
  }
  return parts.slice(at)
}

export class StoredParts {
  /** @param largestPart the most messages of a part */
  constructor(
    private readonly store: Projections,
    private readonly largestPart: number,
  ) {}

  /**
   * The parts of a branch with the postings of some terms; `null` if they cannot be used.
   *
   * @param known - what was loaded for these terms before, of a session that has not changed since: it is not read again
   */
  load(
    { session, gaps }: Pick<Source, "session" | "gaps">,
    terms: ReadonlyArray<string>,
    known: ReadonlyArray<LoadedPart> = [],
  ): Effect.Effect<LoadedIndex | null, LogError> {
    return Effect.flatMap(this.store.get(session, indexKind, { keys: [partsKey] }), ([listed]) => {
      const list = listIn(listed)
      const end = divergence(list.gaps, gaps)
      const parts = list.parts.filter(({ version }) => version < end)
      const others = list.parts.slice(parts.length)
      if (parts.length === 0) return Effect.succeed({ parts: [], others })
      const kept = Array.takeWhile(known, ({ stored }, at) => isSame(stored, parts[at]))
      const added = parts.slice(kept.length)
      const keys = added.flatMap((part) => [
        headKey(part),
        ...[...bucketsOf(part, terms)].map((bucket) => bucketKey(part, bucket)),
      ])
      const loaded = Effect.flatMap(this.rowsOf(session, keys), (rows) =>
        inSteps(() => loadedParts(session, added, rows, terms, kept)),
      )
      return Effect.map(loaded, (found) => (found === null ? null : { parts: found, others }))
    })
  }

  /** How many events up to a version have no part. */
  behind({ session, version, gaps }: Source): Effect.Effect<number, LogError> {
    return Effect.map(this.store.get(session, indexKind, { keys: [partsKey] }), ([listed]) => {
      const list = listIn(listed)
      const end = divergence(list.gaps, gaps)
      const last = list.parts.findLast((part) => part.version < end)?.version ?? beginning(gaps).version
      return Math.max(version - last, 0)
    })
  }

  /** Drops the parts of a session: the next search writes new ones. */
  drop(session: string): Effect.Effect<void, LogError> {
    return this.store.drop(indexKind, session)
  }

  /**
   * Stores a tail behind the parts of its branch. It never fails, and never waits long: a write that takes longer goes on by itself.
   *
   * @param place where the log is now; `null` if the parts and the tail may not belong to it any more
   */
  write(
    session: string,
    index: LoadedIndex,
    tail: Tail,
    place: Effect.Effect<LogPosition | null, IndexError>,
  ): Effect.Effect<WriteEnd> {
    const placed = Effect.catchTag(place, "DamagedEvent", () => Effect.succeed(null))
    return this.put(session, index, tail, placed).pipe(
      Effect.disconnect,
      Effect.timeoutTo({ duration: patience, onSuccess: (end) => end, onTimeout: () => "failed" as const }),
      Effect.catchAll(({ reason }) =>
        Effect.logDebug("the full-text index was not written").pipe(
          Effect.annotateLogs({ session, reason }),
          Effect.as("failed" as const),
        ),
      ),
    )
  }

  private rowsOf(session: string, keys: ReadonlyArray<string>): Effect.Effect<RowData, LogError> {
    return Effect.map(this.store.get(session, indexKind, { keys }), byKey)
  }

  /** A stored part with all of its postings; `null` if it is gone or damaged. */
  private whole(session: string, part: LoadedPart): Effect.Effect<Part | null, LogError> {
    return Effect.flatMap(this.rowsOf(session, keysOf(part.stored)), (rows) =>
      inSteps(() => wholePart(session, part, rows)),
    )
  }

  /** The tail with the parts that are merged with it, as one index; `null` if one of them is gone or damaged. */
  private mergedIndex(
    session: string,
    merged: ReadonlyArray<LoadedPart>,
    tail: Tail,
  ): Effect.Effect<SessionIndex | null, LogError> {
    return Effect.gen(this, function* () {
      const index = new SessionIndex({ ...tail.start, messages: merged[0]?.from ?? tail.from }, tail.gaps)
      for (const part of merged) {
        const all = yield* this.whole(session, part)
        if (all === null) return null
        index.append(all)
      }
      index.append(tail)
      return index
    })
  }

  /** Stores a tail. What may have been redacted since it was read is not stored. */
  private put(
    session: string,
    { parts, others }: LoadedIndex,
    tail: Tail,
    place: Effect.Effect<LogPosition | null, LogError>,
  ): Effect.Effect<WriteEnd, LogError> {
    return Effect.gen(this, function* () {
      const breathe = breather(1)
      const merged = merging(parts, tail, this.largestPart)
      const kept = parts.slice(0, parts.length - merged.length)
      const index = yield* this.mergedIndex(session, merged, tail)
      if (index === null) return "moved"
      const { version, lastId, gaps } = tail
      const batchId = batchIdOf({ id: lastId ?? "", version })
      yield* breathe() ?? Effect.void
      const { part, rows } = yield* inSteps(() => encodeInSteps({ session, version, batchId }, index))
      yield* breathe() ?? Effect.void
      const at = yield* place
      if (at === null) return "moved"
      yield* this.store.put(session, at, [
        {
          kind: indexKind,
          drop: [...merged.map(({ stored }) => stored), ...others].flatMap(keysOf),
          rows: [partsRow({ gaps, parts: [...kept.map(({ stored }) => stored), part] }), ...rows],
        },
      ])
      return "written" as const
    }).pipe(Effect.catchTag("VersionConflict", () => Effect.succeed("moved" as const)))
  }
}
