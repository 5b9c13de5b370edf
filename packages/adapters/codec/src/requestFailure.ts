/**
 * Describes a request to a provider that failed: the HTTP status, the provider's code and what to do. The error's message
 * is left out, because it may quote the conversation or a key.
 */
import { Effect } from "effect"
import { isFields } from "./fields.js"

/** What an error of an official client says about its cause, as far as it can be shown. */
export interface RequestFailure {
  readonly status?: number
  readonly code?: string
}

/** The status and the code of an error of a client; empty for anything else. */
export const failureOf = (error: unknown): RequestFailure => {
  if (!isFields(error)) return {}
  const { status, errorCode, code = errorCode } = error
  return {
    ...(typeof status === "number" ? { status } : {}),
    ...(typeof code === "string" && /^\w{1,80}$/u.test(code) ? { code } : {}),
  }
}

const advice = (status: number | undefined): string => {
  if (status === 401 || status === 403) return "check the API key and what it may use"
  if (status === 404) return "check the name of the model, and that it can do this"
  if (status === 413) return "set maxInputTokens below the model's window"
  if (status === 400 || status === 422)
    return "check the fields of the request, and maxInputTokens against the model's window"
  if (status === 429) return "the rate or spending limit is reached; it is tried again later"
  return "it is tried again later"
}

/** Says that a request failed, why, and what to do. `what` is a noun phrase, such as "the compaction request". */
export const describeFailure = (what: string, error: unknown): string => {
  const { status, code } = failureOf(error)
  const answer = status === undefined ? "did not succeed" : `was answered with HTTP ${status}`
  return `${what} ${answer}${code === undefined ? "" : ` (${code})`}; ${advice(status)}`
}

/** Whether earlier summaries are sent as the provider's own blocks, or as their texts. */
export type BlocksAs = "native" | "text"

/**
 * Asks a provider for its own compaction: with its earlier block, and if it does not accept that block, with the text in its place.
 *
 * @param ask - sends the request
 * @param refusesBlock - whether an error says that the block is not accepted
 * @returns the answer. It fails with what {@link describeFailure} says
 */
export const compactionOf = (
  ask: (summaries: BlocksAs, signal: AbortSignal) => PromiseLike<unknown>,
  refusesBlock: (error: unknown) => boolean,
): Effect.Effect<unknown, string> => {
  const attempt = (summaries: BlocksAs) =>
    Effect.tryPromise({ try: async (signal) => await ask(summaries, signal), catch: (error) => error })
  return attempt("native").pipe(
    Effect.catchIf(refusesBlock, () => attempt("text")),
    Effect.mapError((error) => describeFailure("the compaction request", error)),
  )
}
