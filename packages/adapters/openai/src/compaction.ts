/** Summaries by OpenAI's own compaction, as a summarizer. */
import * as Codec from "@memfold/codec"
import { type Message, Summarizer, TokenCounter } from "@memfold/core"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Effect, Either } from "effect"
import { decodeItems } from "./responses/decode.js"
import { encodeItems } from "./responses/encode.js"
import { provider } from "./responses/form.js"
import type { ResponsesItem } from "./responses/wire.js"

/** A request to `responses.compact`. */
export interface CompactRequest {
  model: string
  input: Array<ResponsesItem>
}

/** The part of a client of `openai` (7.57 or newer) that the compaction needs. */
export interface CompactionClient {
  readonly responses: {
    compact(request: CompactRequest, options: { readonly signal: AbortSignal }): PromiseLike<unknown>
  }
}

/**
 * Options of {@link nativeCompaction}.
 *
 * - `client`: a client of `openai`, or another object with `responses.compact`
 * - `model`: the model that compacts; use the model of the conversation, because the block is for that model alone
 * - `text`: writes the readable text beside the encrypted block; the extractive summarizer by default, which needs no
 *   model. Its fallbacks are used too
 * - `request`: further fields of the request, such as `prompt_cache_key` or `service_tier`
 * - `name`: recorded with every summary; "openai", the model and the name of `text` by default
 * - `maxInputTokens`: the most tokens of conversation in one call; the limit of `text` by default
 */
export interface CompactionOptions {
  readonly client: CompactionClient
  readonly model: string
  readonly text?: Summarizer.Service
  readonly request?: Readonly<Record<string, unknown>>
  readonly name?: string
  readonly maxInputTokens?: number
}

/**
 * The conversation to compact: the summary so far and the new messages. Pinned messages are left out: they stay in every
 * context, and the compacted window repeats all user messages.
 */
const conversationOf = ({ summary, messages }: Summarizer.Conversation): ReadonlyArray<Message.Message> => [
  ...summary,
  ...messages.filter(
    ({ pinned, parts }) =>
      pinned !== true || parts.some(({ type }) => type === "tool-call" || type === "tool-result"),
  ),
]

const isCompaction = (item: unknown): boolean =>
  Codec.isFields(item) && item["type"] === "compaction" && typeof item["encrypted_content"] === "string"

/** The compacted window; `null` if the answer has no compaction item. */
const windowOf = (response: unknown): ReadonlyArray<unknown> | null => {
  const output = Codec.isFields(response) ? response["output"] : undefined
  return Array.isArray(output) && output.some(isCompaction) ? output : null
}

/** The messages that a window repeats, as memfold has them; an item that cannot be read counts as none. */
const repeatedIn = (window: ReadonlyArray<unknown>): ReadonlyArray<Message.Message> =>
  Either.getOrElse(decodeItems(window.filter((item) => !isCompaction(item))), () => [])

/** The tokens of a window: the output tokens of the response, and the user messages that the window repeats. */
const tokensOf = (response: unknown, window: ReadonlyArray<unknown>): number => {
  const usage = Codec.isFields(response) ? response["usage"] : undefined
  const written = Codec.isFields(usage) ? usage["output_tokens"] : undefined
  return repeatedIn(window).reduce(
    (sum, message) => sum + TokenCounter.ofMessage(TokenCounter.estimating, message),
    typeof written === "number" && written >= 0 ? Math.ceil(written) : 0,
  )
}

/** The API cannot read the earlier block: it is from another organization, or was changed. */
const refusesBlock = (error: unknown): boolean => Codec.failureOf(error).code?.includes("encrypted") === true

/**
 * A summarizer that asks OpenAI for its own compaction (`responses.compact`). The API returns a window: the user messages,
 * and an encrypted item that nobody else can read. So a second summarizer writes a text of the same messages, at the same
 * time. The summary keeps both: contexts in the format `openai-responses` for the same model get the window, as it came,
 * and everyone else gets the text.
 *
 * A rolling summary sends the earlier window with the new messages. If the API does not accept it, its text is sent in its
 * place. Blocks (`SummaryMode.blocks`), the first part of a split turn and divided messages have a text only.
 *
 * @returns a summarizer. It fails with `unavailable` if the request does or has no compaction item, and as `text` fails.
 * Interrupting it aborts the request.
 *
 * @example
 * ```ts
 * import { type CompactionClient, nativeCompaction } from "@memfold/openai"
 * import { Summarizer } from "@memfold/core"
 * import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
 *
 * const summarizerOf = (client: CompactionClient) =>
 *   Summarizer.withFallback(nativeCompaction({ client, model: "gpt-6.2-sol" }), ExtractiveSummarizer.make())
 * ```
 */
export const nativeCompaction = (options: CompactionOptions): Summarizer.Service => {
  const { client, model, request = {}, text = ExtractiveSummarizer.make() } = options
  const { instructions: _instructions, previous_response_id: _previous, ...fields } = request
  const maxInputTokens = options.maxInputTokens ?? text.maxInputTokens

  const compact = (asked: Summarizer.Request, context: Summarizer.Conversation) =>
    Codec.compactionOf((summaries, signal) => {
      const input = encodeItems(conversationOf(context), { model, summaries })
      return client.responses.compact({ ...fields, model, input }, { signal })
    }, refusesBlock).pipe(
      Effect.flatMap((response) => {
        const data = windowOf(response)
        return data === null
          ? Effect.fail("the answer to the compaction request has no compaction item")
          : Effect.succeed({ provider, model, data, tokens: tokensOf(response, data), keepsReasoning: true })
      }),
      Effect.mapError(
        (detail) => new Summarizer.SummarizerError({ session: asked.session, reason: "unavailable", detail }),
      ),
    )

  const readable = (asked: Summarizer.Request) =>
    Effect.firstSuccessOf(Summarizer.chain(text).map((one) => one.summarize(asked)))

  return {
    name: options.name ?? `openai ${model} and ${text.name}`,
    ...(maxInputTokens === undefined ? {} : { maxInputTokens }),
    summarize: (asked) =>
      asked.context === undefined || asked.kind !== "history" || asked.from !== 0
        ? readable(asked)
        : Effect.all([compact(asked, asked.context), readable(asked)], { concurrency: 2 }).pipe(
            Effect.map(([providerData, written]) => ({ ...written, providerData })),
          ),
  }
}
