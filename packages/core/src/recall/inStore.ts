/**
 * The full-text index that a store keeps in parts. It is written when a session is searched, never by an append: the newest
 * messages are indexed in the process, until there are enough of them for a part of their own. Parts of about the same size
 * are merged, so a long session has few.
 *
 * Nothing depends on it. What does not belong to the log is dropped and built again, and if the store fails, the session
 * is indexed in the process.
 */
import { Effect, Stream } from "effect"
import { batchIdOf, eventId } from "../event/EventCodec.js"
import { after, breather } from "../shell/breathe.js"
import { LogError } from "../log/EventLog.js"
import type {
  FullTextStore,
  IndexError,
  Lookup,
  Postings,
  Service,
  Source,
  StoredIndex,
  StoredPart,
} from "./FullTextIndex.js"
import { inProcess } from "./inProcess.js"
import { decodeBucket, decodeHead, encodePart, hashOf, type Head } from "./partForm.js"
import { Recent } from "./Recent.js"
import { beginning, lookUp, nothing, type Part, SessionIndex, type Start } from "./SessionIndex.js"

/** How an index in a store is written. */
export interface InStoreOptions {
  /** How many postings the process keeps of messages that are in no part yet; as for {@link inProcess}. */
  readonly capacity?: number
  /** A part is written when there are so many events behind the last one; 32 by default. */
  readonly eventsPerPart?: number
  /** The most messages of a part, and of one write; 1,024 by default. Making one holds the event loop for some 40 ms. */
  readonly largestPart?: number
}

/** How long a search waits for a write, which another process can hold up; then it answers from what it has read. */
const patience = "1 second"

/** How often a search begins again because of a redaction, or of an index that does not belong to the log. */
const mostAttempts = 8

/** A stored part with the postings of the terms that are looked up. */
interface KnownPart extends Head, Part {
  readonly stored: StoredPart
}

/** The index of the events behind the stored parts. */
class Tail extends SessionIndex {
  constructor(
    start: Start,
    /** How often the session had been rewritten before the events were read. */
    readonly rewrites: number,
  ) {
    super(start)
  }

  /** Whether a clear came: the stored parts do not count any more. */
  get isCleared(): boolean {
    return this.clears > this.start.clears
  }
}

const startAfter = (parts: ReadonlyArray<KnownPart>): Start => {
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

/** Reads what is stored; `null` if any of it is damaged, missing, or of another version of the terms. */
const knownParts = (
  session: string,
  { parts }: StoredIndex,
  terms: ReadonlyArray<string>,
): ReadonlyArray<KnownPart> | null => {
  const wanted = new Set(terms)
  const known: Array<KnownPart> = []
  for (const { found, ...stored } of parts) {
    const head = decodeHead(session, stored)
    if (head === null) return null
    const { clears, messages } = known.length === 0 ? { ...head, messages: 0 } : startAfter(known)
    if (head.clears !== clears || head.from !== messages) return null
    const postings = new Map<string, Array<number>>()
    const numbers = new Set(stored.buckets === 0 ? [] : terms.map((term) => hashOf(term) % stored.buckets))
    for (const bucket of numbers) {
      const bytes = found.get(bucket)
      const at = { ...stored, session }
      if (bytes === undefined || !decodeBucket(at, { bucket, bytes, from: head.from }, postings, wanted))
        return null
    }
    known.push({ ...head, postings, stored })
  }
  return known
}

/** How reading on ended: at the end of the log, or with enough messages for a part; or why it has to begin again. */
type Read = "all" | "part" | "redacted" | "another log"

/** Reads the events behind a tail into it, until it has `most` messages. */
const readOn = (
  tail: Tail,
  { events }: Source,
  { newest, most }: { readonly newest: number; readonly most: number },
): Effect.Effect<Read, IndexError> =>
  Effect.gen(function* () {
    const { version, lastId } = tail
    let read: Read = lastId === null ? "all" : "another log"
    const breathe = breather()
    yield* Stream.runForEachWhile(events({ fromVersion: Math.max(version, 1) }), (recorded) =>
      after(
        breathe(),
        Effect.sync(() => {
          if (recorded.version === version) read = recorded.id === lastId ? "all" : "another log"
          // One that was there before is done with what it rewrote.
          else if (recorded.event._tag === "MessageRedacted" && recorded.version > newest) read = "redacted"
          else if (tail.lengths.length >= most) read = "part"
          if (read === "all") tail.add(recorded)
          return read === "all"
        }),
      ),
    )
    return read
  })

/**
 * Makes an index that a store keeps. Memories over a store with `fullText` use it by default.
 *
 * @param store - the `fullText` of an event log
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
 *   Effect.map(EventLog.EventLog, ({ fullText }) =>
 *     fullText === undefined ? null : Recall.inStore(fullText, { eventsPerPart: 500 }),
 *   ),
 * )
 * ```
 */
export const inStore = (
  store: FullTextStore<LogError>,
  { capacity, eventsPerPart = 32, largestPart = 1_024 }: InStoreOptions = {},
): Service => {
  const bound = capacity === undefined ? {} : { capacity }
  const fallback = inProcess(bound)
  const recent = new Recent<Tail>(capacity ?? 4_000_000)

  /** The parts at the end that are merged with a tail, because they are not larger than what comes behind them. */
  const merging = (parts: ReadonlyArray<KnownPart>, tail: Tail): ReadonlyArray<KnownPart> => {
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
  const whole = (session: string, part: KnownPart): Effect.Effect<Part | null, LogError> =>
    Effect.map(store.buckets(session, part.stored.version), (buckets) => {
      const postings = new Map<string, Array<number>>()
      const at = { ...part.stored, session }
      const isSound =
        buckets?.length === part.stored.buckets &&
        buckets.every((bytes, bucket) => decodeBucket(at, { bucket, bytes, from: part.from }, postings))
      return isSound ? { ...part, postings } : null
    })

  /** Stores a tail; `false` if somebody else has changed the index or the session meanwhile. */
  const write = (
    session: string,
    parts: ReadonlyArray<KnownPart>,
    tail: Tail,
  ): Effect.Effect<boolean, LogError> =>
    Effect.gen(function* () {
      const merged = tail.isCleared ? [] : merging(parts, tail)
      const kept = tail.isCleared ? [] : parts.slice(0, parts.length - merged.length)
      const index = new SessionIndex({ ...tail.start, messages: merged[0]?.from ?? tail.from })
      for (const part of merged) {
        const all = yield* whole(session, part)
        if (all === null) return false
        index.append(all)
      }
      index.append(tail)
      const { version, lastId, clears } = tail
      const batchId = batchIdOf({ id: lastId ?? "", version })
      const { from, versions, lengths, postings } = index
      return yield* store.write(
        session,
        {
          rewrites: tail.rewrites,
          end: parts.at(-1)?.stored.version ?? 0,
          after: kept.at(-1)?.stored.version ?? 0,
        },
        encodePart({ session, version, batchId }, { clears, from, versions, lengths, postings }),
      )
    })

  /** The same without a failure, and without a long wait: a write that takes longer goes on by itself. */
  const tryToWrite = (...args: Parameters<typeof write>): Effect.Effect<boolean> =>
    write(...args).pipe(
      Effect.disconnect,
      Effect.timeoutTo({ duration: patience, onSuccess: (done) => done, onTimeout: () => false }),
      Effect.catchAll(({ reason }) =>
        Effect.logDebug("the full-text index was not written").pipe(
          Effect.annotateLogs({ session: args[0], reason }),
          Effect.as(false),
        ),
      ),
    )

  const lookUpStored = (source: Source, lookup: Lookup): Effect.Effect<Postings<IndexError>, IndexError> =>
    Effect.gen(function* () {
      const { session, clears } = source
      const hashes = [...new Set(lookup.terms.map(hashOf))]
      const taken = recent.take(session)
      let tail = taken.index
      let writes = true
      for (let attempt = 0; attempt < mostAttempts;) {
        const stored = (yield* store.load(session, hashes)) ?? { version: 0, rewrites: 0, parts: [] }
        const parts = knownParts(session, stored, lookup.terms)
        if (parts === null) {
          attempt++
          yield* store.drop(session)
          continue
        }
        const start = startAfter(parts)
        const known =
          tail !== null && tail.rewrites === stored.rewrites && isSame(tail.start, start)
            ? tail
            : new Tail(start, stored.rewrites)
        const most = writes ? largestPart : Number.POSITIVE_INFINITY
        const read = yield* readOn(known, source, { newest: stored.version, most })
        tail = null
        if (read === "redacted" || read === "another log") {
          attempt++
          if (read === "another log" && known.start === start && parts.length > 0) yield* store.drop(session)
          continue
        }
        const isDue =
          read === "part" ||
          known.version - start.version >= eventsPerPart ||
          (known.isCleared && parts.length > 0)
        if (isDue && writes) {
          writes = yield* tryToWrite(session, parts, known)
          // What was written is read from there. What was not is still at hand, unless another process has changed it.
          if (!writes) tail = known
          continue
        }
        recent.keep(session, known, taken)
        if (known.clears !== clears) return nothing
        return lookUp(known.isCleared ? [known] : [...parts, known], lookup)
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
