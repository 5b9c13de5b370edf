/** Input for a summarizer with a limited window: messages divided into chunks. */
import { mapped, type Steps } from "@memfold/log/breathe"
import type { Message, Part } from "@memfold/message/Message"
import { textOf } from "@memfold/message/Item"
import { type Service as TokenCounter, messageOverhead, ofMessage } from "@memfold/message/TokenCounter"

/** A message or a part of one, with the tokens it takes in a summarizer's input. */
export interface Chunk {
  /** The position of the message in the given list. */
  readonly position: number
  readonly message: Message
  readonly tokens: number
}

/** The part of a model's window that is left for messages, beside the instructions and the answer. */
const inputShare = 0.9

/** No model has a window below this, in tokens: a smaller limit of a strategy says something else. */
const leastWindow = 4_000

/** The most tokens of input for one call of a summarizer: its own window, or else the strategy's limit; `undefined` if it has none. */
export const maxInputOf = (
  { maxInputTokens }: { readonly maxInputTokens?: number },
  { contextLimit }: { readonly contextLimit?: number },
): number | undefined => {
  if (maxInputTokens !== undefined) return Number.isFinite(maxInputTokens) ? maxInputTokens : undefined
  return contextLimit === undefined ? undefined : Math.max(Math.floor(contextLimit * inputShare), leastWindow)
}

/** The smallest room for new messages in a call, in tokens: the text written so far must leave as much. */
export const smallestRoom = (maxInputTokens: number | undefined): number | undefined =>
  maxInputTokens === undefined ? undefined : Math.max(Math.floor(maxInputTokens / 4), 1)

/**
 * Divides messages into chunks of at most `limit` tokens, in order and without losing a character. A message above the
 * limit is divided within its text; only a file or an opaque part without text cannot be divided.
 *
 * Chunks are counted, because the usage that a provider reported for a message says nothing about a part of it.
 */
export function* chunks(
  counter: TokenCounter,
  messages: ReadonlyArray<Message>,
  limit: number,
): Steps<ReadonlyArray<Chunk>> {
  const divided = yield* mapped(messages, (message, position): ReadonlyArray<Chunk> => {
    const { usage: _usage, ...bare } = message
    const tokens = ofMessage(counter, bare)
    if (tokens <= limit) return [{ position, message: bare, tokens }]
    return bare.parts
      .flatMap((part) => partChunks(counter, part, Math.max(limit - 2 * messageOverhead, 1)))
      .map((part) => ({ ...bare, parts: [part] }))
      .map((chunk) => ({ position, message: chunk, tokens: ofMessage(counter, chunk) }))
  })
  return divided.flat()
}

/** How many chunks from a position on fit into `room` tokens; at least one. */
export const fitting = (all: ReadonlyArray<Chunk>, from: number, room: number): number => {
  let tokens = 0
  let count = 0
  for (let position = from; position < all.length; position++) {
    tokens += all[position]?.tokens ?? 0
    if (tokens > room && count > 0) break
    count++
  }
  return count
}

const partChunks = (counter: TokenCounter, part: Part, limit: number): ReadonlyArray<Part> => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return textChunks(counter, part.text, limit).map((text) => ({ ...part, text }))
    case "tool-result": {
      const { content = [], ...result } = part
      return [
        ...textChunks(counter, part.output, limit).map((output) => ({ ...result, output })),
        ...content.filter(({ type }) => type !== "text").flatMap((one) => partChunks(counter, one, limit)),
      ]
    }
    case "tool-call":
      return textChunks(counter, part.arguments, limit).map((text) => ({ ...part, arguments: text }))
    case "file":
    case "opaque": {
      const text = textOf(part)
      return counter.count(text) <= limit
        ? [part]
        : textChunks(counter, text, limit).map((chunk) => ({ type: "text", text: chunk }))
    }
  }
}

/** Halves a text until each chunk fits. It never divides a surrogate pair. */
const textChunks = (counter: TokenCounter, text: string, limit: number): ReadonlyArray<string> => {
  if (text.length < 2 || counter.count(text) <= limit) return [text]
  const half = text.length >>> 1
  const low = text.charCodeAt(half)
  const middle = low >= 0xdc00 && low <= 0xdfff ? half + 1 : half
  if (middle >= text.length) return [text]
  return [
    ...textChunks(counter, text.slice(0, middle), limit),
    ...textChunks(counter, text.slice(middle), limit),
  ]
}
