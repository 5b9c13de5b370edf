/** From model messages of the AI SDK to memfold messages. */
import * as Codec from "@memfold/codec"
import type { Message } from "@memfold/core"
import { Either } from "effect"
import { type Form, itemsIn, metadataOf } from "./form.js"
import { decodePart } from "./parts.js"
import { decodeUI } from "./ui/decode.js"
import { messages, uiMessages, type WireMessage, type WireUIMessage } from "./wire.js"

const checkModelMessage = Codec.checkMessage<WireMessage>(messages, "ai-sdk")
const checkUIMessage = Codec.checkMessage<WireUIMessage>(uiMessages, "ai-sdk")

const isUIMessage = (input: unknown): boolean =>
  Codec.isFields(input) && input["content"] === undefined && Array.isArray(input["parts"])

const isPlainText = (part: Message.Part): boolean => part.type === "text" && part.providerData === undefined

const decodeModelMessage = (raw: WireMessage): Message.Message => {
  const { role, content } = raw
  const parts =
    typeof content === "string"
      ? [{ type: "text" as const, text: content }]
      : content.map((part) => decodePart(part, role))
  const asText = typeof content === "string" || role === "tool"
  const { content: _content, ...outside } = raw
  const { json, special } = Codec.freeze(outside)
  const form: { readonly [K in keyof Form]: Form[K] | undefined } = {
    content:
      !asText && (parts.length === 0 || (parts.length === 1 && isPlainText(parts[0]!))) ? "parts" : undefined,
    items: itemsIn(parts) || undefined,
    fields: Codec.rest(json as Codec.Fields, { role }),
    special,
  }
  return { role, parts, ...metadataOf(form) }
}

/** The input is no message of the AI SDK: see `DecodeError` of `@memfold/codec` for the fields. */
export class AiSdkDecodeError extends Codec.DecodeError<AiSdkDecodeError>()("AiSdkDecodeError") {}

const decoder = Codec.decoder(AiSdkDecodeError, (input) =>
  isUIMessage(input)
    ? Either.flatMap(checkUIMessage(input), (raw) => Codec.asJson(() => decodeUI(raw)))
    : Either.flatMap(checkModelMessage(input), (raw) => Codec.asJson(() => [decodeModelMessage(raw)])),
)

/**
 * Decodes a `ModelMessage` or a `UIMessage`; a wrong one, or one of another library, is an `AiSdkDecodeError`. A model
 * message gives one message. One of a page gives one or more: each step of an answer is a message with its calls and one
 * with their results.
 *
 * - `input` and outputs of type `json` become JSON text, and come back as the same values
 * - an output of type `content` is the `content` of its result; `error-text`, `error-json` and `execution-denied` are errors
 * - images and files are file parts, with addresses (`URL`) and bytes as they were
 * - reasoning that a provider signed is bound to its prefix
 * - what a provider runs itself, approvals, sources and parts not known here stay opaque and go back as they came
 * - `providerOptions`, `providerMetadata`, ids of a page and unknown fields are kept beside their part or message
 *
 * Three things are normalised: a field that is `undefined` is not there, an `ArrayBuffer` comes back as `Uint8Array`, and a
 * value with `toJSON`, such as a `Date`, as what that returns.
 */
export const decodeMessage: (
  input: unknown,
) => Either.Either<ReadonlyArray<Message.Message>, AiSdkDecodeError> = decoder.one

/**
 * Decodes a list of model messages and messages of a page, each as {@link decodeMessage} does. The first wrong message gives
 * an `AiSdkDecodeError` for the whole list.
 *
 * @example
 * ```ts
 * import { decodeMessages } from "@memfold/ai-sdk"
 * import { Either } from "effect"
 *
 * const messages = decodeMessages([{ role: "user", content: [{ type: "text", text: "What is a fold?" }] }])
 * console.log(Either.isRight(messages)) // true
 * ```
 */
export const decodeMessages = (
  input: unknown,
): Either.Either<ReadonlyArray<Message.Message>, AiSdkDecodeError> =>
  Either.map(decoder.list(input), (decoded) => decoded.flat())
