/** Recall over the sessions of an owner: their messages are ranked together, within one budget. */
import { Data, Effect } from "effect"
import { eventId } from "../event/EventCodec.js"
import type { SessionInfo } from "@memfold/log/EventLog"
import { after, breather, rest } from "@memfold/log/breathe"
import { oneLine } from "../summary/marks.js"
import { isUnreadable } from "../shell/openSession.js"
import type { SessionError } from "../shell/Sessions.js"
import { candidatesInTime } from "./candidates.js"
import { choose, fewestTokens, type Searched } from "./choose.js"
import type { Postings, Source } from "./FullTextIndex.js"
import { build } from "./inProcess.js"
import type { Indexed } from "./OwnedIndex.js"
import { mostAtOnce } from "./Upkeep.js"
import { type Reader, readerOf, sourceOf } from "./readLog.js"
import { nothing, type Reading, type Recalled, type RecallRequest } from "./recallMessages.js"
import { asks } from "../search/marks.js"
import { rankedTerms } from "../search/rank.js"
import { queryTermsOf } from "../search/terms.js"
import type { RecalledMessage } from "./transcript.js"
import { speakersIn } from "./whoSaid.js"

/** A message that was found in one of the sessions of an owner. */
export interface OwnedRecalledMessage extends RecalledMessage {
  readonly session: string
}

/** The messages that were found in the sessions of an owner. The messages of a session stand together, in the order of its
 * conversation. */
export interface OwnedRecalled extends Omit<Recalled, "messages" | "unsearched"> {
  readonly messages: ReadonlyArray<OwnedRecalledMessage>
  /**
   * How many sessions were not searched, not as a whole, or not by meaning, since their indexes or vectors are still being made. Search
   * again later. Left out if all were.
   */
  readonly unsearchedSessions?: number
  /** The sessions that could not be searched: an event is damaged, or they were erased, or are sealed or archived out of reach. */
  readonly unreadable: ReadonlyArray<string>
}

/** What is searched for, and whose sessions. */
type OwnedRequest = { readonly owner: string } & Pick<RecallRequest, "query" | "tokens" | "time">

/** The line above the messages of a session. A title with line breaks must not look like messages. */
const headingOf = (session: string, title: string | null): string =>
  oneLine(`# Session ${session}${title === null ? "" : `: ${title}`}`)

/** How many sessions are looked up at a time: behind a network, each session takes a while. */
const atOnce = 8

/** How many sessions are taken in at a time while searches answer: more would hold them up. */
const behindSearches = 2

/** Sessions with more events are looked up in the index of the store: to index one anew after each message would take too long. */
const mostEvents = 2_000

/** A session that the list gives to an owner, and the log does not. */
class NotOwned extends Data.TaggedError("NotOwned")<{ readonly session: string }> {}

/**
 * Searches several sessions, and ranks their messages together. A session with a damaged event is left out.
 *
 * @param listed - the sessions; of equal messages, the messages of the first session come first
 * @param owner - to whom a session must belong, or it is left out
 */
export const recallOwned = (
  reading: Reading,
  listed: ReadonlyArray<SessionInfo>,
  request: OwnedRequest,
): Effect.Effect<OwnedRecalled, SessionError> => {
  /** The search without a session that cannot be read. */
  const without = (
    error: SessionError,
    session: string | undefined,
  ): Effect.Effect<OwnedRecalled, SessionError> => {
    const others = listed.filter((one) => one.session !== session)
    if (others.length === listed.length) return Effect.fail(error)
    return Effect.map(recallOwned(reading, others, request), ({ unreadable, ...found }) => ({
      ...found,
      unreadable: listed.flatMap((one) =>
        one.session === session || unreadable.includes(one.session) ? [one.session] : [],
      ),
    }))
  }
  return search(reading, listed, request).pipe(
    // A stored index can name messages that the log has lost: the damage is known only when they are read.
    Effect.catchTags({
      DamagedEvent: (damage) => without(damage, damage.session),
      LogError: (error) => {
        // With one session of an owner, the others were erased: the index in the process does not know it.
        if (isUnreadable(error)) for (const { session } of listed) reading.owned.forget(session)
        return without(error, isUnreadable(error) ? error.session : undefined)
      },
    }),
    Effect.catchTag("NotOwned", ({ session }) => {
      reading.owned.forget(session)
      return recallOwned(
        reading,
        listed.filter((one) => one.session !== session),
        request,
      )
    }),
  )
}

interface LookedUp {
  readonly source: Source
  readonly postings: Postings<SessionError>
  /** How its messages are read. Of thousands of sessions, a few have messages that are read. */
  readonly open: () => Searched<SessionError | NotOwned>
}

/** Takes a session into the index in the process. */
const takeIn = ({ sessions, owned }: Reading, info: SessionInfo): Effect.Effect<void, SessionError> =>
  Effect.gen(function* () {
    const { forgets } = owned
    const state = yield* sessions.load(info.session)
    const index = yield* build(sourceOf(sessions, state))
    // What was redacted meanwhile may be in it.
    if (owned.forgets !== forgets) return
    // Whoever has written since the list was read is looked up elsewhere, and taken in by the next search.
    if (index.version !== info.version || !owned.put(info, state.description.owner, index)) owned.refuse(info)
  }).pipe(Effect.tapError((error) => Effect.sync(() => isUnreadable(error) && owned.refuse(info))))

/** The sessions that the index in the process may have, and has not as they are now. */
const missingOf = ({ owned }: Reading, listed: ReadonlyArray<SessionInfo>): ReadonlyArray<SessionInfo> =>
  listed.filter((info) => info.version <= mostEvents && !owned.has(info) && !owned.isRefused(info))

/** Does something for each session, and notes the damaged sessions. */
type ForEach = <A>(
  list: ReadonlyArray<SessionInfo>,
  work: (info: SessionInfo) => Effect.Effect<A, SessionError>,
  concurrency?: number,
) => Effect.Effect<ReadonlyArray<A | null>, SessionError>

/**
 * Takes sessions into the index in the process, as far as they are new to it, or have changed. Where they are many, it goes on behind
 * the search.
 *
 * @returns the sessions that are not in it by then
 */
const takeAllIn = (
  reading: Reading,
  owner: string,
  listed: ReadonlyArray<SessionInfo>,
  forEach: ForEach,
): Effect.Effect<ReadonlyArray<SessionInfo>, SessionError> =>
  Effect.gen(function* () {
    const missing = missingOf(reading, listed)
    const isLong = missing.reduce((sum, { version }) => sum + version, 0) > mostAtOnce
    const work = forEach(missing, (info) => takeIn(reading, info), isLong ? behindSearches : atOnce)
    if (isLong)
      return (yield* reading.upkeep.takeIn(owner, Effect.asVoid(work))) ? [] : missingOf(reading, listed)
    yield* work
    return []
  })

const search = (
  reading: Reading,
  listed: ReadonlyArray<SessionInfo>,
  { owner, query, tokens, time = null }: OwnedRequest,
): Effect.Effect<OwnedRecalled, SessionError | NotOwned> =>
  Effect.gen(function* () {
    const { sessions, upkeep, meaning, counter, owned, reranker } = reading
    // The sessions were listed right before.
    yield* rest
    const terms = queryTermsOf(query)
    const speakers = speakersIn(query, terms)
    const marks = [asks, ...speakers]
    const damaged = new Set<string>()
    /** The sessions that are not searched as a whole. */
    const partial = new Set<string>()
    const isOfTimeAlone = terms.length === 0 && time?.only === true
    if ((terms.length === 0 && !meaning.isOn && !isOfTimeAlone) || tokens < fewestTokens)
      return { ...nothing, messages: [], unreadable: [] }
    yield* rest
    const breathe = breather(1)
    const forEach: ForEach = (list, work, concurrency = atOnce) =>
      Effect.forEach(
        list,
        (info) =>
          after(
            breathe(),
            Effect.catchIf(work(info), isUnreadable, () =>
              Effect.sync(() => {
                damaged.add(info.session)
                return null
              }),
            ),
          ),
        { concurrency },
      )
    const ownState = (session: string) =>
      Effect.filterOrFail(
        sessions.load(session),
        // The log is the truth: the list may be older, or changed by another program.
        ({ description }) => description.owner === owner,
        () => new NotOwned({ session }),
      )
    /** A session in the index of the store. */
    const lookUp = ({ session, title }: SessionInfo): Effect.Effect<LookedUp | null, SessionError> =>
      Effect.gen(function* () {
        const state = yield* ownState(session)
        const source = sourceOf(sessions, state)
        const before = state.total
        const postings = yield* upkeep.lookUp(source, { terms: [...terms, ...marks], before })
        if (postings.lengths.length < before) partial.add(session)
        const reader = readerOf(sessions, state)
        const heading = headingOf(session, state.description.title ?? title ?? null)
        return { source, postings, open: () => ({ reader, postings, before, without: () => false, heading }) }
      }).pipe(Effect.catchTag("NotOwned", () => Effect.succeed(null)))
    /** A session in the index of the process. Its log is read only if it has messages that are chosen. */
    const ofProcess = ({ session, version, title }: SessionInfo, indexed: Indexed): LookedUp => {
      const { gaps, lastId, owner: ownerThen, before, postings } = indexed
      const source = sourceOf(sessions, { session, version, gaps })
      let reader: Reader | null = null
      const read: Reader<SessionError | NotOwned> = (from, to) =>
        Effect.gen(function* () {
          if (reader === null) {
            const head = yield* source.head
            // A session that has no newer event is what it was when it was indexed, and need not be opened.
            const isSame = ownerThen === owner && head !== null && eventId(head) === lastId
            reader = readerOf(sessions, isSame ? { session, version, gaps } : yield* ownState(session))
          }
          return yield* reader(from, to)
        })
      const open = () => ({
        reader: read,
        postings,
        before,
        without: () => false,
        heading: headingOf(session, title ?? null),
      })
      return { source, postings, open }
    }
    /** The terms of the query that count in these sessions: what is found of the others would only have to be kept. */
    const rankedIn = (names: ReadonlyArray<string>, others: ReadonlyArray<LookedUp>) =>
      Effect.map(owned.counts(names, terms), (counts) => {
        const inOthers = (term: string) =>
          others.reduce((sum, { postings }) => sum + (postings.terms.get(term)?.length ?? 0) / 2, 0)
        const ranked = rankedTerms(terms, (term) => (counts.get(term) ?? 0) + inOthers(term))
        return ranked.length === 0 ? terms : ranked
      })
    for (const { session } of yield* takeAllIn(reading, owner, listed, forEach)) partial.add(session)
    const sound = listed.filter(({ session }) => !damaged.has(session) && !partial.has(session))
    const current = sound.filter((info) => owned.has(info))
    const names = current.map(({ session }) => session)
    const elsewhere = new Map<string, LookedUp>()
    const lookUpIn = (list: ReadonlyArray<SessionInfo>) =>
      forEach(list, (info) =>
        Effect.map(lookUp(info), (one) => void (one === null || elsewhere.set(info.session, one))),
      )
    const inIndex = new Set(names)
    yield* lookUpIn(sound.filter(({ session }) => !inIndex.has(session)))
    const ranked = yield* rankedIn(names, [...elsewhere.values()])
    const indexed = yield* owned.lookUp(names, [...ranked, ...marks])
    // Meanwhile, the index may have dropped sessions.
    yield* lookUpIn(current.filter(({ session }) => !indexed.has(session)))
    yield* rest
    const known = sound.flatMap((info) => {
      const found = indexed.get(info.session)
      return (found === undefined ? elsewhere.get(info.session) : ofProcess(info, found)) ?? []
    })
    yield* rest
    const near = yield* candidatesInTime(meaning, { query, terms: ranked, speakers, time }, known)
    for (const [at, left] of near.unsearched.entries()) if (left > 0) partial.add(known[at]!.source.session)
    yield* rest
    const open = (source: number) => known[source]!.open()
    const { found, ...shown } = yield* choose(counter, open, near.candidates, {
      terms,
      tokens,
      query,
      reranker: isOfTimeAlone ? null : reranker,
    })
    const messages = found.flatMap(([source, list]) =>
      list.map((one) => ({ session: known[source]!.source.session, ...one })),
    )
    const unreadable = listed.flatMap(({ session }) => (damaged.has(session) ? [session] : []))
    return {
      messages,
      ...shown,
      unreadable,
      ...(partial.size === 0 ? {} : { unsearchedSessions: partial.size }),
    }
  })
