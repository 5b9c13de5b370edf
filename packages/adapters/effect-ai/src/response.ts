/** Responses of Effect AI: to memfold messages, and back. */
import * as Codec from "@memfold/codec"
import type { Message } from "@memfold/core"
import { Prompt, Response } from "@effect/ai"
import { Schema } from "effect"
import { decodeMessage } from "./decode.js"
import { formOf, metadataOf, partFormOf, withForm } from "./form.js"
import { encodePart } from "./parts.js"
import { wholeParts } from "./wholeParts.js"

/** Writes the parameters of a call as the model wrote them; a tool gets them decoded by its schema. */
export type WriteParams = (tool: string, params: unknown) => unknown

const Other = Schema.Union(
  Response.FinishPart,
  Response.ResponseMetadataPart,
  Response.DocumentSourcePart,
  Response.UrlSourcePart,
  Response.ErrorPart,
)
const encodeOther = Schema.encodeUnknownSync(Other)
const isOther = Schema.is(Other)

const otherPart = (part: unknown): Codec.Fields => {
  const { metadata, ...written } = Codec.freeze(encodeOther(part)).json as Codec.Fields & {
    readonly metadata: Codec.Fields
  }
  return Object.keys(metadata).length === 0 ? written : { ...written, metadata }
}

type ConversationPart = Extract<
  Response.AnyPart,
  { readonly type: "text" | "reasoning" | "file" | "tool-call" | "tool-result" }
>

const isTold = ({ type }: Response.AnyPart): boolean =>
  type === "text" || type === "reasoning" || type === "file" || type === "tool-call" || type === "tool-result"

/** The name of a tool in a prompt: `providerName` for tools that the provider defines, `name` for tools that it runs. */
const promptName = ({
  name,
  providerName,
  providerExecuted,
}: Extract<ConversationPart, { readonly type: "tool-call" | "tool-result" }>): string =>
  providerExecuted ? name : (providerName ?? name)

const promptPart = (part: ConversationPart, writeParams: WriteParams): Prompt.Part => {
  // Providers read what they wrote from options of the same form; their types are wider.
  const options = part.metadata as never
  switch (part.type) {
    case "text":
      return Prompt.makePart("text", { text: part.text, options })
    case "reasoning":
      return Prompt.makePart("reasoning", { text: part.text, options })
    case "file":
      return Prompt.makePart("file", { mediaType: part.mediaType, data: part.data, options })
    case "tool-call":
      return Prompt.makePart("tool-call", {
        id: part.id,
        name: promptName(part),
        params: writeParams(part.name, part.params),
        providerExecuted: part.providerExecuted,
        options,
      })
    case "tool-result":
      return Prompt.makePart("tool-result", {
        id: part.id,
        name: promptName(part),
        isFailure: part.isFailure,
        result: part.encodedResult,
        providerExecuted: part.providerExecuted,
        options,
      })
  }
}

/** The names of a tool that the part of the prompt does not have. */
const withNames = (part: Message.Part, from: ConversationPart): Message.Part => {
  if (from.type !== "tool-call" && from.type !== "tool-result") return part
  const { name, providerName } = from
  return withForm(part, {
    tool: {
      ...(promptName(from) === name ? {} : { name }),
      ...(providerName === undefined ? {} : { providerName }),
    },
  })
}

/** The tokens of the whole prompt. Anthropic reports tokens read from the cache or written to it separately. */
const inputOf = ({ usage, metadata }: Response.FinishPart): number | undefined => {
  const { anthropic } = metadata as { readonly anthropic?: { readonly usage?: unknown } }
  const own = Codec.isFields(anthropic?.usage) ? anthropic.usage : {}
  const cached = [own["cache_creation_input_tokens"], own["cache_read_input_tokens"]].filter(Codec.isCount)
  return Codec.isCount(usage.inputTokens)
    ? cached.reduce((sum, one) => sum + one, usage.inputTokens)
    : undefined
}

/**
 * Decodes the parts of a response: a message of the assistant, and one with the results of its tools. Parts of a stream are
 * put together. {@link encodeResponse} gives the same parts back. A response without content gives no message.
 *
 * The metadata of the parts become options, so that the provider gets its signatures and ids back; Effect AI's own `Chat`
 * leaves them out.
 *
 * @param parts the `content` of a response, or what a stream gave
 * @param writeParams encodes the parameters of a call; by default they are stored as they are
 *
 * @example
 * ```ts
 * import { LanguageModel } from "@effect/ai"
 * import { decodeResponse } from "@memfold/effect-ai"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const { content } = yield* LanguageModel.generateText({ prompt: "What is a fold?" })
 *   return decodeResponse(content)
 * })
 * ```
 */
export const decodeResponse = (
  parts: ReadonlyArray<Response.AnyPart>,
  writeParams: WriteParams = (_tool, params) => params,
): ReadonlyArray<Message.Message> => {
  const whole = wholeParts(parts)
  const isResult = (part: Response.AnyPart) => part.type === "tool-result" && !part.providerExecuted
  const ordered = [...whole.filter((part) => !isResult(part)), ...whole.filter(isResult)]
  const messageOf = (role: "assistant" | "tool", told: ReadonlyArray<ConversationPart>): Message.Message => {
    const content = told.map((part) => promptPart(part, writeParams))
    const message = decodeMessage(Prompt.makeMessage(role, { content } as never))
    return { ...message, parts: message.parts.map((part, at) => withNames(part, told[at]!)) }
  }
  const told = ordered.filter(isTold) as ReadonlyArray<ConversationPart>
  if (told.length === 0) return []
  const said = told.filter((part) => !isResult(part))
  const results = told.filter(isResult)
  const response = ordered.flatMap((part, at) => (isOther(part) ? [{ at, part: otherPart(part) }] : []))
  const finish = ordered.find((part): part is Response.FinishPart => part.type === "finish")
  const usage =
    finish && Codec.usageOf(inputOf(finish), finish.usage.outputTokens, finish.usage.reasoningTokens)
  const messages = [
    ...(said.length === 0 ? [] : [{ ...messageOf("assistant", said), ...usage }]),
    ...(results.length === 0 ? [] : [messageOf("tool", results)]),
  ]
  return messages.map((message, at) =>
    at === 0 ? { ...message, ...metadataOf({ ...formOf(message), response }) } : message,
  )
}

const responsePart = (part: Message.Part): Codec.Fields => {
  const { tool = {} } = partFormOf(part)
  const encoded: Codec.Fields = encodePart(part, true) ?? {}
  const { options, providerExecuted, fileName: _name, ...written } = encoded
  const executed = providerExecuted === true ? { providerExecuted } : {}
  return { ...written, ...tool, ...executed, ...Codec.present({ metadata: options }) }
}

/**
 * Encodes the messages of one response as its parts, in the order of `generateText`: results of tools come last.
 *
 * @param messages what {@link decodeResponse} gave, also after it was stored
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 * import { encodeResponse } from "@memfold/effect-ai"
 *
 * console.log(encodeResponse([Message.assistant("A fold is a reduction.")])) // [{ type: "text", text: … }]
 * ```
 */
export const encodeResponse = (
  messages: ReadonlyArray<Message.Message>,
): ReadonlyArray<Response.PartEncoded> => {
  const parts = messages.flatMap((message) => message.parts).map(responsePart)
  const others = messages.flatMap((message) => formOf(message).response ?? [])
  for (const { at, part } of others) parts.splice(at, 0, part)
  return parts as ReadonlyArray<unknown> as ReadonlyArray<Response.PartEncoded>
}
