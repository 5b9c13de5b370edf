/** An embedder from any embedding model of the AI SDK. */
import { describeFailure } from "@memfold/codec"
import { Embedder } from "@memfold/core"
import { embedMany, type EmbeddingModel } from "ai"
import { Effect } from "effect"
import { statusOf } from "./failure.js"

/** Options of {@link embedder}. */
export interface EmbedderOptions extends Pick<
  Embedder.Service,
  "dimensions" | "maxTexts" | "maxCharacters" | "minSimilarity"
> {
  /** The model: one of a provider's package, or its id for the AI Gateway. */
  readonly model: EmbeddingModel
  /** The name of the model in the vector index; its id by default. Under another name, messages are embedded anew. */
  readonly name?: string
  /** What only the provider knows, such as the number of dimensions that it is to return. */
  readonly providerOptions?: Parameters<typeof embedMany>[0]["providerOptions"]
}

/**
 * An embedder that asks a model of the AI SDK. If the call fails, words alone decide the search.
 *
 * @param options the model, and how many dimensions its vectors have
 *
 * @example
 * ```ts
 * import { embedder } from "@memfold/ai-sdk"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({
 *   store: "sqlite:chats.db",
 *   recall: { embedder: embedder({ model: "openai/text-embedding-3-small", dimensions: 1_536 }) },
 * })
 * await memory.close()
 * ```
 */
export const embedder = ({
  model,
  name = typeof model === "string" ? model : model.modelId,
  providerOptions,
  ...rest
}: EmbedderOptions): Embedder.Service => ({
  ...rest,
  name,
  embed: (texts) =>
    Effect.tryPromise({
      try: (abortSignal) =>
        embedMany({
          model,
          values: [...texts],
          abortSignal,
          maxRetries: 0,
          ...(providerOptions === undefined ? {} : { providerOptions }),
        }),
      catch: (error) =>
        new Embedder.EmbedderError({
          embedder: name,
          reason: "unavailable",
          detail: describeFailure("the request for vectors", statusOf(error)),
        }),
    }).pipe(Effect.map(({ embeddings }) => embeddings)),
})
