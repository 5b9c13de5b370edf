/** The message formats of a memory. */
import * as Anthropic from "@memfold/anthropic"
import {
  atOnce,
  type Omitted,
  serverNames,
  type Steps,
  type UnsupportedSection,
  unsupportedSections,
} from "@memfold/codec"
import { Message, type Render } from "@memfold/core"
import * as OpenAI from "@memfold/openai"
import { Either } from "effect"

/** A message with parts of any type, as the types of the official clients have it. */
export interface AnyMessage<Role extends string> {
  readonly role: Role
  readonly content: string | ReadonlyArray<{ readonly type: string }>
}

/**
 * The types of each format: `given` is what you append, `context` is `messages` of a context, and `apart` is the same
 * with the system messages apart (`systemMessages: "apart"`).
 *
 * - `openai`: messages of the Chat Completions API
 * - `openai-responses`: items of the Responses API
 * - `anthropic`: messages of the Messages API; a context is `{ system, messages }`
 * - `memfold`: the messages of `@memfold/core`
 *
 * A whole response of the official client can be appended, too: its usage is read, and never sent back.
 */
export interface Formats {
  readonly openai: {
    readonly given:
      | OpenAI.OpenAIMessage
      | AnyMessage<"user">
      | { readonly object: "chat.completion"; readonly choices: ReadonlyArray<{ readonly message: object }> }
    readonly context: Array<OpenAI.OpenAIMessage>
    readonly apart: { system?: string; messages: Array<OpenAI.OpenAIMessage> }
  }
  readonly "openai-responses": {
    readonly given:
      | OpenAI.Responses.ResponsesItem
      | { readonly type: string }
      | { readonly type?: "item_reference" | null; readonly id: string }
      | AnyMessage<"user" | "assistant" | "system" | "developer">
      | { readonly object: "response"; readonly output: ReadonlyArray<{ readonly type: string }> }
    readonly context: Array<OpenAI.Responses.ResponsesItem>
    readonly apart: { instructions?: string; input: Array<OpenAI.Responses.ResponsesItem> }
  }
  readonly anthropic: {
    readonly given: Anthropic.AnthropicMessage | AnyMessage<"user" | "assistant" | "system">
    readonly context: Anthropic.AnthropicConversation
    readonly apart: Anthropic.AnthropicConversation
  }
  readonly memfold: {
    readonly given: Message.Message
    readonly context: ReadonlyArray<Message.Message>
    readonly apart: { readonly system?: string; readonly messages: ReadonlyArray<Message.Message> }
  }
}

/** Where the system messages of a context stand: among the messages, or apart from them. */
export type SystemMessages = "inline" | "apart"

/** The type of `messages` of a context. */
export type ContextMessages<
  Format extends keyof Formats,
  System extends SystemMessages,
> = System extends "apart" ? Formats[Format]["apart"] : Formats[Format]["context"]

/** Messages in a format, and what it has no place for. */
export interface Encoded {
  readonly messages: unknown
  readonly omitted: ReadonlyArray<Omitted>
}

/**
 * Options of one context.
 *
 * - `model`: the model that the request is for. Signed reasoning that another model wrote is left out, where the log knows its
 *   model; the layout names it. A summary that was made for another model is sent as text
 * - `summaries`: the form of a summary that a provider wrote
 * - `cacheControl`: marks where the prompt cache is set, for five minutes (`true`, `"5m"`) or an hour (`"1h"`). Only the
 *   format `anthropic` has such marks: three at most, so one is left for the tools. Other providers cache by themselves
 * - `extraFields`: names of further fields that the server takes, such as `reasoning_content`. A context has
 *   them wherever a message, a part or a call was appended with them; all other unknown fields stay in the log
 * - `server`: who gets the context: a name of `serverNames`, or the base URL of the client
 */
export interface FormatOptions extends Pick<
  Anthropic.EncodeOptions,
  "model" | "summaries" | "extraFields" | "server"
> {
  readonly cacheControl?: boolean | "5m" | "1h"
}

/** What is wrong with the option `extraFields`; `null` if nothing is. */
export const wrongExtraFields = (given: unknown): string | null =>
  given === undefined || (Array.isArray(given) && given.every((name) => typeof name === "string"))
    ? null
    : "extraFields must be a list of names"

/** Whether a text says who gets a context: the name of a server that is known, or an address. */
export const isServer = (given: string): boolean =>
  (serverNames as ReadonlyArray<string>).includes(given) || URL.canParse(given)

/** What the option `server` can be, in words. */
export const serverWords = `${serverNames.join(", ")}, or the base URL of the client`

/** What is wrong with the option `server`; `null` if nothing is. */
export const wrongServer = (given: unknown): string | null =>
  given === undefined || (typeof given === "string" && isServer(given))
    ? null
    : `server must be ${serverWords}`

/** What is wrong with the option `cacheControl`; `null` if nothing is. */
export const wrongCacheControl = (given: unknown): string | null =>
  given === undefined || typeof given === "boolean" || given === "5m" || given === "1h"
    ? null
    : 'cacheControl must be true, false, "5m" or "1h"'

/** Reads and writes the messages of a format. */
export interface Codec {
  readonly decode: (
    given: ReadonlyArray<unknown>,
  ) => Steps<Either.Either<ReadonlyArray<Message.Message>, Error>>
  /** As the messages came, not as a request that the provider accepts. */
  readonly encodeExact: (messages: ReadonlyArray<Message.Message>) => unknown
  readonly encode: (
    messages: ReadonlyArray<Message.Message>,
    options: Anthropic.EncodeOptions,
  ) => Steps<Encoded>
  /** With the text of all system messages apart, if there is one. */
  readonly encodeApart: (
    messages: ReadonlyArray<Message.Message>,
    options: Anthropic.EncodeOptions,
  ) => Steps<Encoded>
}

/** Takes the system messages out, encodes the others, and puts both together. */
const apart = (encode: Codec["encode"], put: (system: string | undefined, messages: unknown) => unknown) =>
  function* (messages: ReadonlyArray<Message.Message>, options: Anthropic.EncodeOptions): Steps<Encoded> {
    // A call in a system message goes to the codec, which leaves it out with its result.
    const others = messages.map((message) =>
      message.role === "system"
        ? { ...message, parts: message.parts.filter(({ type }) => type === "tool-call") }
        : message,
    )
    const positions = others.flatMap(({ role, parts }, at) =>
      role === "system" && parts.length === 0 ? [] : [at],
    )
    const system = messages.filter(({ role }) => role === "system")
    const texts = system.map(Message.text).filter((text) => text !== "")
    const encoded = yield* encode(
      positions.map((at) => others[at]!),
      options,
    )
    const unsaid = messages.flatMap(({ role, parts }, message) =>
      role === "system"
        ? parts.flatMap(({ type }) =>
            type === "text" || type === "tool-call" ? [] : [{ message, part: type }],
          )
        : [],
    )
    return {
      messages: put(texts.length === 0 ? undefined : texts.join("\n\n").toWellFormed(), encoded.messages),
      omitted: [
        ...unsaid,
        ...encoded.omitted.map(({ message, part }) => ({ message: positions[message]!, part })),
      ],
    }
  }

const withSystem = (system: string | undefined, messages: unknown) => ({
  ...(system === undefined ? {} : { system }),
  messages,
})

// Without a server, these are the APIs of OpenAI, where anyone may begin.
const inOpenAI: Codec["encode"] = (messages, { extraFields = [], server = "openai" }) =>
  OpenAI.encodingInSteps(messages, { extraFields, server })

const inResponses: Codec["encode"] = function* (messages, { server = "openai", ...options }) {
  const { input, omitted } = yield* OpenAI.Responses.encodingInSteps(messages, { ...options, server })
  return { messages: input, omitted }
}

/** A summary that is sent as a window stays among the items: it is no text of a system message any more. */
const responsesApart: Codec["encode"] = function* (given, options) {
  const { messages, sources, omitted: before } = OpenAI.Responses.placeSummaries(given, options)
  const { omitted, ...encoded } = yield* apart(inResponses, (instructions, input) => ({
    ...(instructions === undefined ? {} : { instructions }),
    input,
  }))(messages, options)
  const after = omitted.map(({ message, part }) => ({ message: sources[message] ?? message, part }))
  return { ...encoded, omitted: [...before, ...after] }
}

const inAnthropic: Codec["encode"] = function* (given, options) {
  const { omitted, ...messages } = yield* Anthropic.encodingInSteps(given, options)
  return { messages, omitted }
}

// oxlint-disable-next-line require-yield -- there is nothing to do
const asTheyAre: Codec["encode"] = function* (messages) {
  return { messages, omitted: [] }
}

/** The codec of each format. */
export const codecs: Readonly<Record<keyof Formats, Codec>> = {
  openai: {
    decode: OpenAI.decodingInSteps,
    encodeExact: (messages) => OpenAI.encodeMessages(messages, { exact: true }),
    encode: inOpenAI,
    encodeApart: apart(inOpenAI, withSystem),
  },
  "openai-responses": {
    decode: OpenAI.Responses.decodingInSteps,
    encode: inResponses,
    encodeExact: (messages) => OpenAI.Responses.encodeItems(messages, { exact: true }),
    encodeApart: responsesApart,
  },
  anthropic: {
    decode: Anthropic.decodingInSteps,
    encode: inAnthropic,
    encodeExact: (messages) => Anthropic.encodeMessages(messages, { exact: true }),
    encodeApart: inAnthropic,
  },
  memfold: {
    // The memory itself checks these messages.
    // oxlint-disable-next-line require-yield -- there is nothing to do
    decode: function* (given) {
      return Either.right(given as ReadonlyArray<Message.Message>)
    },
    encode: asTheyAre,
    encodeExact: (messages) => messages,
    encodeApart: apart(asTheyAre, withSystem),
  },
}

/** The formats that have a place for summaries of their provider. */
const nativeTo: Partial<Record<keyof Formats, string>> = {
  anthropic: "anthropic",
  "openai-responses": "openai-responses",
}

/**
 * The prefix of a context in a format. A summary can be sent as text, or in the form of its provider: the two contexts have
 * different prefixes.
 */
const prefixOf = (
  format: keyof Formats,
  { messages, prefix }: Render.Context,
  { model, summaries }: FormatOptions,
): Render.Context["prefix"] => {
  const provider = nativeTo[format]
  const asText = messages.some((message) => {
    if (!message.parts.some(Message.isReplacing)) return false
    const parts = message.parts.filter(Message.isReplacing)
    const own = parts.filter((part) => part.provider === provider)
    const sent = summaries === "text" ? [] : Message.partsFor(message, { provider: provider ?? "", model })
    return own.length > 0 && !sent.some(Message.isReplacing)
  })
  return asText ? { ...prefix, head: [prefix.head, "summary as text"].filter(Boolean).join(", ") } : prefix
}

/** {@link encodeIn} in steps, between which others have their turn. */
export const encodingIn = (
  format: keyof Formats,
  { messages, cacheMarks }: Pick<Render.Context, "messages" | "cacheMarks">,
  systemMessages: SystemMessages,
  { cacheControl, ...form }: FormatOptions,
): Steps<Encoded> => {
  const codec = codecs[format]
  const encode = systemMessages === "apart" ? codec.encodeApart : codec.encode
  const ttl = cacheControl === "1h" ? "1h" : "5m"
  const isMarked = cacheControl !== undefined && cacheControl !== false
  return encode(messages, { ...form, ...(isMarked ? { cacheControl: { behind: cacheMarks, ttl } } : {}) })
}

/** Messages in a format, with marks of the prompt cache behind these positions if the options ask for them. */
export const encodeIn = (...given: Parameters<typeof encodingIn>): Encoded => atOnce(encodingIn(...given))

/** A context in a format. */
export interface InFormat {
  readonly messages: unknown
  readonly layout: ReadonlyArray<Render.Section | UnsupportedSection>
  readonly prefix: Render.Context["prefix"]
}

/** {@link formatContext} in steps, between which others have their turn. */
export function* formattingInSteps(
  format: keyof Formats,
  context: Render.Context,
  systemMessages: SystemMessages = "inline",
  options: FormatOptions = {},
): Steps<InFormat> {
  const { messages, omitted } = yield* encodingIn(format, context, systemMessages, options)
  return {
    messages,
    layout: [...context.layout, ...unsupportedSections(omitted, context.sources)],
    prefix: prefixOf(format, context, options),
  }
}

/** A context in a format; its layout names what the format has no place for. */
export const formatContext = (...given: Parameters<typeof formattingInSteps>): InFormat =>
  atOnce(formattingInSteps(...given))
