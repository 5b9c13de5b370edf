import type { Message, Part } from "../message/Message.js"
import type { Service as TokenCounter } from "../message/TokenCounter.js"
import { ofMessage } from "../message/TokenCounter.js"

/** A run of messages with the tokens they take. */
export interface Chunk {
  readonly messages: ReadonlyArray<Message>
  readonly tokens: number
}

/**
 * Divides messages into runs of at most `limit` tokens, in order and without losing a character: a message that
 * is larger than that by itself is divided within its text.
 */
export const chunks = (
  counter: TokenCounter,
  messages: ReadonlyArray<Message>,
  limit: number,
): ReadonlyArray<Chunk> => {
  const out: Array<{ messages: Array<Message>; tokens: number }> = []
  for (const piece of messages.flatMap((message) => pieces(counter, message, limit))) {
    // What a provider reported for a whole message says nothing about a piece of it, so pieces are counted.
    const tokens = ofMessage(counter, piece)
    const last = out.at(-1)
    if (last !== undefined && last.tokens + tokens <= limit) {
      last.messages.push(piece)
      last.tokens += tokens
    } else {
      out.push({ messages: [piece], tokens })
    }
  }
  return out
}

const pieces = (counter: TokenCounter, message: Message, limit: number): ReadonlyArray<Message> => {
  const { usage: _usage, ...bare } = message
  if (ofMessage(counter, bare) <= limit) return [bare]
  return message.parts.flatMap((part) =>
    partPieces(counter, part, limit).map((piece) => ({ ...bare, parts: [piece] })),
  )
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
