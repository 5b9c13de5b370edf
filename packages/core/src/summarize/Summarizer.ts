/**
 * The port that turns messages into a summary. It is called outside every lock and transaction; whatever it
 * does, no message is lost and no append fails (law L8).
 */
import { type Effect, Schema } from "effect"
import type { Message } from "../message/Message.js"
import type { SegmentKind } from "../summary/Summary.js"

/** One call: write a summary of `kind` that covers `[from, to)`. */
export interface Request {
  readonly session: string
  readonly kind: SegmentKind
  /** Where the finished text starts to cover; earlier than the messages when `previous` is merged into it. */
  readonly from: number
  readonly to: number
  /** The summary so far, to be merged; absent for a fresh one. It covers `[from, messagesFrom)`. */
  readonly previous: string | undefined
  /** The messages to fold in, `[messagesFrom, to)` without the pinned ones, in order. */
  readonly messages: ReadonlyArray<Message>
  readonly messagesFrom: number
  /** The tokens of all that is replaced (`previous` and `messages`); the result has to be smaller. */
  readonly replacesTokens: number
  /** What the caller wants watched, for a compaction asked for with instructions. */
  readonly instructions: string | undefined
}

/** A summary as it came back. `finish: "length"` says that the model was cut off; such a text is refused. */
export interface Result {
  readonly text: string
  readonly finish?: "stop" | "length" | "refused"
}

/** Why a summarizer failed; the text never contains what was said in the conversation. */
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
  ),
  detail: Schema.String,
}) {
  override get message(): string {
    return `The summarizer failed for session "${this.session}" (${this.reason}): ${this.detail}`
  }
}

/** The port: a name for the log, the size of its own window, and the call. */
export interface Service {
  readonly name: string
  /** Tokens one call may take in; a larger input comes in chunks, each merged into the text before it. */
  readonly maxInputTokens?: number
  readonly summarize: (request: Request) => Effect.Effect<Result, SummarizerError>
  /** Who is asked in its place when it fails, after all its tries. */
  readonly fallback?: Service
}

/**
 * A chain of summarizers: each is asked when the one before it has failed, whatever the failure was. What the earlier
 * ones have finished of a long input is kept, and each gets pieces of the size it can take.
 *
 * @example
 * ```ts
 * import { ExtractiveSummarizer, Summarizer } from "@memfold/core"
 *
 * const withNet = (model: Summarizer.Service, smaller: Summarizer.Service) =>
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

/** A summarizer and all its fallbacks, in the order they are asked. */
export const chain = (summarizer: Service): ReadonlyArray<Service> =>
  summarizer.fallback === undefined ? [summarizer] : [summarizer, ...chain(summarizer.fallback)]
