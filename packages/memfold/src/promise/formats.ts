/** The message formats of a memory. */
import * as Anthropic from "@memfold/anthropic"
import type { Message } from "@memfold/core"
import * as OpenAI from "@memfold/openai"
import { Either } from "effect"

/**
 * The message types of each format: `given` is one message that you append, `context` is `messages` of a context.
 *
 * - `openai`: messages of the Chat Completions API
 * - `anthropic`: messages of the Messages API; a context is `{ system, messages }`
 * - `memfold`: the messages of `@memfold/core`
 */
export interface Formats {
  readonly openai: {
    readonly given: OpenAI.OpenAIMessage
    readonly context: ReadonlyArray<OpenAI.OpenAIMessage>
  }
  readonly anthropic: {
    readonly given: Anthropic.AnthropicMessage
    readonly context: Anthropic.AnthropicConversation
  }
  readonly memfold: { readonly given: Message.Message; readonly context: ReadonlyArray<Message.Message> }
}

interface Codec {
  readonly decode: (given: ReadonlyArray<unknown>) => Either.Either<ReadonlyArray<Message.Message>, Error>
  readonly encode: (messages: ReadonlyArray<Message.Message>) => unknown
}

/** The codec of each format. */
export const codecs: Readonly<Record<keyof Formats, Codec>> = {
  openai: { decode: OpenAI.decodeMessages, encode: OpenAI.encodeMessages },
  anthropic: { decode: Anthropic.decodeMessages, encode: Anthropic.encodeMessages },
  memfold: {
    // The memory itself checks these messages.
    decode: (given) => Either.right(given as ReadonlyArray<Message.Message>),
    encode: (messages) => messages,
  },
}
