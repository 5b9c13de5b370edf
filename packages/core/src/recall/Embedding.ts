/**
 * The calls of an embedder. Each has as many texts as the embedder takes, and its answer is checked and counted. After a failure,
 * searches do not call it for a while.
 */
import { Array, Effect } from "effect"
import { marginOf, type Service as TokenCounter } from "@memfold/message/TokenCounter"
import * as metrics from "../observe/metrics.js"
import { isUnavailable, type Spend } from "../shell/Spend.js"
import { EmbedderError, type EmbedOptions, type Service as Embedder } from "./Embedder.js"
import { Newest } from "@memfold/log/Newest"
import { Pauses } from "./Pauses.js"

/** How many texts one call embeds, unless the embedder says otherwise. */
const usualTexts = 64

/** How long one call of the embedder may take. A search does not wait that long, and what it began goes on. */
const longestCall = "1 minute"

const keptQueries = 100

/** Turns texts into vectors of length 1. */
export interface Embedding {
  /** The vectors of texts of messages of a session, in their order. */
  readonly messages: (
    session: string,
    texts: ReadonlyArray<string>,
  ) => Effect.Effect<ReadonlyArray<Float32Array>, EmbedderError>
  /** The vector of a query; `null` if it is not known and the embedder is not called at the moment. */
  readonly query: (session: string | null, text: string) => Effect.Effect<Float32Array | null, EmbedderError>
  /** Whether the embedder is not called at the moment, because it has failed. */
  readonly isPaused: Effect.Effect<boolean>
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

const failing =
  ({ name }: Embedder) =>
  (reason: EmbedderError["reason"], detail: string) =>
    new EmbedderError({ embedder: name, reason, detail })

const call = (
  embedder: Embedder,
  texts: ReadonlyArray<string>,
  options: EmbedOptions,
): Effect.Effect<ReadonlyArray<Float32Array>, EmbedderError> => {
  const failed = failing(embedder)
  return metrics.count(metrics.embedderCalls).pipe(
    Effect.zipRight(Effect.suspend(() => embedder.embed(texts, options))),
    Effect.catchAllDefect(() => failed("unavailable", "it threw")),
    Effect.timeoutFail({
      duration: longestCall,
      onTimeout: () => failed("timeout", `it did not answer within ${longestCall}`),
    }),
    Effect.flatMap((answer: unknown) => {
      const vectors = Array.isArray(answer) ? answer.map((one) => normalized(one, embedder.dimensions)) : []
      const sound = vectors.filter((vector) => vector !== null)
      return sound.length === texts.length && vectors.length === texts.length
        ? Effect.succeed(sound)
        : failed(
            "malformed",
            `it must answer ${texts.length} texts with as many vectors of ${embedder.dimensions} finite numbers, not all 0`,
          )
    }),
  )
}

export const makeEmbedding = (
  embedder: Embedder,
  { spend, counter }: { readonly spend: Spend; readonly counter: TokenCounter },
): Embedding => {
  const { name, maxTexts = usualTexts } = embedder
  const pauses = new Pauses()
  const queries = new Newest<Float32Array>(keptQueries)

  /** A call as one that costs something, unless the embedder is free. */
  const paid = (session: string | null, texts: ReadonlyArray<string>, options: EmbedOptions) => {
    const run = call(embedder, texts, options)
    if (embedder.isFree === true) return run
    const input = texts.reduce((sum, text) => sum + counter.count(text), 0)
    const refuse = failing(embedder)
    const uncounted = ({ message }: Error) => refuse("unavailable", `the spend of the day: ${message}`)
    const most = { input: Math.ceil(input * marginOf(counter)), output: 0 }
    return spend
      .charge(session, { part: "embedder", most, run }, (exit) => ({
        input: isUnavailable(exit) ? 0 : input,
        output: 0,
      }))
      .pipe(
        Effect.catchTags({
          CapReached: ({ message }) => refuse("spend-reached", message),
          LogError: uncounted,
          DamagedEvent: uncounted,
        }),
      )
  }

  const embed = (session: string | null, texts: ReadonlyArray<string>, options: EmbedOptions) =>
    Effect.map(
      Effect.forEach(Array.chunksOf(texts, maxTexts), (some) =>
        Effect.tapError(paid(session, some, options), ({ reason }) =>
          // A cap of one session does not keep others from calling.
          reason === "spend-reached"
            ? Effect.void
            : Effect.zipRight(pauses.begin(name), metrics.count(metrics.embedderFailures, { reason })),
        ),
      ),
      (lists) => lists.flat(),
    )

  return {
    messages: (session, texts) => embed(session, texts, { kind: "message" }),
    query: (session, text) =>
      Effect.gen(function* () {
        const known = queries.get(text)
        if (known === undefined && (yield* pauses.isPaused(name))) return null
        const vector = known ?? (yield* embed(session, [text], { kind: "query" }))[0]!
        queries.set(text, vector)
        return vector
      }),
    isPaused: pauses.isPaused(name),
  }
}
