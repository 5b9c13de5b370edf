/** Turns the options `summarizer` and `embedder` into a summarizer and an embedder. */
import { Embedder, Prompt, Summarizer } from "@memfold/core"
import { Effect, Either } from "effect"
import { byName, type SummarizerName, summarizers } from "../parts.js"

/**
 * A function that asks a model for a summary. It gets the instructions (`system`) and the conversation (`user`), and
 * returns the text, or a result with the reason why the model stopped. If it throws, the compaction fails and is tried
 * again later; no message is lost. The signal is aborted when the time limit of the call is over.
 *
 * @example
 * ```ts
 * import { type AskModel, createMemory } from "memfold"
 *
 * const ask: AskModel = async ({ system, user }, { signal }) => {
 *   const response = await fetch("http://localhost:8080/complete", {
 *     method: "POST",
 *     body: JSON.stringify({ system, user }),
 *     signal,
 *   })
 *   return await response.text()
 * }
 * const memory = createMemory({ store: "memory:", summarizer: [ask, "extractive"] })
 * await memory.close()
 * ```
 */
export type AskModel = (
  prompt: { readonly system: string; readonly user: string },
  options: { readonly signal: AbortSignal },
) => Promise<string | Summarizer.Result>

/** A summarizer: the name of a shipped one (`"extractive"`, `"echo"`), a function that asks a model, or a service. */
export type GivenSummarizer = SummarizerName | AskModel | Summarizer.Service

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
 * const memory = createMemory({ store: "sqlite:chats.db", embedder })
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

/** The name of what was thrown: the message of an error may quote the conversation or an API key. */
const thrown = (error: unknown): string => (error instanceof Error ? error.name : typeof error)

/** The given embedder as a service. */
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
          detail: `the function embed threw ${thrown(error)}`,
        }),
    }).pipe(Effect.flatten),
})

/** A function that asks a model, as a summarizer. */
const asking = (ask: AskModel): Summarizer.Service => ({
  name: ask.name === "" || ask.name === "summarizer" ? "model" : ask.name,
  summarize: (request) =>
    Effect.tryPromise({
      try: async (signal) => await ask(Prompt.forRequest(request), { signal }),
      catch: (error) =>
        new Summarizer.SummarizerError({
          session: request.session,
          reason: "unavailable",
          detail: `the function that asks the model threw ${thrown(error)}`,
        }),
    }).pipe(Effect.map((answer) => (typeof answer === "string" ? { text: answer } : answer))),
})

const one = (given: GivenSummarizer): Summarizer.Service => {
  if (typeof given === "function") return asking(given)
  return typeof given === "string"
    ? Either.getOrThrowWith(byName("summarizer", summarizers, given), (error) => error)
    : given
}

/** The given summarizer; a list becomes a chain of fallbacks. */
export const summarizerOf = (given: GivenSummarizer | ReadonlyArray<GivenSummarizer>): Summarizer.Service => {
  const [first, ...others] = (Array.isArray(given) ? given : [given]) as ReadonlyArray<GivenSummarizer>
  return Summarizer.withFallback(one(first ?? "extractive"), ...others.map(one))
}
