/**
 * The full-text index in the process: built from the log when a session is first searched, and extended as the log grows.
 * The indexes of all sessions together are bounded; the least recently searched ones are dropped and built again.
 */
import { Effect, Stream } from "effect"
import type { RecordedEvent } from "../event/EventCodec.js"
import type { IndexError, Lookup, Posting, Postings, Service, Source } from "./FullTextIndex.js"
import { messageTerms } from "./searchText.js"

/** Counts how often each term occurs. */
export const countTerms = (terms: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}

/** The index of one session. It only grows: what changes the past makes a new one. */
class SessionIndex {
  /** The last event in it; an event with another id at this version is of another log. */
  version = 0
  lastId: string | null = null
  clears = 0
  /** Postings of all terms together. */
  size = 0
  /** How many terms the messages up to each one have together. */
  private lengths: Array<number> = []
  /** The version of the event of each message. */
  private versions: Array<number> = []
  /** By term: message index and count, one after the other. */
  private postings = new Map<string, Array<number>>()

  add({ id, version, event }: RecordedEvent): void {
    if (version !== this.version + 1) return
    this.version = version
    this.lastId = id
    if (event._tag === "SessionCleared") {
      this.clears++
      this.size = 0
      this.lengths = []
      this.versions = []
      this.postings = new Map()
    } else if (event._tag === "MessageAppended") {
      const terms = messageTerms(event.message)
      const index = this.lengths.length
      this.versions.push(version)
      this.lengths.push((this.lengths.at(-1) ?? 0) + terms.length)
      for (const [term, count] of countTerms(terms)) {
        const list = this.postings.get(term)
        if (list === undefined) this.postings.set(term, [index, count])
        else list.push(index, count)
        this.size++
      }
    }
  }

  lookUp({ terms, before }: Lookup): Postings<never> {
    const messages = Math.min(Math.max(before, 0), this.lengths.length)
    const found = new Map<string, ReadonlyArray<Posting>>()
    for (const term of terms) {
      const list = this.postings.get(term) ?? []
      const postings: Array<Posting> = []
      for (let at = 0; at < list.length; at += 2) {
        const index = list[at]!
        if (index >= messages) break
        const length = this.lengths[index]! - (this.lengths[index - 1] ?? 0)
        postings.push({ index, count: list[at + 1]!, length })
      }
      if (postings.length > 0) found.set(term, postings)
    }
    return {
      messages,
      length: this.lengths[messages - 1] ?? 0,
      terms: found,
      versions: (indexes) => {
        const { versions } = this
        return Effect.sync(
          () => new Map(indexes.flatMap((index) => (index in versions ? [[index, versions[index]!]] : []))),
        )
      },
    }
  }
}

/** Nothing: the session was cleared since, or is cleared at this moment. */
const nothing: Postings<never> = {
  messages: 0,
  length: 0,
  terms: new Map(),
  versions: () => Effect.succeed(new Map()),
}

/** Builds the index of a session from its first event. */
const build = ({ version, events }: Source): Effect.Effect<SessionIndex, IndexError> =>
  Effect.gen(function* () {
    for (;;) {
      const newest = yield* version
      const index = new SessionIndex()
      let redaction = 0
      yield* Stream.runForEach(events(), (recorded) =>
        Effect.sync(() => {
          if (recorded.event._tag === "MessageRedacted") redaction = recorded.version
          index.add(recorded)
        }),
      )
      // A redaction that came in between has rewritten events that may have been read before (law L15).
      if (redaction <= newest) return index
    }
  })

/** Extends an index by the events after it; `null` if it has to be built again: the past has changed. */
const extend = (index: SessionIndex, { events }: Source): Effect.Effect<SessionIndex | null, IndexError> =>
  Effect.gen(function* () {
    const from = index.version
    const lastId = index.lastId
    let same = lastId === null
    let redacted = false
    yield* Stream.runForEach(events({ fromVersion: Math.max(from, 1) }), (recorded) =>
      Effect.sync(() => {
        if (recorded.version === from) same = recorded.id === lastId
        else if (recorded.event._tag === "MessageRedacted") redacted = true
        if (same && !redacted) index.add(recorded)
      }),
    )
    return same && !redacted ? index : null
  })

/**
 * Makes an index in the process.
 *
 * @param options - `capacity`: how many postings to keep, of all sessions together: a message has one for each different
 *   term in it, some 30 on average. 4,000,000 by default, which take about 100 MB. A larger session is searched all the
 *   same; its index is built again for each search.
 *
 * @example
 * ```ts
 * import { FullTextIndex, Recall } from "@memfold/core"
 * import { Layer } from "effect"
 *
 * export const small = Layer.sync(FullTextIndex.FullTextIndex, () => Recall.inProcess({ capacity: 500_000 }))
 * ```
 */
export const inProcess = ({ capacity = 4_000_000 } = {}): Service => {
  const indexes = new Map<string, SessionIndex>()
  let size = 0
  /** How often something was forgotten: what was read before may have redacted words, and is not kept. */
  let forgets = 0

  const drop = (session: string): void => {
    size -= indexes.get(session)?.size ?? 0
    indexes.delete(session)
  }
  const keep = (session: string, index: SessionIndex): void => {
    drop(session)
    indexes.set(session, index)
    size += index.size
    for (const oldest of indexes.keys()) {
      if (size <= capacity) break
      drop(oldest)
    }
  }

  return {
    lookUp: (source, lookup) =>
      Effect.gen(function* () {
        const { session, clears } = source
        const before = forgets
        const kept = indexes.get(session)
        // While it grows, it is not kept: its size changes.
        drop(session)
        const extended = kept === undefined ? null : yield* extend(kept, source)
        const index = extended ?? (yield* build(source))
        if (forgets === before) keep(session, index)
        return index.clears === clears ? index.lookUp(lookup) : nothing
      }),
    forget: (session) =>
      Effect.sync(() => {
        forgets++
        drop(session)
      }),
  }
}
