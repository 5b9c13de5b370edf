/**
 * Finds messages by their meaning, if there is an embedder. Nothing depends on it: when the embedder fails or takes too long,
 * words alone decide, and it is logged and counted (law L8).
 */
import { Cause, Clock, Deferred, Duration, Effect, Option, type Scope, Stream } from "effect"
import type { ReadOptions } from "../log/EventLog.js"
import * as metrics from "../observe/metrics.js"
import type { SessionError, Sessions } from "../shell/Sessions.js"
import { EmbedderError, type EmbedOptions, type Service as Embedder } from "./Embedder.js"
import type { Postings, Source } from "./FullTextIndex.js"
import { spaceOf } from "./pieces.js"
import type { NearMessage } from "../search/rank.js"
import { forgetErased, takeIn, type TakeInError } from "./takeIn.js"
import type { Near, Service as VectorIndex, VectorIndexError } from "./VectorIndex.js"

/** How many pieces of a session are looked at: further pieces are hardly nearer than others. */
const mostNear = 200

/** The similarity from which a message is found, unless the embedder says otherwise. */
const usualSimilarity = 0.5

/** How many texts one call embeds, unless the embedder says otherwise. */
const usualTexts = 64

/** How long one call of the embedder may take. A search does not wait that long, and what it began goes on. */
const longestCall = "1 minute"

/** How long after a failure nobody asks the embedder, or writes into the index of that session. */
const pause = Duration.toMillis("30 seconds")

/** How many vectors of queries are kept. */
const keptQueries = 100

/** How long a context waits at most: that is half of what it waits for recall, so there is time for words. */
const patienceOfContext = Duration.toMillis("5 seconds")

/** How many sessions are looked up at a time. */
const atOnce = 8

/** For how many sessions it is kept that words alone decided. */
const keptQuestions = 1_000

/** A session to look for near messages in, and what its full-text index answered. */
export interface Target {
  readonly source: Source
  readonly postings: Pick<Postings<SessionError>, "lengths" | "versions">
}

/** Finds messages by meaning. */
export interface Meaning {
  /** Whether there is an embedder. */
  readonly isOn: boolean
  /**
   * The messages of each session that are near to the query, in any order; none where words alone decide.
   *
   * @param question - what an automatic search is for: if words alone decided for it once, they do so again, so that the
   *   contexts of one turn recall the same (law L13)
   */
  readonly near: (
    query: string,
    targets: ReadonlyArray<Target>,
    question?: string,
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<NearMessage>>>
  /**
   * Forgets a redacted message by its version, and everything else that the log of the session does not have any more
   * (law L15): the vectors may be those of an earlier log, in which the versions named other messages.
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

/** What finding by meaning needs. */
export interface MeaningOptions {
  readonly sessions: Pick<Sessions, "events">
  readonly embedder: Embedder | null
  /** `null` if there are no vectors, and none are made. */
  readonly index: VectorIndex | null
}

/** A map that keeps the entries that were set last. */
const keepNewest = <Value>(map: Map<string, Value>, key: string, value: Value, most: number): void => {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= most) break
    map.delete(oldest)
  }
}

/** A vector of length 1; `null` if it is none. */
const normalized = (given: unknown, dimensions: number): Float32Array | null => {
  if (!Array.isArray(given) && !(given instanceof Float32Array)) return null
  const vector = Float32Array.from(given as ReadonlyArray<number>)
  let sum = 0
  for (const value of vector) sum += value * value
  const length = Math.sqrt(sum)
  if (vector.length !== dimensions || !Number.isFinite(length) || length === 0) return null
  return vector.map((value) => value / length)
}

/** The nearest piece of each message. */
const nearestOfEach = (near: ReadonlyArray<Near>): ReadonlyArray<Near> => {
  const found = new Map<number, Near>()
  for (const one of near) {
    const known = found.get(one.index)
    if (known === undefined || one.similarity > known.similarity) found.set(one.index, one)
  }
  return [...found.values()]
}

const rounded = (similarity: number): number => Math.round(similarity * 1e4) / 1e4

/** Makes what finds messages by meaning. What is embedded in the background ends with the scope. */
export const make = ({
  sessions,
  embedder,
  index,
}: MeaningOptions): Effect.Effect<Meaning, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const logOf = (session: string) => ({
      session,
      events: (range?: ReadOptions) => sessions.events(session, range),
    })
    const forgetting: Pick<Meaning, "forgetMessage" | "forgetSession" | "forgetErased"> =
      index === null
        ? { forgetMessage: () => Effect.void, forgetSession: () => Effect.void, forgetErased: Effect.void }
        : {
            forgetMessage: (session, version) =>
              Effect.zipRight(index.forget(session, version), forgetErased(index, logOf(session))),
            forgetSession: (session) => index.forget(session),
            forgetErased: index.sessions.pipe(
              Stream.runForEach((session) =>
                forgetErased(index, logOf(session)).pipe(unlessFailed((why) => warn(left, session, why))),
              ),
              unlessFailed((why) => warn(left, "", why)),
            ),
          }
    if (embedder === null || index === null)
      return { isOn: false, near: () => Effect.succeed([]), ...forgetting }

    const space = spaceOf(embedder)
    const { maxTexts = usualTexts, minSimilarity = usualSimilarity } = embedder
    const queries = new Map<string, Float32Array>()
    const byWords = new Map<string, string>()
    /** What is being taken in at this moment, by session. */
    const underWay = new Map<string, Deferred.Deferred<void, TakeInError>>()
    /** Until when nobody tries again: the embedder, and the indexes of sessions. */
    const pausedUntil = new Map<string | null, number>()

    const failed = (reason: EmbedderError["reason"], detail: string) =>
      new EmbedderError({ embedder: embedder.name, reason, detail })

    const paused = (what: string | null) =>
      Effect.map(Clock.currentTimeMillis, (now) => void pausedUntil.set(what, now + pause))
    const isPaused = (what: string | null) =>
      Effect.map(Clock.currentTimeMillis, (now) => (pausedUntil.get(what) ?? 0) > now)

    const call = (texts: ReadonlyArray<string>, options: EmbedOptions) =>
      metrics.count(metrics.embedderCalls).pipe(
        Effect.zipRight(Effect.suspend(() => embedder.embed(texts, options))),
        Effect.catchAllDefect(() => failed("unavailable", "it threw")),
        Effect.timeoutFail({
          duration: longestCall,
          onTimeout: () => failed("timeout", `it did not answer within ${longestCall}`),
        }),
        Effect.flatMap((answer: unknown) => {
          const vectors = Array.isArray(answer)
            ? answer.map((one) => normalized(one, embedder.dimensions))
            : []
          const sound = vectors.filter((vector) => vector !== null)
          return sound.length === texts.length && vectors.length === texts.length
            ? Effect.succeed(sound)
            : failed(
                "malformed",
                `it must answer ${texts.length} texts with as many vectors of ${embedder.dimensions} finite numbers, not all 0`,
              )
        }),
        Effect.tapError(({ reason }) =>
          Effect.zipRight(paused(null), metrics.count(metrics.embedderFailures, { reason })),
        ),
      )

    const embed = (texts: ReadonlyArray<string>, options: EmbedOptions) =>
      Effect.map(
        Effect.forEach(
          Array.from({ length: Math.ceil(texts.length / maxTexts) }, (_, at) =>
            texts.slice(at * maxTexts, (at + 1) * maxTexts),
          ),
          (some) => call(some, options),
        ),
        (lists) => lists.flat(),
      )

    const vectorOf = (query: string) =>
      Effect.gen(function* () {
        const known = queries.get(query)
        if (known === undefined && (yield* isPaused(null))) return null
        const vector = known ?? (yield* embed([query], { kind: "query" }))[0]!
        keepNewest(queries, query, vector, keptQueries)
        return vector
      })

    /** Takes in what the index has not. It goes on when nobody waits for it any more, until the scope ends. */
    const takenIn = (source: Source): Effect.Effect<void, TakeInError> =>
      Effect.flatMap(Deferred.make<void, TakeInError>(), (done) => {
        const { session } = source
        const other = underWay.get(session)
        // The other search may read an older version than this search needs.
        if (other !== undefined)
          return Effect.zipRight(
            Effect.exit(Deferred.await(other)),
            Effect.suspend(() => takenIn(source)),
          )
        underWay.set(session, done)
        const work = takeIn(index, source, {
          embedder,
          embed: (texts) => embed(texts, { kind: "message" }),
        }).pipe(
          Effect.tapErrorTag("VectorIndexError", () => paused(session)),
          Effect.ensuring(Effect.sync(() => underWay.delete(session))),
        )
        return Effect.zipRight(
          Effect.uninterruptible(Effect.forkIn(Effect.interruptible(Effect.intoDeferred(work, done)), scope)),
          Deferred.await(done),
        )
      })

    const nearIn = (vector: Float32Array, { source, postings }: Target) =>
      Effect.gen(function* () {
        const before = postings.lengths.length
        yield* forgetErased(index, source)
        if (before === 0) return []
        const needed = (yield* postings.versions([before - 1])).get(before - 1) ?? Number.POSITIVE_INFINITY
        const place = yield* index.place(source.session)
        // In the middle of a turn, the messages before its question are all there, whatever becomes of the embedder.
        if (place?.space !== space || place.version < needed) {
          if ((yield* isPaused(null)) || (yield* isPaused(source.session))) return null
          yield* takenIn(source)
        }
        const pieces = yield* index.nearest(source.session, { space, vector, before, limit: mostNear })
        const near = nearestOfEach(pieces)
        const versions = yield* postings.versions(near.map((one) => one.index))
        yield* Effect.logDebug("searched by meaning").pipe(
          Effect.annotateLogs({ session: source.session, highest: near[0]?.similarity ?? "none" }),
        )
        return near
          .map(({ similarity, ...one }) => ({ ...one, similarity: rounded(similarity) }))
          .filter((one) => one.similarity >= minSimilarity && versions.get(one.index) === one.version)
      })

    const near: Meaning["near"] = (query, targets, question) =>
      Effect.gen(function* () {
        const nobody = targets.map((): ReadonlyArray<NearMessage> => [])
        const session = targets.length === 1 ? (targets[0]?.source.session ?? "") : ""
        const text = query.trim().slice(0, embedder.maxCharacters ?? 2_000)
        if (text === "" || targets.length === 0) return nobody
        if (question !== undefined && byWords.get(session) === question) return nobody
        const wait = Duration.toMillis(embedder.timeout ?? "5 seconds")
        const deadline =
          (yield* Clock.currentTimeMillis) +
          (question === undefined ? wait : Math.min(wait, patienceOfContext))
        /** In time, or `null`; why not is logged. */
        const inTime = <A>(session: string, effect: Effect.Effect<A, TakeInError | SessionError>) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) =>
            Effect.timeoutOption(effect, Math.max(deadline - now, 0)),
          ).pipe(
            Effect.tap(
              Option.match({
                onNone: () => warn(inWords, session, "the embedder takes longer; it goes on"),
                onSome: () => Effect.void,
              }),
            ),
            Effect.map(Option.getOrNull),
            unlessFailed((why) => Effect.as(warn(inWords, session, why), null)),
          )
        const vector = yield* inTime(session, vectorOf(text))
        const found =
          vector === null
            ? targets.map(() => null)
            : yield* Effect.forEach(
                targets,
                (target) => inTime(target.source.session, nearIn(vector, target)),
                { concurrency: atOnce },
              )
        if (question !== undefined && found.includes(null))
          keepNewest(byWords, session, question, keptQuestions)
        return found.map((one) => one ?? [])
      })

    return { isOn: true, near, ...forgetting }
  })

const inWords = "words alone decided a search"
const left = "vectors of erased messages may be left"

const warn = (what: string, session: string, why: string) =>
  Effect.logWarning(what).pipe(Effect.annotateLogs({ session, why }))

/** What comes instead of a failure, from its reason. Only typed errors are quoted: a thrown value may quote anything. */
const unlessFailed =
  <B>(instead: (why: string) => Effect.Effect<B>) =>
  <A>(effect: Effect.Effect<A, Error>): Effect.Effect<A | B> =>
    Effect.catchAllCause(effect, (cause) =>
      Cause.isInterruptedOnly(cause)
        ? Effect.interrupt
        : instead(
            Option.match(Cause.failureOption(cause), {
              onNone: () => "it threw",
              onSome: ({ message }) => message,
            }),
          ),
    )
