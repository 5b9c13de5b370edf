/**
 * The full-text index in a store, in parts. It is written when a session is searched, and in whole parts behind the appends of a long
 * one: the newest messages are indexed in the process, until there are enough of them for a part of their own. Parts of about one
 * size are merged, so a long session has few.
 *
 * Nothing depends on it. What does not belong to the log is dropped and built again, and if the store fails, the session
 * is indexed in the process.
 */
import { Effect, Stream } from "effect"
import { LogError, type LogPosition, type Projections } from "@memfold/log/EventLog"
import { batchIdOf } from "../event/EventCodec.js"
import type { IndexError, Lookup, Postings, Service, Source } from "./FullTextIndex.js"
import { inProcess } from "./inProcess.js"
import { amount, checkArguments, countFrom } from "../options/OptionGroup.js"
import { Recent } from "./Recent.js"
import { lookUp, nothing } from "./SessionIndex.js"
import { type LoadedIndex, type LoadedPart, startAfter, StoredParts } from "./StoredParts.js"
import { readOn, Tail } from "./Tail.js"

/** How an index in a store is written. */
export interface InStoreOptions {
  /** How many postings the process keeps of messages that are in no part yet; as for {@link inProcess}. */
  readonly capacity?: number
  /** A part is written when this many events have come since the last part; 32 by default. */
  readonly eventsPerPart?: number
  /** The most messages of a part, and of one write; 1,024 by default. The store writes one at one go, which holds the event loop for some tens of milliseconds. */
  readonly largestPart?: number
}

/** How often a search begins again because of a redaction, or of an index that does not belong to the log. */
const mostAttempts = 8

/** An index in a store: its parts there, what the process keeps, and when a part is written. */
interface StoreIndex {
  readonly stored: StoredParts
  readonly recent: Recent<Tail>
  readonly eventsPerPart: number
  readonly largestPart: number
}

/** Where the log is now; `null` if what was read when it was at `head` may have changed since. Appends change nothing. */
const placeNow = (
  { head: newest, events }: Source,
  head: LogPosition,
): Effect.Effect<LogPosition | null, IndexError> =>
  Effect.gen(function* () {
    const now = yield* newest
    if (now === null || now.version <= head.version) return now?.batchId === head.batchId ? now : null
    const range = { fromVersion: head.version, toVersion: now.version }
    const [last, ...added] = yield* Stream.runCollect(events(range))
    const isSame = last !== undefined && batchIdOf(last) === head.batchId
    return isSame && added.every(({ event }) => event._tag !== "MessageRedacted") ? now : null
  })

const isAt = (one: LogPosition, other: LogPosition): boolean =>
  one.version === other.version && one.batchId === other.batchId

/** Asks for no terms, but to have whole parts written. */
const wholeParts: Lookup = { terms: [], before: 0 }

/** Looks terms up in the stored parts and in what is behind them, and writes that as a part if there is enough of it. */
const lookUpStored = (
  { stored, recent, eventsPerPart, largestPart }: StoreIndex,
  source: Source,
  lookup: Lookup,
): Effect.Effect<Postings<IndexError>, IndexError> =>
  Effect.gen(function* () {
    const { session, gaps } = source
    const isAhead = lookup === wholeParts
    const taken = recent.take(session)
    let tail = taken.index
    let writes = true
    let before: { readonly head: LogPosition; readonly parts: ReadonlyArray<LoadedPart> } | null = null
    for (let attempt = 0; attempt < mostAttempts;) {
      const head = yield* source.head
      if (head === null) return nothing
      // As long as nothing is appended or erased, the parts that were loaded are as they were.
      const known: ReadonlyArray<LoadedPart> = before !== null && isAt(before.head, head) ? before.parts : []
      const loaded: LoadedIndex | null = yield* stored.load(source, lookup.terms, known)
      before = loaded === null ? null : { head, parts: loaded.parts }
      if (loaded === null) {
        attempt++
        yield* stored.drop(session)
        continue
      }
      const { parts, others } = loaded
      if (lookup.writtenOnly === true) return lookUp(parts, lookup)
      if (isAhead && !writes) return nothing
      const start = startAfter(parts, gaps)
      const current: Tail = tail?.fits(start, gaps) === true ? tail : new Tail(start, head.version, gaps)
      current.gaps = gaps
      const end = yield* readOn(current, source, writes ? largestPart : Number.POSITIVE_INFINITY)
      tail = null
      if (end === "redacted" || end === "another log") {
        attempt++
        if (end === "another log" && current.start === start && parts.length > 0) yield* stored.drop(session)
        continue
      }
      // A part of a tail that was begun earlier may have been redacted since: the redaction stands behind it.
      if (end === "part" && current.readAt !== head.version) continue
      if (isAhead && end === "all") return nothing
      const isDue = end === "part" || current.version - start.version >= eventsPerPart || others.length > 0
      if (isDue && writes) {
        // What was written is read from the store. A tail that could not be written is still at hand.
        const written = yield* stored.write(session, loaded, current, placeNow(source, head))
        if (written === "moved") attempt++
        writes = written === "written" || (written === "moved" && 2 * attempt < mostAttempts)
        if (written === "failed") tail = current
        continue
      }
      recent.keep(session, current, taken)
      return lookUp([...parts, current], lookup)
    }
    return yield* new LogError({
      operation: "recall",
      session,
      reason: "the stored full-text index does not belong to the log, again and again",
    })
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
  { capacity = 4_000_000, eventsPerPart = 32, largestPart = 1_024 }: InStoreOptions = {},
): Service => {
  checkArguments(
    "Recall.inStore",
    { capacity: amount, eventsPerPart: countFrom(1), largestPart: countFrom(1) },
    { capacity, eventsPerPart, largestPart },
  )
  const fallback = inProcess({ capacity })
  const recent = new Recent<Tail>(capacity)
  const index: StoreIndex = {
    stored: new StoredParts(store, largestPart),
    recent,
    eventsPerPart,
    largestPart,
  }
  return {
    lookUp: (source, lookup) =>
      lookUpStored(index, source, lookup).pipe(
        Effect.catchTag("LogError", ({ reason }) =>
          Effect.logDebug("the stored full-text index is not used").pipe(
            Effect.annotateLogs({ session: source.session, reason }),
            Effect.zipRight(fallback.lookUp(source, lookup)),
          ),
        ),
      ),
    behind: (source) => index.stored.behind(source),
    // A store in memory ends with the process, and a search would find the messages there as fast.
    ...(store.endsWithProcess === true
      ? {}
      : { keepUp: (source) => Effect.asVoid(lookUpStored(index, source, wholeParts)) }),
    forget: (session) =>
      Effect.zipRight(
        Effect.sync(() => recent.forget(session)),
        fallback.forget(session),
      ),
  }
}
