/**
 * Finds messages by their meaning, if there is an embedder. Nothing depends on it: when the embedder fails or takes too long,
 * words alone decide, and it is logged and counted (law L8).
 */
import { Cause, Clock, Duration, Effect, Option, type Scope, Stream } from "effect"
import type { Service as TokenCounter } from "@memfold/message/TokenCounter"
import type { SessionError, Sessions } from "../shell/Sessions.js"
import type { Spend } from "../shell/Spend.js"
import type { Service as Embedder } from "./Embedder.js"
import { type Embedding, makeEmbedding } from "./Embedding.js"
import type { Postings, Source } from "./FullTextIndex.js"
import { Intake } from "./Intake.js"
import { whyFailed } from "../shell/logBackgroundFailure.js"
import { Newest } from "@memfold/log/Newest"
import { spaceOf } from "./pieces.js"
import type { NearMessage } from "../search/fuse.js"
import { forgetErased, type TakeInError } from "./takeIn.js"
import type { Near, Service as VectorIndex, VectorIndexError } from "@memfold/log/VectorIndex"

/** How many pieces of a session are looked at: further pieces are hardly nearer than others. */
const mostNear = 200

/** The similarity from which a message is found that words do not find, unless the embedder says otherwise. */
const usualSimilarity = 0.5

/** How long a context waits at most: that is half of what it waits for recall, so there is time for words. */
const patienceOfContext = Duration.toMillis("5 seconds")

/** How long a search that has waited looks how much is left, in milliseconds. */
const patienceToCount = 250

/** How many sessions are looked up at a time. */
const atOnce = 8

/** For how many sessions it is kept that words alone decided. */
const keptQuestions = 1_000

/** A session to look for near messages in, and what its full-text index answered. */
export interface Target {
  readonly source: Source
  readonly postings: Pick<Postings<SessionError>, "lengths" | "versions">
}

export interface Found {
  /** In any order; none where words alone decide. */
  readonly messages: ReadonlyArray<NearMessage>
  /** How many messages have no vectors yet, which are made behind the search. */
  readonly unsearched: number
}

export interface Meaning {
  readonly isOn: boolean
  /**
   * The messages of each session that are near to the query.
   *
   * @param question - what an automatic search is for: if words alone decided for it once, words alone decide again, so
   *   that all contexts of one turn recall equal messages (law L13)
   */
  readonly near: (
    query: string,
    targets: ReadonlyArray<Target>,
    question?: string,
  ) => Effect.Effect<ReadonlyArray<Found>>
  /**
   * Forgets a redacted message by its version, and everything else that the log of the session does not have any more
   * (law L15): the vectors may come from an earlier log, in which the versions named other messages.
   */
  readonly forgetMessage: (
    session: string,
    version: number,
  ) => Effect.Effect<void, SessionError | VectorIndexError>
  /** Forgets a session: it was deleted or cleared. */
  readonly forgetSession: (session: string) => Effect.Effect<void, VectorIndexError>
  /** Forgets what was redacted, cleared or deleted while nobody could tell the index, in the sessions that it has. */
  readonly forgetErased: Effect.Effect<void>
}

export interface MeaningOptions {
  readonly sessions: Pick<Sessions, "events">
  readonly embedder: Embedder | null
  /** `null` if there are no vectors, and none are made. */
  readonly index: VectorIndex | null
  readonly spend: Spend
  readonly counter: TokenCounter
}

const nearestOfEach = (near: ReadonlyArray<Near>): ReadonlyArray<Near> => {
  const found = new Map<number, Near>()
  for (const one of near) {
    const known = found.get(one.index)
    if (known === undefined || one.similarity > known.similarity) found.set(one.index, one)
  }
  return [...found.values()]
}

const rounded = (similarity: number): number => Math.round(similarity * 1e4) / 1e4

interface Parts {
  readonly embedder: Embedder
  readonly index: VectorIndex
  readonly intake: Intake
}

const versionAt = ({ postings }: Target, index: number) =>
  Effect.map(postings.versions([index]), (found) => found.get(index) ?? Number.POSITIVE_INFINITY)

/** The version up to which the messages of a session have vectors. */
const reachedIn = ({ embedder, index }: Parts, session: string) =>
  Effect.map(index.place(session), (place) => (place?.space === spaceOf(embedder) ? place.version : 0))

/** How many messages of a session have no vectors: the newest ones. */
const leftIn = (parts: Parts, target: Target) =>
  Effect.gen(function* () {
    const reached = yield* reachedIn(parts, target.source.session)
    const messages = target.postings.lengths.length
    let [low, high] = [0, messages]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((yield* versionAt(target, middle)) <= reached) low = middle + 1
      else high = middle
    }
    return messages - low
  })

/** The messages of a session that are near to a vector; `null` if the index has not all of them, and cannot have them now. */
const nearIn = (parts: Parts, vector: Float32Array, target: Target) =>
  Effect.gen(function* () {
    const { embedder, index, intake } = parts
    const { source, postings } = target
    const { session } = source
    const { minSimilarity = usualSimilarity } = embedder
    const space = spaceOf(embedder)
    const before = postings.lengths.length
    yield* forgetErased(index, source)
    if (before === 0) return []
    // In the middle of a turn, the messages before its question are all there, whatever becomes of the embedder.
    if ((yield* reachedIn(parts, session)) < (yield* versionAt(target, before - 1))) {
      if (yield* intake.isPaused(session)) return null
      yield* intake.takeIn(source)
    }
    const pieces = yield* index.nearest(session, { space, vector, before, limit: mostNear })
    const near = nearestOfEach(pieces)
    const versions = yield* postings.versions(near.map((one) => one.index))
    yield* Effect.logDebug("searched by meaning").pipe(
      Effect.annotateLogs({ session, highest: near[0]?.similarity ?? "none" }),
    )
    return near
      .filter((one) => versions.get(one.index) === one.version)
      .map(({ index, offset, similarity }) => ({
        index,
        offset,
        similarity: rounded(similarity),
        isNear: rounded(similarity) >= minSimilarity,
      }))
  })

/** What an effect finds before a time, in milliseconds since the epoch; `null` if it fails. Why, and that it takes longer, is logged. */
const until =
  (deadline: number) =>
  <A>(
    session: string,
    effect: Effect.Effect<A, TakeInError | SessionError>,
  ): Effect.Effect<A | null | "late"> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.timeoutOption(effect, Math.max(deadline - now, 0)),
    ).pipe(
      Effect.tap(
        Option.match({
          onNone: () => warn(inWords, session, "the embedder takes longer; it goes on"),
          onSome: () => Effect.void,
        }),
      ),
      Effect.map(Option.getOrElse(() => "late" as const)),
      unlessFailed((why) => Effect.as(warn(inWords, session, why), null)),
    )

const makeNear = (parts: Parts, embedding: Embedding): Meaning["near"] => {
  const { embedder } = parts
  /** The last question of each session for which words alone decided. */
  const byWords = new Newest<string>(keptQuestions)
  return (query, targets, question) =>
    Effect.gen(function* () {
      const nobody = targets.map((): Found => ({ messages: [], unsearched: 0 }))
      const session = targets.length === 1 ? (targets[0]?.source.session ?? "") : ""
      const text = query.trim().slice(0, embedder.maxCharacters ?? 2_000)
      if (text === "" || targets.length === 0) return nobody
      if (question !== undefined && byWords.get(session) === question) return nobody
      const wait = Duration.toMillis(embedder.timeout ?? "5 seconds")
      const patience = question === undefined ? wait : Math.min(wait, patienceOfContext)
      const deadline = (yield* Clock.currentTimeMillis) + patience
      const vector = yield* until(deadline)(session, embedding.query(session === "" ? null : session, text))
      const found =
        vector === null || vector === "late"
          ? targets.map(() => null)
          : yield* Effect.forEach(
              targets,
              (target) => until(deadline)(target.source.session, nearIn(parts, vector, target)),
              { concurrency: atOnce },
            )
      const inTime = found.every((one) => one !== null && one !== "late")
      if (question !== undefined && !inTime) byWords.set(session, question)
      const left = until(deadline + patienceToCount)
      return yield* Effect.forEach(
        found,
        (messages, at) => {
          if (messages !== "late") return Effect.succeed({ messages: messages ?? [], unsearched: 0 })
          const target = targets[at]!
          return Effect.map(left(target.source.session, leftIn(parts, target)), (unsearched) => ({
            messages: [],
            unsearched: typeof unsearched === "number" ? unsearched : target.postings.lengths.length,
          }))
        },
        { concurrency: atOnce },
      )
    })
}

/** Makes what forgets vectors, with an embedder or without one. */
const makeForgetting = (
  index: VectorIndex | null,
  sessions: MeaningOptions["sessions"],
): Pick<Meaning, "forgetMessage" | "forgetSession" | "forgetErased"> => {
  if (index === null)
    return { forgetMessage: () => Effect.void, forgetSession: () => Effect.void, forgetErased: Effect.void }
  const forgetErasedOf = (session: string) =>
    forgetErased(index, { session, events: (range) => sessions.events(session, range) })
  return {
    forgetMessage: (session, version) =>
      Effect.zipRight(index.forget(session, version), forgetErasedOf(session)),
    forgetSession: (session) => index.forget(session),
    forgetErased: index.sessions.pipe(
      Stream.runForEach((session) =>
        forgetErasedOf(session).pipe(unlessFailed((why) => warn(left, session, why))),
      ),
      unlessFailed((why) => warn(left, "", why)),
    ),
  }
}

/** Makes what finds messages by meaning. What is embedded in the background ends with the scope. */
export const make = ({
  sessions,
  embedder,
  index,
  spend,
  counter,
}: MeaningOptions): Effect.Effect<Meaning, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const forgetting = makeForgetting(index, sessions)
    if (embedder === null || index === null)
      return { isOn: false, near: () => Effect.succeed([]), ...forgetting }
    const embedding = makeEmbedding(embedder, { spend, counter })
    const intake = new Intake(index, embedder, embedding, scope)
    return { isOn: true, near: makeNear({ embedder, index, intake }, embedding), ...forgetting }
  })

const inWords = "words alone decided a search"
const left = "vectors of erased messages may be left"

const warn = (what: string, session: string, why: string) =>
  Effect.logWarning(what).pipe(Effect.annotateLogs({ session, why }))

/** What comes instead of a failure, from its reason. */
const unlessFailed =
  <B>(instead: (why: string) => Effect.Effect<B>) =>
  <A>(effect: Effect.Effect<A, Error>): Effect.Effect<A | B> =>
    Effect.catchAllCause(effect, (cause) =>
      Cause.isInterruptedOnly(cause) ? Effect.interrupt : instead(whyFailed(cause)),
    )
