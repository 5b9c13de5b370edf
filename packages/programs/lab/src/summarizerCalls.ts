/** The calls of a summarizer, as a model would be charged for them. */
import { InContext, type Message, Prompt, type Summarizer, TokenCounter } from "@memfold/core"
import { Effect } from "effect"

/** A call of a summarizer, as a model would have had it. */
interface SummarizerCall {
  /** The tokens of a prompt of its own, and of the text that it wrote. */
  readonly input: number
  readonly output: number
  /** The context with the question at its end, where that is possible. */
  readonly inContext: ReadonlyArray<Message.Message> | null
}

/** A summarizer and its fallbacks. Their calls are counted like calls of a model: the prompt, and the written text. */
export const counted = (
  summarizer: Summarizer.Service,
  asksInContext: boolean,
  count: (call: SummarizerCall) => void,
): Summarizer.Service => {
  // Prompts have their instructions in common, and most lines of the summary so far.
  const tokensOf = TokenCounter.byLine()
  return {
    ...summarizer,
    asksInContext: asksInContext || summarizer.asksInContext === true,
    summarize: (request) =>
      Effect.tap(summarizer.summarize(request), ({ text }) =>
        Effect.sync(() => {
          const { system, user } = Prompt.forRequest(request)
          const hasCache = asksInContext && (request.wholeContext?.lastCallTime ?? null) !== null
          count({
            input: tokensOf(system) + tokensOf(user),
            output: tokensOf(text),
            inContext: hasCache ? (InContext.forRequest(request)?.messages ?? null) : null,
          })
        }),
      ),
    ...(summarizer.fallback === undefined
      ? {}
      : { fallback: counted(summarizer.fallback, asksInContext, count) }),
  }
}
