/** The message formats that a memory speaks. */
import * as Anthropic from "@memfold/anthropic"
import type { Message } from "@memfold/core"
import * as OpenAI from "@memfold/openai"
import { Either } from "effect"

/** What goes into a memory and what comes out of it, by the name of the format. */
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
    // What does not fit the form of a message is found by the memory itself.
    decode: (given) => Either.right(given as ReadonlyArray<Message.Message>),
    encode: (messages) => messages,
  },
}
