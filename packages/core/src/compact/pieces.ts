import type { Message, Part } from "../message/Message.js"
import type { Service as TokenCounter } from "../message/TokenCounter.js"
import { messageOverhead, ofMessage } from "../message/TokenCounter.js"

/** A message, or a piece of one, with the tokens it takes in a summarizer's input. */
export interface Piece {
  /** The position of the message among those that were given. */
  readonly position: number
  readonly message: Message
  readonly tokens: number
}

/** The tokens of new messages that every call has room for, whatever has been written so far. */
export const smallestRoom = (maxInputTokens: number | undefined): number | undefined =>
  maxInputTokens === undefined ? undefined : Math.max(Math.floor(maxInputTokens / 4), 1)

/**
 * Messages in pieces of at most `limit` tokens, in order and without losing a character: a message that is larger
 * by itself is divided within its text. Only a file or an opaque part cannot be divided.
 *
 * What a provider reported for a whole message says nothing about a piece of it, so pieces are counted.
 */
export const pieces = (
  counter: TokenCounter,
  messages: ReadonlyArray<Message>,
  limit: number,
): ReadonlyArray<Piece> =>
  messages.flatMap((message, position) => {
    const { usage: _usage, ...bare } = message
    const tokens = ofMessage(counter, bare)
    if (tokens <= limit) return [{ position, message: bare, tokens }]
    return bare.parts
      .flatMap((part) => partPieces(counter, part, Math.max(limit - 2 * messageOverhead, 1)))
      .map((part) => ({ ...bare, parts: [part] }))
      .map((piece) => ({ position, message: piece, tokens: ofMessage(counter, piece) }))
  })

/** How many of the pieces from a position on fit into so many tokens; at least one. */
export const fitting = (all: ReadonlyArray<Piece>, from: number, room: number): number => {
  let tokens = 0
  let count = 0
  for (let position = from; position < all.length; position++) {
    tokens += all[position]?.tokens ?? 0
    if (tokens > room && count > 0) break
    count++
  }
  return count
}

const partPieces = (counter: TokenCounter, part: Part, limit: number): ReadonlyArray<Part> => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return textPieces(counter, part.text, limit).map((text) => ({ ...part, text }))
    case "tool-result":
      return textPieces(counter, part.output, limit).map((output) => ({ ...part, output }))
    case "tool-call":
      return textPieces(counter, part.arguments, limit).map((text) => ({ ...part, arguments: text }))
    case "file":
    case "opaque":
      return [part]
  }
}

/** Halves a text until each piece fits; never between the two halves of a surrogate pair. */
const textPieces = (counter: TokenCounter, text: string, limit: number): ReadonlyArray<string> => {
  if (text.length < 2 || counter.count(text) <= limit) return [text]
  const half = text.length >>> 1
  const low = text.charCodeAt(half)
  const middle = low >= 0xdc00 && low <= 0xdfff ? half + 1 : half
  if (middle >= text.length) return [text]
  return [
    ...textPieces(counter, text.slice(0, middle), limit),
    ...textPieces(counter, text.slice(middle), limit),
  ]
}
