/** Functions that ask a model, as the parts of a memory that need one. */
import { Prompt, Summarizer } from "@memfold/core"
import { Effect, Either } from "effect"
import { byName, summarizers } from "../parts.js"

/**
 * A function that asks a model of yours: it gets the instructions and the conversation, and answers with the
 * summary. Whatever it throws counts as a failure of the summarizer, and nothing is lost. The signal tells when
 * nobody waits for the answer any more.
 */
export type AskModel = (
  prompt: { readonly system: string; readonly user: string },
  options: { readonly signal: AbortSignal },
) => Promise<string | Summarizer.Result>

/** A summarizer: the name of a shipped one, a function that asks a model, or a service. */
export type GivenSummarizer = string | AskModel | Summarizer.Service

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
          // Its message may quote the conversation or a key; its name does not.
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

/** The summarizer that was given, or the chain of them. */
export const summarizerOf = (given: GivenSummarizer | ReadonlyArray<GivenSummarizer>): Summarizer.Service => {
  const [first, ...others] = (Array.isArray(given) ? given : [given]) as ReadonlyArray<GivenSummarizer>
  return Summarizer.withFallback(one(first ?? "extractive"), ...others.map(one))
}
