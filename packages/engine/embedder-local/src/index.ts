/**
 * An embedder for the recall of memfold that runs a sentence embedding model on your machine, with `@huggingface/transformers`.
 *
 * @packageDocumentation
 */
import { Embedder } from "@memfold/core"
import { Effect, Layer } from "effect"
import { statSync } from "node:fs"
import { basename, resolve } from "node:path"
import { InvalidModel } from "./InvalidModel.js"
import { ModelThread } from "./ModelThread.js"

export { InvalidModel }

/** Options of {@link localEmbedder} and {@link layer}. */
export interface LocalEmbedderOptions extends Pick<
  Embedder.Service,
  "maxTexts" | "maxCharacters" | "minSimilarity" | "timeout"
> {
  /**
   * The path of a folder with the model, or its id on the Hugging Face hub, such as `Xenova/all-MiniLM-L6-v2`. A folder has
   * `config.json`, `tokenizer.json`, `tokenizer_config.json`, and the weights in `onnx/`; nothing is downloaded for it.
   */
  readonly model: string
  /** The form of the weights: `q8` (`onnx/model_quantized.onnx`, the default), `fp32` (`onnx/model.onnx`), or another one of the library. */
  readonly dtype?: string
  /** How the vectors of tokens become one: `mean` by default, or `cls`, as the card of the model says. */
  readonly pooling?: "mean" | "cls"
  /** What stands before each text, for models that ask for it, such as `{ query: "query: ", message: "passage: " }`. */
  readonly prefix?: Readonly<Partial<Record<"query" | "message", string>>>
  /** Where a downloaded model is kept; by default in the folder of the library. */
  readonly cacheFolder?: string
  /** The name of the model in the vector index; by default from `model`, `dtype`, `pooling` and `prefix`. Under another name, messages are embedded anew. */
  readonly name?: string
}

/** A local embedder. */
export interface LocalEmbedder extends Embedder.Service {
  /** Ends the thread of the model. The process does not wait for it, so a program that ends anyway need not call it. */
  readonly close: () => Promise<void>
}

/** Texts of one call: MiniLM takes some 100 ms for them on two cores. */
const usualTexts = 16

const isFolder = (model: string): boolean =>
  statSync(model, { throwIfNoEntry: false })?.isDirectory() ?? false

/** Names of folders differ between machines, and say nothing of their model. */
const nameOf = ({ model, dtype = "q8", pooling = "mean", prefix }: LocalEmbedderOptions): string =>
  [basename(resolve(model)), dtype, pooling, ...(prefix === undefined ? [] : [JSON.stringify(prefix)])].join(
    " ",
  )

/**
 * Loads a model in a thread of its own and makes an embedder of it. Texts never leave the machine.
 *
 * @returns the embedder; rejects with an {@link InvalidModel} if the library is not installed, or the model cannot be loaded
 *
 * @example
 * ```ts
 * import { localEmbedder } from "@memfold/embedder-local"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({
 *   store: "sqlite:chats.db",
 *   recall: { embedder: await localEmbedder({ model: "./all-MiniLM-L6-v2" }) },
 * })
 * await memory.close()
 * ```
 */
export const localEmbedder = async (options: LocalEmbedderOptions): Promise<LocalEmbedder> => {
  const { model, dtype = "q8", pooling = "mean", prefix = {}, cacheFolder, name, ...rest } = options ?? {}
  if (typeof model !== "string" || model === "")
    throw new InvalidModel({
      model: "",
      detail: 'give the folder of a model, or its id on the hub, such as { model: "./models/minilm" }',
    })
  const folder = isFolder(model)
  if (!folder && /^[./\\~]|^[A-Za-z]:/.test(model))
    throw new InvalidModel({
      model,
      detail: "there is no such folder; give the folder of a model, or its id on the hub",
    })
  const loaded = folder ? resolve(model) : model
  const thread = await ModelThread.load({ model: loaded, isFolder: folder, dtype, pooling, cacheFolder })
  const embedder = name ?? nameOf(options)
  return {
    maxTexts: usualTexts,
    isFree: true,
    ...rest,
    name: embedder,
    dimensions: thread.dimensions,
    embed: (texts, { kind }) =>
      Effect.tryPromise({
        try: () => thread.embed(texts.map((text) => (prefix[kind] ?? "") + text)),
        catch: (error) =>
          new Embedder.EmbedderError({
            embedder,
            reason: "unavailable",
            detail: error instanceof Error ? error.message : "the model failed",
          }),
      }),
    close: () => thread.close(),
  }
}

/**
 * The embedder as a layer. The thread of the model ends with its scope.
 *
 * @example
 * ```ts
 * import { layer } from "@memfold/embedder-local"
 *
 * export const embedder = layer({ model: "./all-MiniLM-L6-v2" })
 * ```
 */
export const layer = (options: LocalEmbedderOptions): Layer.Layer<Embedder.Embedder, InvalidModel> =>
  Layer.scoped(
    Embedder.Embedder,
    Effect.acquireRelease(
      Effect.tryPromise({
        try: () => localEmbedder(options),
        catch: (error) =>
          error instanceof InvalidModel
            ? error
            : new InvalidModel({ model: options.model, detail: "loading it failed" }),
      }),
      ({ close }) => Effect.promise(close),
    ),
  )
