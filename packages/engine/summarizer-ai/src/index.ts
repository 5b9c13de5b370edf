/** Summaries written by a language model, through `@effect/ai`: any provider that has a `LanguageModel` layer. */
import type { Response } from "@effect/ai"
import { LanguageModel, type Prompt as AiPrompt, type Tool, type Toolkit } from "@effect/ai"
import { InContext, type Message, Prompt, Summarizer } from "@memfold/core"
import { Effect, Layer, Schema } from "effect"
import { unavailable } from "./failure.js"

/**
 * Options of the summarizer.
 *
 * - `name`: recorded in the log with every summary; "ai" by default. Use the model's name if you change models.
 * - `maxInputTokens`: the maximum of conversation tokens in one call, from 1,000. Larger inputs are sent in chunks,
 *   each merged into the text before it. Leave room in the model's window for the instructions (about 600 tokens), a head line for
 *   each message (about 10) and the answer. Without it, everything is sent in one call.
 * - `maxTokens`: the length the prompt asks for, in tokens, from 32; what the strategy asks for by default, or else 1,500. The
 *   model may exceed it: set the output limit in the model's own settings, well above. A cut-off text is refused.
 * - `instructions`: added to every prompt, for example what matters in your field
 */
export const Options = Schema.Struct({
  name: Schema.optionalWith(Schema.NonEmptyTrimmedString, { default: () => "ai" }),
  maxInputTokens: Schema.optional(Schema.Int.pipe(Schema.greaterThanOrEqualTo(1_000))),
  maxTokens: Schema.optional(Schema.Int.pipe(Schema.greaterThanOrEqualTo(32))),
  instructions: Schema.optional(Schema.String),
})
export type Options = typeof Options.Encoded & { readonly askInContext?: AskInContext }

/**
 * Asks at the end of the context, which the provider then reads from its prompt cache, as long as that is alive. For chats, use the
 * summarizer of `@memfold/effect-ai`, which writes the prompt of a chat by itself.
 *
 * - `prompt`: the messages as your own calls send them, with what stands before them. An Effect, so that it can depend on the
 *   provider
 * - `toolkit`: your tools, all of them. They are described to the model, and never run
 * - `cacheMinutes`: how long the provider keeps the cache; 5 by default
 */
export interface AskInContext extends InContext.Options {
  readonly prompt: (messages: ReadonlyArray<Message.Message>) => Effect.Effect<AiPrompt.Prompt>
  readonly toolkit?: Toolkit.Toolkit<Record<string, Tool.Any>>
}

/** The provider's finish reason as the summarizer's; `undefined` if the provider names none. */
const finishOf = (reason: Response.FinishReason): Summarizer.Result["finish"] => {
  switch (reason) {
    case "stop":
      return "stop"
    // A paused answer is an unfinished one.
    case "length":
    case "pause":
      return "length"
    // A model that calls a tool has not written a summary.
    case "content-filter":
    case "tool-calls":
      return "refused"
    case "error":
    case "other":
    case "unknown":
      return undefined
  }
}

/** The tools as they are described to a model; a model that calls one has not written a summary. */
const withoutHandlers = ({ tools }: Toolkit.Toolkit<Record<string, Tool.Any>>) => ({
  tools,
  handle: (name: PropertyKey) =>
    Effect.dieMessage(`the summarizer runs no tools, and the model called ${String(name)}`),
})

/**
 * A summarizer over the `LanguageModel` in the context.
 *
 * Errors of the provider become a `SummarizerError` with the reason `unavailable`; the conversation
 * continues with uncovered messages, and the compaction is tried again later. Retries and timeouts are the memory's settings, not
 * this summarizer's. Options out of range are a defect (a `ParseError`), found when the effect runs.
 *
 * @example
 * ```ts
 * import { make } from "@memfold/summarizer-ai"
 * import { Effect } from "effect"
 *
 * const summarizer = make({ name: "gpt-5-mini", maxInputTokens: 100_000 }).pipe(
 *   Effect.map(({ name, maxInputTokens }) => `${name} takes ${maxInputTokens} tokens`),
 * )
 * ```
 */
export const make = ({ askInContext, ...options }: Options = {}): Effect.Effect<
  Summarizer.Service,
  never,
  LanguageModel.LanguageModel
> =>
  Effect.gen(function* () {
    const { name, maxInputTokens, ...wording } = yield* Schema.decode(Options)(options).pipe(Effect.orDie)
    const model = yield* LanguageModel.LanguageModel
    const own = yield* Effect.context<never>()
    /** The context as a chat sends it, and the question at its end. */
    const inContext = (messages: ReadonlyArray<Message.Message>, { prompt, toolkit }: AskInContext) =>
      Effect.flatMap(Effect.provide(prompt(messages), own), (written) =>
        model.generateText({
          prompt: written,
          disableToolCallResolution: true,
          ...(toolkit === undefined ? {} : { toolkit: withoutHandlers(toolkit) }),
        }),
      )
    /** A prompt of its own. */
    const alone = (request: Summarizer.Request) => {
      const { system, user } = Prompt.forRequest(request, wording)
      return model.generateText({
        prompt: [
          { role: "system", content: system },
          { role: "user", content: [{ type: "text", text: user }] },
        ],
      })
    }
    return {
      name,
      ...(maxInputTokens === undefined ? {} : { maxInputTokens }),
      asksInContext: askInContext !== undefined,
      summarize: (request) =>
        Effect.gen(function* () {
          const asked = yield* InContext.now(request, wording, askInContext)
          const response = yield* (
            asked !== null && askInContext !== undefined
              ? inContext(asked.messages, askInContext)
              : alone(request)
          ).pipe(Effect.mapError((error) => unavailable(request.session, error)))
          if (response.finishReason === "error") {
            return yield* new Summarizer.SummarizerError({
              session: request.session,
              reason: "unavailable",
              detail: "the model broke off with an error; see the provider's own log",
            })
          }
          const finish = finishOf(response.finishReason)
          return { text: response.text.trim(), ...(finish === undefined ? {} : { finish }) }
        }),
    }
  })

/**
 * The summarizer as a layer. Provide it to `Memory.layer` with `Layer.provide`, and provide the model's layer to it.
 *
 * @example
 * ```ts
 * import { layer } from "@memfold/summarizer-ai"
 *
 * const summarizer = layer({ name: "gpt-5-mini", maxInputTokens: 100_000 })
 * ```
 */
export const layer = (
  options?: Options,
): Layer.Layer<Summarizer.Summarizer, never, LanguageModel.LanguageModel> =>
  Layer.effect(Summarizer.Summarizer, make(options))
