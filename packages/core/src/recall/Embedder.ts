/**
 * The port of embedders: they turn texts into vectors, and texts that mean the same into vectors that are near each other.
 * Recall works without one. With one, it finds messages by their meaning beside their words.
 */
import { Context, type Duration, type Effect, Schema } from "effect"

/**
 * A call of an embedder failed. The text never quotes the conversation.
 *
 * - `unavailable`: it could not be called, or it threw
 * - `timeout`: no answer in time
 * - `spend-reached`: it was not called, because the spend of the day has reached its cap
 * - `malformed`: the answer is not one vector for each text, of as many finite numbers as the embedder says
 */
export class EmbedderError extends Schema.TaggedError<EmbedderError>()("EmbedderError", {
  embedder: Schema.String,
  reason: Schema.Literal("unavailable", "timeout", "malformed", "spend-reached"),
  detail: Schema.String,
}) {
  override get message(): string {
    return `The embedder "${this.embedder}" failed (${this.reason}): ${this.detail}`
  }
}

/** What texts are embedded for. */
export interface EmbedOptions {
  /** `message`: they are searched; `query`: they are searched with. Some models tell them apart. */
  readonly kind: "message" | "query"
}

/**
 * An embedder.
 *
 * @example
 * ```ts
 * import { Embedder } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * declare const callModel: (texts: ReadonlyArray<string>, signal: AbortSignal) => Promise<Array<Array<number>>>
 *
 * export const mine: Embedder.Service = {
 *   name: "mine-2",
 *   dimensions: 384,
 *   embed: (texts) =>
 *     Effect.tryPromise({
 *       try: (signal) => callModel(texts, signal),
 *       catch: () =>
 *         new Embedder.EmbedderError({ embedder: "mine-2", reason: "unavailable", detail: "the request failed" }),
 *     }),
 * }
 * ```
 */
export interface Service {
  /**
   * The name of the model, with its version. Vectors of different models cannot be compared: under another name, a session
   * is embedded anew when it is searched.
   */
  readonly name: string
  /** How many numbers each vector has. */
  readonly dimensions: number
  /** Whether its calls cost nothing, so that `spend` does not count them; `false` by default. */
  readonly isFree?: boolean
  /** The most texts of one call; 64 by default. */
  readonly maxTexts?: number
  /**
   * The most UTF-16 code units of one text; 2,000 by default, which are some 500 tokens of English. A longer message is
   * divided, and its first 16 pieces are embedded.
   */
  readonly maxCharacters?: number
  /**
   * From this cosine similarity on (-1 to 1; 0.5 by default), a message is found by its meaning alone, whatever its words. Messages
   * that words find are ranked by any similarity. The similarity of unrelated texts differs between models: measure it for your
   * model.
   */
  readonly minSimilarity?: number
  /**
   * How long a search waits for the vector of the query, and for the vectors of messages that have none yet; 5 seconds by
   * default, and at most that for a context. Then words alone decide, and what has begun goes on for the next search.
   */
  readonly timeout?: Duration.DurationInput
  /** The vectors of texts, in their order. Interrupted when nobody waits for it any more. If it throws, that counts as `unavailable`. */
  readonly embed: (
    texts: ReadonlyArray<string>,
    options: EmbedOptions,
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<number> | Float32Array>, EmbedderError>
}

/**
 * The embedder in use. The default is `null`: recall goes by words alone, without a model and without a network.
 *
 * @example
 * ```ts
 * import { Embedder } from "@memfold/core"
 * import { Layer } from "effect"
 *
 * declare const mine: Embedder.Service
 *
 * export const embedder = Layer.succeed(Embedder.Embedder, mine)
 * ```
 */
export class Embedder extends Context.Reference<Embedder>()("@memfold/core/Embedder", {
  defaultValue: (): Service | null => null,
}) {}
