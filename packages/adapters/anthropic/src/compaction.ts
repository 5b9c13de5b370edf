/** Summaries by Anthropic's own compaction, as a summarizer. */
import * as Codec from "@memfold/codec"
import { Summarizer } from "@memfold/core"
import { Effect } from "effect"
import { encodeMessages } from "./encode.js"
import { provider } from "./summaries.js"
import type { AnthropicConversation } from "./wire.js"

/** The beta of the compaction API. A request that asks for a block and every request that sends one back needs it. */
export const compactionBeta = "compact-2026-09-04"

/** A compaction request, as far as its fields are fixed here. */
export interface CompactionRequest extends AnthropicConversation {
  model: string
  max_tokens: number
  betas: Array<string>
  compaction: { type: "summarize"; instructions?: string }
}

/** The part of a client of `@anthropic-ai/sdk` (1.12 or newer) that the compaction needs. */
export interface CompactionClient {
  readonly beta: {
    readonly messages: {
      create(request: CompactionRequest, options: { readonly signal: AbortSignal }): PromiseLike<unknown>
    }
  }
}

/**
 * Options of {@link nativeCompaction}.
 *
 * - `client`: a client of `@anthropic-ai/sdk`, or another object with `beta.messages.create`
 * - `model`: the model that writes the summary; use the model of the conversation, or its kept thinking is not valid
 *   behind the block
 * - `request`: what your own requests have besides `system` and `messages`: `tools`, `thinking`, `betas`, … The tools have
 *   to be the same. Fields that only shape a reply are left out, because the API refuses them here
 * - `maxTokens`: the most tokens of the summary; 16,000 by default. A summary that is cut off counts as a failure
 * - `instructions`: replace the provider's own prompt for summaries
 * - `name`: recorded with every summary; "anthropic" and the model by default
 * - `maxInputTokens`: the most tokens of conversation in one call; no limit by default. Leave room for the tools and the
 *   system prompt. If a single message or group of tool calls is larger, the call fails as `too-large`
 */
export interface CompactionOptions {
  readonly client: CompactionClient
  readonly model: string
  readonly request?: Readonly<Record<string, unknown>>
  readonly maxTokens?: number
  readonly instructions?: string
  readonly name?: string
  readonly maxInputTokens?: number
}

/** For a compaction with instructions of its own: the API lets instructions replace its prompt, not extend it. */
const ownPrompt =
  "Summarize the conversation so far, so that it can go on from the summary alone. Keep what was asked for, what was decided and done, the names, numbers, paths and results that are still needed, the failures, and what is open. Do not answer the conversation."

/** The fields of an ordinary request that a compaction request can have: the API refuses fields that shape a reply. */
const fieldsOf = (request: Readonly<Record<string, unknown>>): Codec.Fields => {
  const {
    system: _system,
    messages: _messages,
    context_management: _management,
    stop_sequences: _stop,
    output_format: _format,
    stream: _stream,
    output_config: output,
    tool_choice: choice,
    ...fields
  } = request
  const { format: _ofOutput, ...config } = Codec.isFields(output) ? output : {}
  const forced = Codec.isFields(choice) && (choice["type"] === "any" || choice["type"] === "tool")
  return {
    ...fields,
    ...(Object.keys(config).length === 0 ? {} : { output_config: config }),
    ...(choice === undefined || forced ? {} : { tool_choice: choice }),
  }
}

/** The API does not accept the earlier block: it is from another organization, or was changed. */
const refusesBlock = (error: unknown): boolean => {
  const { code } = Codec.failureOf(error)
  return code !== undefined && /^compaction_(?:signature|content|tool_changes|block)_/u.test(code)
}

/** The summary in a response, or how it came to have none. */
const resultOf = (response: unknown, model: string): Summarizer.Result => {
  const fields = Codec.isFields(response) ? response : {}
  const content = Array.isArray(fields["content"]) ? fields["content"] : []
  const block: unknown = content.find((one) => Codec.isFields(one) && one["type"] === "compaction")
  const text = Codec.isFields(block) && typeof block["content"] === "string" ? block["content"] : ""
  switch (fields["stop_reason"]) {
    case "refusal":
      return { text, finish: "refused" }
    case "max_tokens":
    case "model_context_window_exceeded":
    case "pause_turn":
      return { text, finish: "length" }
    default:
      return { text, finish: "stop", providerData: { provider, model, data: block, keepsReasoning: true } }
  }
}

/**
 * A summarizer that asks Anthropic for its own compaction (`compaction: { type: "summarize" }`, beta
 * `compact-2026-09-04`). The API returns one signed block with a readable text. The summary keeps both: requests to
 * Anthropic for the same model get the block, as it came, and everyone else gets the text.
 *
 * A rolling summary sends the earlier block with the new messages. If the API does not accept that block, its text is sent
 * in its place. Blocks (`SummaryMode.blocks`) and the first part of a split turn have a text only, because the API takes
 * one block, in front of all messages.
 *
 * Requests that send the block back need the beta too: call `client.beta.messages.create` with
 * `betas: [compactionBeta]`, and no `context_management`.
 *
 * @returns a summarizer. It fails with `unavailable` if the request does, and with `too-large` if a message had to be
 * divided. A summary that is empty, refused or cut off is a failure like any other. Interrupting it aborts the request.
 *
 * @example
 * ```ts
 * import { type CompactionClient, nativeCompaction } from "@memfold/anthropic"
 * import { Summarizer } from "@memfold/core"
 * import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
 *
 * const summarizerOf = (client: CompactionClient) =>
 *   Summarizer.withFallback(
 *     nativeCompaction({ client, model: "claude-sonnet-5-5" }),
 *     ExtractiveSummarizer.make(),
 *   )
 * ```
 */
export const nativeCompaction = (options: CompactionOptions): Summarizer.Service => {
  const { client, model, request = {}, maxTokens = 16_000, maxInputTokens } = options
  const { betas, ...fields } = fieldsOf(request)
  const others = Array.isArray(betas) ? (betas as ReadonlyArray<string>) : []

  const instructionsFor = (given: string | undefined): string | undefined =>
    given === undefined || given.trim() === ""
      ? options.instructions
      : `${options.instructions ?? ownPrompt}\n\n${given}`

  const ask = (
    { pinned, summary, messages }: Summarizer.Conversation,
    given: string | undefined,
    summaries: Codec.BlocksAs,
    signal: AbortSignal,
  ): PromiseLike<unknown> => {
    const prompt = instructionsFor(given)
    const context = [...pinned, ...summary, ...messages]
    return client.beta.messages.create(
      {
        ...fields,
        ...encodeMessages(context, { model, summaries }),
        model,
        max_tokens: maxTokens,
        betas: [...new Set([...others, compactionBeta])],
        compaction: { type: "summarize", ...(prompt === undefined ? {} : { instructions: prompt }) },
      },
      { signal },
    )
  }

  return {
    name: options.name ?? `${provider} ${model}`,
    ...(maxInputTokens === undefined ? {} : { maxInputTokens }),
    summarize: ({ session, context, instructions }) =>
      context === undefined
        ? Effect.fail(
            new Summarizer.SummarizerError({
              session,
              reason: "too-large",
              detail:
                "it gets no part of a conversation: a message or a group of tool calls is larger than maxInputTokens, or the memory keeps material apart",
            }),
          )
        : Codec.compactionOf((...how) => ask(context, instructions, ...how), refusesBlock).pipe(
            Effect.mapBoth({
              onSuccess: (response) => resultOf(response, model),
              onFailure: (detail) =>
                new Summarizer.SummarizerError({ session, reason: "unavailable", detail }),
            }),
          ),
  }
}
