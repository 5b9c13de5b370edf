/** Turns the option `embedder` into an embedder. */
import { Embedder } from "@memfold/core"
import { Effect } from "effect"
import { nameOfThrown } from "@memfold/catalog"

/**
 * An embedder with Promises. If `embed` throws, words alone decide the search. The signal is aborted when nobody waits for
 * the vectors any more.
 *
 * @example
 * ```ts
 * import { type AsyncEmbedder, createMemory } from "memfold"
 *
 * const embedder: AsyncEmbedder = {
 *   name: "my-model-2",
 *   dimensions: 384,
 *   embed: async (texts, { signal }) => {
 *     const response = await fetch("http://localhost:8080/embed", {
 *       method: "POST",
 *       body: JSON.stringify({ texts }),
 *       signal,
 *     })
 *     return (await response.json()) as Array<Array<number>>
 *   },
 * }
 * const memory = createMemory({ store: "sqlite:chats.db", recall: { embedder } })
 * await memory.close()
 * ```
 */
export interface AsyncEmbedder extends Omit<Embedder.Service, "embed"> {
  /** The vectors of texts, in their order. */
  readonly embed: (
    texts: ReadonlyArray<string>,
    options: Embedder.EmbedOptions & { readonly signal: AbortSignal },
  ) => Promise<ReadonlyArray<ReadonlyArray<number> | Float32Array>>
}

export const embedderOf = (given: AsyncEmbedder | Embedder.Service): Embedder.Service => ({
  ...given,
  embed: (texts, options) =>
    Effect.tryPromise({
      try: async (signal) => {
        const answer = given.embed(texts, { ...options, signal })
        return Effect.isEffect(answer) ? answer : Effect.succeed(await answer)
      },
      catch: (error) =>
        new Embedder.EmbedderError({
          embedder: given.name,
          reason: "unavailable",
          detail: `the function embed threw ${nameOfThrown(error)}`,
        }),
    }).pipe(Effect.flatten),
})
