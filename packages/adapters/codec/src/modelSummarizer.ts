/** Summarizers that ask a model through a library. */
import { InContext, type Message, Prompt, Summarizer } from "@memfold/core"
import { Effect } from "effect"
import { describeFailure } from "./requestFailure.js"

/** Options of every summarizer that asks a model. */
export interface ModelOptions<Asks extends InContext.Options> extends Prompt.Options {
  /** The name that is recorded with each summary; the name of the model by default. */
  readonly name?: string
  /** The most tokens of input for one call; no limit by default. A larger input is divided into several calls. */
  readonly maxInputTokens?: number
  /**
   * Asks at the end of the context, which the provider then reads from its prompt cache, as long as that is alive. Give it
   * what your own calls have. Without it, each call is a prompt of its own.
   */
  readonly askInContext?: Asks
}

/** What a model answered. */
export interface Answer {
  readonly text: string
  /** Why the answer ended, in the words of a provider or of a library; `"error"` fails the call. */
  readonly reason: unknown
}

/** How a library asks a model. The functions may reject: the compaction fails then, and is tried again later. */
export interface AskedModel<Asks> {
  readonly model: string
  /** Asks with a prompt of its own. */
  readonly alone: (prompt: ReturnType<typeof Prompt.forRequest>, signal: AbortSignal) => Promise<Answer>
  /** Asks with the messages of the context, whose last one is the question. */
  readonly inContext?: (
    messages: ReadonlyArray<Message.Message>,
    asks: Asks,
    signal: AbortSignal,
  ) => Promise<Answer>
  /** The error of a client with the provider's status and code, in an error of the library. */
  readonly causeOf?: (error: unknown) => unknown
}

/** Why an answer ended, by the words of providers and libraries, in lower case and with underscores. */
const reasons: Readonly<Record<string, Summarizer.Result["finish"]>> = {
  stop: "stop",
  end_turn: "stop",
  stop_sequence: "stop",
  completed: "stop",
  length: "length",
  max_tokens: "length",
  max_output_tokens: "length",
  model_context_window_exceeded: "length",
  content_filter: "refused",
  refusal: "refused",
  safety: "refused",
  // A model that calls a tool, or that a processor stops, has not written a summary.
  tool_calls: "refused",
  tool_use: "refused",
  tripwire: "refused",
  suspended: "refused",
}

/**
 * Makes a summarizer that asks a model. If the call fails, so does the compaction: no message is lost, and it is tried again later.
 *
 * @param options - the options that the program gave
 * @param asked - how the library asks
 */
export const modelSummarizer = <Asks extends InContext.Options>(
  { name, maxInputTokens, askInContext, ...wording }: ModelOptions<Asks>,
  { model, alone, inContext, causeOf = (error) => error }: AskedModel<Asks>,
): Summarizer.Service => ({
  name: name ?? model,
  ...(maxInputTokens === undefined ? {} : { maxInputTokens }),
  asksInContext: askInContext !== undefined,
  summarize: (request) =>
    Effect.gen(function* () {
      const unavailable = (detail: string) =>
        new Summarizer.SummarizerError({ session: request.session, reason: "unavailable", detail })
      const asked = yield* InContext.now(request, wording, askInContext)
      const { text, reason } = yield* Effect.tryPromise({
        try: (signal) =>
          asked !== null && askInContext !== undefined && inContext !== undefined
            ? inContext(asked.messages, askInContext, signal)
            : alone(Prompt.forRequest(request, wording), signal),
        catch: (error) => unavailable(describeFailure("the summary request", causeOf(error))),
      })
      if (reason === "error")
        return yield* unavailable("the model broke off with an error; see the provider's own log")
      const said = String(reason).toLowerCase().replaceAll("-", "_")
      const finish = Object.hasOwn(reasons, said) ? reasons[said] : undefined
      return { text: text.trim(), ...(finish === undefined ? {} : { finish }) }
    }),
})
