/**
 * The port of summarizers. They are called outside every lock and transaction. A failing summarizer loses no message
 * and fails no append (law L8).
 */
import { Context, type Effect, Schema } from "effect"
import type { Message } from "@memfold/message/Message"
import type { SummarySize } from "../policy/SummarySize.js"
import type { ProviderData, SegmentKind } from "../summary/Summary.js"

/** A call of a summarizer: write a text that covers the messages `[from, to)`. */
export interface Request {
  readonly session: string
  readonly kind: SegmentKind
  /** The message index where the coverage of the text starts. It is before `messagesFrom` if `previous` is merged. */
  readonly from: number
  /** The message index where the coverage of the text ends. */
  readonly to: number
  /** The summary so far, to merge the messages into; `undefined` for a new one. It covers `[from, messagesFrom)`. */
  readonly previous: string | undefined
  /** The messages to summarize, in order: `[messagesFrom, to)` without the pinned ones. */
  readonly messages: ReadonlyArray<Message>
  /** The message index of the first new message. */
  readonly messagesFrom: number
  /** The tokens of `previous` and `messages` together. The result must be smaller. */
  readonly replacesTokens: number
  /** The size that the strategy asks for; a summarizer with a size of its own keeps to that. */
  readonly size?: SummarySize
  /** The instructions of a compaction on demand, or of a hook. */
  readonly instructions: string | undefined
  /**
   * The request as a conversation, for a provider's own compaction; a prompt needs only `previous` and `messages`. Missing
   * if a message or a group of tool calls had to be divided between two calls.
   */
  readonly context?: Conversation
  /**
   * The context of the session as it is now, for a summarizer that asks at its end (see `Service.asksInContext`). Missing
   * for all others, and where the context does not show all that is to be summarized, word for word and in one place.
   */
  readonly wholeContext?: WholeContext
}

/**
 * The context of a session when its compaction starts, word for word as `context` gives it. It begins with the context of
 * the newest call of the model, unless recalled messages stood before the newest user message: then with what was before
 * them. So the provider has it in its prompt cache.
 *
 * - `messages`: all messages, the pinned ones, the summary and the tail included
 * - `cacheMarks`: positions behind which a prompt cache is worth setting (see `Render.Context`)
 * - `from`, `to`: what is to be summarized: the positions `[from, to)`. They begin with the summary so far if it is merged
 * - `lastCallTime`: when the newest answer of a model was appended, in milliseconds since the epoch; `null` if no model has
 *   answered since the last compaction, so that no cache has this context
 */
export interface WholeContext {
  readonly messages: ReadonlyArray<Message>
  readonly cacheMarks: ReadonlyArray<number>
  readonly from: number
  readonly to: number
  readonly lastCallTime: number | null
}

/**
 * What a model was sent in contexts up to the end of a request, with calls and results paired.
 *
 * - `pinned`: the pinned messages in front: the system prompt, and pinned messages that earlier summaries cover
 * - `summary`: the summary so far as messages, with its {@link ProviderData} if it has any; empty if there is none
 * - `messages`: the new messages, pinned messages included
 */
export interface Conversation {
  readonly pinned: ReadonlyArray<Message>
  readonly summary: ReadonlyArray<Message>
  readonly messages: ReadonlyArray<Message>
}

/** The answer of a summarizer. */
export interface Result {
  /** The summary as text. It is required: whoever cannot read the provider data gets the text. */
  readonly text: string
  /**
   * The summary in the form of one provider. It stands for everything in the request, so it is kept only for a `history`
   * from message 0 on. It is left out if it takes as many tokens as what it replaces.
   */
  readonly providerData?: ProviderData
  /** How the model ended: `length` if it was cut off, `refused` if it declined. Both count as failures. */
  readonly finish?: "stop" | "length" | "refused"
  /** The tokens that the provider charges for the call, for `spend`; what memfold has counted by default. */
  readonly usage?: { readonly input: number; readonly output: number }
}

/**
 * A call of a summarizer failed. The text never quotes the conversation.
 *
 * - `unavailable`: it could not be called, or it threw; retried
 * - `timeout`: no answer in time; retried
 * - `empty`: the answer has no text
 * - `truncated`: the model was cut off
 * - `refused`: the model declined
 * - `not-smaller`: the text is not smaller than the input
 * - `too-large`: the summary so far leaves no room for new messages
 * - `spend-reached`: it was not called, because the spend of the day has reached its cap
 */
export class SummarizerError extends Schema.TaggedError<SummarizerError>()("SummarizerError", {
  session: Schema.String,
  reason: Schema.Literal(
    "unavailable",
    "timeout",
    "empty",
    "truncated",
    "refused",
    "not-smaller",
    "too-large",
    "spend-reached",
  ),
  detail: Schema.String,
}) {
  override get message(): string {
    return `The summarizer failed for session "${this.session}" (${this.reason}): ${this.detail}`
  }
}

/**
 * A summarizer.
 *
 * @example
 * ```ts
 * import { Prompt, type Summarizer } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * declare const callModel: (system: string, user: string) => Promise<string>
 *
 * export const mine: Summarizer.Service = {
 *   name: "mine",
 *   maxInputTokens: 100_000,
 *   summarize: (request) => {
 *     const { system, user } = Prompt.forRequest(request)
 *     return Effect.map(
 *       Effect.promise(() => callModel(system, user)),
 *       (text) => ({ text }),
 *     )
 *   },
 * }
 * ```
 */
export interface Service {
  /** A name; recorded with each summary. */
  readonly name: string
  /**
   * The most tokens of input for one call; infinite for a summarizer without a window. A larger input is divided into several
   * calls. By default, the strategy's `contextLimit` counts, less a tenth for the instructions and the answer; there is no
   * limit if it has none either.
   */
  readonly maxInputTokens?: number
  /** Whether its calls cost nothing, so that `spend` does not count them; `false` by default. */
  readonly isFree?: boolean
  /** Whether requests have `wholeContext` where that is possible; `false` by default. */
  readonly asksInContext?: boolean
  /** Writes a summary. If it throws, that counts as the failure `unavailable`. */
  readonly summarize: (request: Request) => Effect.Effect<Result, SummarizerError>
  /** The summarizer to call instead when this one has failed after all retries. */
  readonly fallback?: Service
}

/**
 * The summarizer of a memory. The summarizer of `@memfold/summarizer-extractive` needs no model; the summarizer of
 * `@memfold/summarizer-ai` asks a model.
 *
 * @example
 * ```ts
 * import { EchoSummarizer, Summarizer } from "@memfold/core"
 * import { Layer } from "effect"
 *
 * export const echoing = Layer.succeed(Summarizer.Summarizer, EchoSummarizer.make())
 * ```
 */
export class Summarizer extends Context.Tag("@memfold/core/Summarizer")<Summarizer, Service>() {}

/**
 * Makes a chain of summarizers: a summarizer is called when the summarizer before it has failed, for any reason. Finished parts of
 * a long input are kept, and each summarizer gets input that fits its own window.
 *
 * @example
 * ```ts
 * import { Summarizer } from "@memfold/core"
 * import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
 *
 * const withFallbacks = (model: Summarizer.Service, smaller: Summarizer.Service) =>
 *   Summarizer.withFallback(model, smaller, ExtractiveSummarizer.make())
 * ```
 */
export const withFallback = (first: Service, ...others: ReadonlyArray<Service>): Service => {
  const [next, ...rest] = others
  if (next === undefined) return first
  const fallback = withFallback(next, ...rest)
  return {
    ...first,
    fallback: first.fallback === undefined ? fallback : withFallback(first.fallback, fallback),
  }
}

/** A summarizer and all its fallbacks, in the order in which they are called. */
export const chain = (summarizer: Service): ReadonlyArray<Service> =>
  summarizer.fallback === undefined ? [summarizer] : [summarizer, ...chain(summarizer.fallback)]
