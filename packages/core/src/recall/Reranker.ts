/**
 * The port of rerankers: they look at the query and the best messages together, and say how well each answers it. Recall works
 * without one; with one, it asks it for the order of the best candidates.
 */
import { Context, Duration, Effect, Option } from "effect"
import type { Candidate } from "../search/rank.js"

/**
 * A reranker. A call of it is not counted in the spend of the memory.
 *
 * @example
 * ```ts
 * import { Reranker } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * declare const callModel: (query: string, texts: ReadonlyArray<string>) => Promise<Array<number>>
 *
 * export const mine: Reranker.Service = {
 *   name: "mine-1",
 *   rerank: (query, texts) =>
 *     Effect.tryPromise({ try: () => callModel(query, texts), catch: () => new Error("the request failed") }),
 * }
 * ```
 */
export interface Service {
  /** The name of the model, for logs. */
  readonly name: string
  /** How many of the best candidates it is asked about; 32 by default. Those behind them keep their places. */
  readonly maxTexts?: number
  /** The most UTF-16 code units of one text; 2,000 by default. Of a longer message, it gets the start. */
  readonly maxCharacters?: number
  /** How long a search waits for it; 5 seconds by default. Then, and when it fails, the order stays as it was. */
  readonly timeout?: Duration.DurationInput
  /** How well each of the texts answers the query, in their order: a higher number is better, and only the order counts. */
  readonly rerank: (
    query: string,
    texts: ReadonlyArray<string>,
  ) => Effect.Effect<ReadonlyArray<number>, Error>
}

/** The reranker in use. The default is `null`: the order is that of words and, with an embedder, of meaning. */
export class Reranker extends Context.Reference<Reranker>()("@memfold/core/Reranker", {
  defaultValue: (): Service | null => null,
}) {}

/** How many candidates a reranker is asked about, unless it says otherwise. */
export const usualTexts = 32

/**
 * Candidates in the order of a reranker: each is there once, as before. Equal scores leave the order as it is, and so does a failure:
 * no search fails because of it (law L8).
 *
 * @param read - the texts of the candidates, in their order; `null` for a candidate without one, which keeps its place
 */
export const reranked = <E>(
  { name, maxTexts = usualTexts, maxCharacters = 2_000, timeout = "5 seconds", rerank }: Service,
  query: string,
  candidates: ReadonlyArray<Candidate>,
  read: (asked: ReadonlyArray<Candidate>) => Effect.Effect<ReadonlyArray<string | null>, E>,
): Effect.Effect<ReadonlyArray<Candidate>, E> =>
  Effect.gen(function* () {
    const best = candidates.slice(0, maxTexts)
    const texts = yield* read(best)
    const places = texts.flatMap((text, place) => (text === null || text.trim() === "" ? [] : [place]))
    if (places.length < 2) return candidates
    const asked = places.map((place) => texts[place]!.slice(0, maxCharacters))
    const stays = (why: string) =>
      Effect.as(
        Effect.logWarning("the reranker decided nothing").pipe(Effect.annotateLogs({ name, why })),
        null,
      )
    const scores = yield* Effect.suspend(() => rerank(query, asked)).pipe(
      Effect.timeoutOption(timeout),
      Effect.flatMap(
        Option.match({
          onNone: () => stays(`no answer within ${Duration.format(timeout)}`),
          onSome: (given) =>
            Array.isArray(given) && given.length === asked.length && given.every(Number.isFinite)
              ? Effect.succeed(given as ReadonlyArray<number>)
              : stays("the answer is not one finite number for each text"),
        }),
      ),
      // What is thrown may quote the conversation.
      Effect.catchAll(() => stays("it failed")),
      Effect.catchAllDefect(() => stays("it threw")),
    )
    if (scores === null) return candidates
    const order = places
      .map((place, at) => ({ place, score: scores[at]! }))
      .toSorted((a, b) => b.score - a.score)
    const moved = [...candidates]
    for (const [at, place] of places.entries()) moved[place] = candidates[order[at]!.place]!
    return moved
  })
