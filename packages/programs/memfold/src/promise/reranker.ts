/** Turns the option `reranker` into a reranker. */
import type { Reranker } from "@memfold/core"
import { Effect } from "effect"
import { nameOfThrown } from "@memfold/catalog"

/**
 * A reranker with Promises. If `rerank` throws, the order of a search stays as it was. The signal is aborted when nobody waits for the
 * scores any more.
 *
 * @example
 * ```ts
 * import { type AsyncReranker, createMemory } from "memfold"
 *
 * const reranker: AsyncReranker = {
 *   name: "my-model-2",
 *   rerank: async (query, texts, { signal }) => {
 *     const response = await fetch("http://localhost:8080/rerank", {
 *       method: "POST",
 *       body: JSON.stringify({ query, texts }),
 *       signal,
 *     })
 *     return (await response.json()) as Array<number>
 *   },
 * }
 * const memory = createMemory({ store: "sqlite:chats.db", recall: { reranker } })
 * await memory.close()
 * ```
 */
export interface AsyncReranker extends Omit<Reranker.Service, "rerank"> {
  /** How well each of the texts answers the query, in their order: a higher number is better. */
  readonly rerank: (
    query: string,
    texts: ReadonlyArray<string>,
    options: { readonly signal: AbortSignal },
  ) => Promise<ReadonlyArray<number>>
}

export const rerankerOf = (given: AsyncReranker | Reranker.Service): Reranker.Service => ({
  ...given,
  rerank: (query, texts) =>
    Effect.tryPromise({
      try: async (signal) => {
        const answer = given.rerank(query, texts, { signal })
        return Effect.isEffect(answer) ? answer : Effect.succeed(await answer)
      },
      catch: (error) => new Error(`the function rerank threw ${nameOfThrown(error)}`),
    }).pipe(Effect.flatten),
})
