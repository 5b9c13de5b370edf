/**
 * An embedder for the recall of memfold that runs offline on the processor: static word vectors, read from a model file of yours.
 *
 * @packageDocumentation
 */
import { Embedder } from "@memfold/core"
import { Effect, Layer } from "effect"
import { basename, resolve } from "node:path"
import { setImmediate } from "node:timers/promises"
import { InvalidModel } from "./InvalidModel.js"
import { loadModel } from "./StaticModel.js"

export { InvalidModel }

/** Options of {@link staticEmbedder} and {@link layer}. */
export interface StaticEmbedderOptions extends Pick<
  Embedder.Service,
  "maxTexts" | "maxCharacters" | "minSimilarity" | "timeout"
> {
  /** The folder of the model, with `model.safetensors` and `tokenizer.json`. */
  readonly folder: string
  /**
   * The name of the model in the vector index. By default the name of the folder with a checksum of the model, so that messages are
   * embedded anew when the model is another one.
   */
  readonly name?: string
}

/** Texts of one call: a call of 16 texts of 2,000 characters takes some 30 ms. */
const usualTexts = 16

/**
 * Loads a static model and makes an embedder of it. It needs no network and no key; texts never leave the process.
 *
 * @param options - the folder of the model
 * @returns the embedder; rejects with an {@link InvalidModel} if the folder has no model that can be read
 *
 * @example
 * ```ts
 * import { staticEmbedder } from "@memfold/embedder-static"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({
 *   store: "sqlite:chats.db",
 *   recall: { embedder: await staticEmbedder({ folder: "./potion-base-8M" }) },
 * })
 * await memory.close()
 * ```
 */
export const staticEmbedder = async (given: StaticEmbedderOptions): Promise<Embedder.Service> => {
  const { folder, name, ...options } = given ?? {}
  if (typeof folder !== "string" || folder.trim() === "")
    throw new InvalidModel({ file: "an unnamed folder", detail: "the option folder is missing" })
  const { dimensions, checksum, vectorOf } = await loadModel(folder)
  return {
    maxTexts: usualTexts,
    isFree: true,
    ...options,
    name: name ?? `${basename(resolve(folder))}-${checksum}`,
    dimensions,
    embed: (texts) =>
      Effect.promise(async (signal) => {
        const vectors: Array<Float32Array> = []
        for (const text of texts) {
          // A text takes a millisecond or two; others have their turn between two texts.
          await setImmediate(undefined, { signal })
          vectors.push(vectorOf(text))
        }
        return vectors
      }),
  }
}

/**
 * The embedder as a layer.
 *
 * @param options - the folder of the model
 *
 * @example
 * ```ts
 * import { layer } from "@memfold/embedder-static"
 *
 * export const embedder = layer({ folder: "./potion-base-8M" })
 * ```
 */
export const layer = (options: StaticEmbedderOptions): Layer.Layer<Embedder.Embedder, InvalidModel> =>
  Layer.effect(
    Embedder.Embedder,
    Effect.tryPromise({
      try: () => staticEmbedder(options),
      catch: (error) =>
        error instanceof InvalidModel
          ? error
          : new InvalidModel({ file: String(options?.folder), detail: "loading it failed" }),
    }),
  )
