/** The shipped summarizers by their names, and summarizers that are given as functions. */
import { EchoSummarizer, InContext, Message, Prompt, Summarizer } from "@memfold/core"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Effect, Either } from "effect"
import {
  type ContextMessages,
  encodeIn,
  type FormatOptions,
  type Formats,
  type SystemMessages,
} from "./formats.js"
import { byName, type Suggested } from "./names.js"

/** The name of a shipped summarizer. */
export type SummarizerName = Suggested<"extractive" | "echo">

/** The shipped summarizers by name; none of them needs a model or a network. */
export const summarizers: ReadonlyMap<string, Summarizer.Service> = new Map(
  [ExtractiveSummarizer.make(), EchoSummarizer.make()].map((summarizer) => [summarizer.name, summarizer]),
)

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

/**
 * A function that asks a model, with what is known of the model.
 *
 * - `ask`: the function
 * - `maxInputTokens`: the most tokens of input for one call, 1,000 or more; leave room for the answer. A larger input is divided
 *   into several calls. By default, the strategy's `contextLimit` counts, if it has one
 * - `name`: recorded with each summary; the name of the function by default
 *
 * @example
 * ```ts
 * import { type AskModel, createMemory } from "memfold"
 *
 * declare const ask: AskModel
 * const memory = createMemory({
 *   store: "memory:",
 *   summarizer: [{ ask, maxInputTokens: 30_000 }, "extractive"],
 * })
 * await memory.close()
 * ```
 */
export interface ModelSummarizer {
  readonly ask: AskModel
  readonly maxInputTokens?: number
  readonly name?: string
}

/**
 * A summarizer: the name of a shipped one (`"extractive"`, `"echo"`), a function that asks a model, by itself or with the window
 * of the model, or a service.
 */
export type GivenSummarizer = SummarizerName | AskModel | ModelSummarizer | Summarizer.Service

const isModelSummarizer = (given: object): given is ModelSummarizer => "ask" in given

/** What is wrong with a summarizer that is no name; `null` if nothing is. */
export const wrongSummarizer = (given: unknown): string | null => {
  if (typeof given === "function") return null
  if (typeof given !== "object" || given === null || !("summarize" in given || isModelSummarizer(given)))
    return "the name of one, a function that asks a model, { ask, maxInputTokens }, a summarizer, or a list of these"
  if (!isModelSummarizer(given)) return null
  const {
    ask,
    maxInputTokens = Number.POSITIVE_INFINITY,
    name = "model",
  }: Readonly<Record<string, unknown>> = {
    ...given,
  }
  if (typeof ask !== "function") return "{ ask, maxInputTokens }: ask is a function that asks a model"
  if (typeof maxInputTokens !== "number" || !(maxInputTokens >= 1_000))
    return "{ ask, maxInputTokens }: maxInputTokens is a number of tokens, 1,000 or more"
  return typeof name === "string" && name !== "" ? null : "{ ask, name }: name is a text"
}

/** The name of what was thrown: the message of an error may quote the conversation or an API key. */
export const nameOfThrown = (error: unknown): string => (error instanceof Error ? error.name : typeof error)

const nameOf = (ask: { readonly name: string }): string =>
  ask.name === "" || ask.name === "summarizer" ? "model" : ask.name

const resultOf = (
  { session }: Summarizer.Request,
  ask: (signal: AbortSignal) => Promise<string | Summarizer.Result>,
) =>
  Effect.tryPromise({
    try: async (signal) => await ask(signal),
    catch: (error) =>
      new Summarizer.SummarizerError({
        session,
        reason: "unavailable",
        detail: `the function that asks the model threw ${nameOfThrown(error)}`,
      }),
  }).pipe(Effect.map((answer) => (typeof answer === "string" ? { text: answer } : answer)))

/** A function that asks a model, as a summarizer. */
const asking = ({ ask, maxInputTokens, name = nameOf(ask) }: ModelSummarizer): Summarizer.Service => ({
  name,
  ...(maxInputTokens === undefined ? {} : { maxInputTokens }),
  summarize: (request) => resultOf(request, (signal) => ask(Prompt.forRequest(request), { signal })),
})

/** A prompt of its own, in the form of a question in context. */
const alone = (request: Summarizer.Request, wording: Prompt.Options): InContext.Question => {
  const { system, user } = Prompt.forRequest(request, wording)
  return { messages: [Message.system(system), Message.user(user)], cacheMarks: [] }
}

/**
 * Options of {@link summarizerInContext}.
 *
 * - `name`: recorded with each summary; the name of the function by default
 * - `cacheMinutes`: how long the provider keeps its prompt cache; 5 by default
 * - `maxInputTokens`: the most tokens of input for one call; no limit by default. If the context is larger, the call is a
 *   prompt of its own; if the messages to summarize are, too, they are divided between several
 * - `instructions`, `maxTokens`: what the question says (see `Prompt.Options`)
 * - `systemMessages`: as in the options of the memory
 * - `cacheControl`, `model`, `summaries`: as you give them to `context`
 */
export interface SummarizerInContextOptions<System extends SystemMessages = "inline">
  extends Prompt.Options, InContext.Options, FormatOptions {
  readonly name?: string
  readonly maxInputTokens?: number
  readonly systemMessages?: System
}

/**
 * A summarizer that asks a model at the end of the session's context, which the provider then reads from its prompt cache, for
 * a tenth or a twentieth of the price. The function gets messages as `context` of the memory gives them. It has to send what
 * your own calls send: the same model, the same `tools`, and whatever you put in front of the messages; and it runs no tool.
 *
 * Where that cannot be, because the cache has expired or the messages are not in the context, it gets a prompt of its own:
 * `inContext` is `false`, and tools are of no use.
 *
 * @param format - The format of the messages, as in the options of the memory.
 * @param ask - Asks the model, and returns the text, or a result with the reason why the model stopped.
 * @param options - How long the cache lives, and how the messages are written.
 *
 * @example
 * ```ts
 * import Anthropic from "@anthropic-ai/sdk"
 * import { summarizerInContext, createMemory } from "memfold"
 *
 * const client = new Anthropic({ apiKey: "sk-…" })
 * const common = { model: "claude-sonnet-5-5", tools: [] }
 * const summarizer = summarizerInContext(
 *   "anthropic",
 *   async (messages, { signal }) => {
 *     const answer = await client.messages.create({ ...common, max_tokens: 4_000, ...messages }, { signal })
 *     return answer.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("")
 *   },
 *   { cacheControl: true },
 * )
 * const memory = createMemory({ store: "memory:", format: "anthropic", summarizer: [summarizer, "extractive"] })
 * await memory.close()
 * ```
 */
export const summarizerInContext = <Format extends keyof Formats, System extends SystemMessages = "inline">(
  format: Format,
  ask: (
    messages: ContextMessages<Format, System>,
    options: { readonly signal: AbortSignal; readonly inContext: boolean },
  ) => Promise<string | Summarizer.Result>,
  options: SummarizerInContextOptions<System> = {},
): Summarizer.Service => {
  const { name = nameOf(ask), cacheMinutes, maxInputTokens, systemMessages = "inline", ...rest } = options
  const { instructions, maxTokens, ...form } = rest
  const wording = { instructions, maxTokens }
  return {
    name,
    asksInContext: true,
    ...(maxInputTokens === undefined ? {} : { maxInputTokens }),
    summarize: (request) =>
      Effect.gen(function* () {
        const asked = yield* InContext.now(
          request,
          wording,
          cacheMinutes === undefined ? {} : { cacheMinutes },
        )
        const { messages } = encodeIn(format, asked ?? alone(request, wording), systemMessages, form)
        return yield* resultOf(request, (signal) =>
          ask(messages as ContextMessages<Format, System>, { signal, inContext: asked !== null }),
        )
      }),
  }
}

const one = (given: GivenSummarizer): Summarizer.Service => {
  if (typeof given === "function") return asking({ ask: given })
  if (typeof given === "string")
    return Either.getOrThrowWith(byName("summarizer", summarizers, given), (error) => error)
  return isModelSummarizer(given) ? asking(given) : given
}

/** The given summarizer; a list becomes a chain of fallbacks. */
export const summarizerOf = (given: GivenSummarizer | ReadonlyArray<GivenSummarizer>): Summarizer.Service => {
  const [first, ...others] = (Array.isArray(given) ? given : [given]) as ReadonlyArray<GivenSummarizer>
  return Summarizer.withFallback(one(first ?? "extractive"), ...others.map(one))
}
