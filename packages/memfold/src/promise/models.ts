/** Turns the `summarizer` option into a summarizer. */
import { Prompt, Summarizer } from "@memfold/core"
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
          // The error's message may quote the conversation or an API key; its name does not.
          detail: `the function that asks the model threw ${error instanceof Error ? error.name : typeof error}`,
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
