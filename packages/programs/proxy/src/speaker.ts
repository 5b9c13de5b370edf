/** Who speaks through the proxy: whoever has this key of the upstream. The key itself is never kept. */
import type { Message } from "@memfold/core"
import { createHmac } from "node:crypto"
import { fieldsIn } from "./headers.js"

/** The header fields with keys, of the APIs and of gateways before them. */
const keyFields: ReadonlySet<string> = new Set(["authorization", "x-api-key", "api-key", "x-goog-api-key"])

/** Somebody with a key; `null` where a token of the service says who it is, whatever the key. */
export type Speaker = string | null

/** Who speaks: all keys of a request, as they came. Requests without a key come from one speaker. */
export const speakerOf = (rawHeaders: ReadonlyArray<string>): string =>
  JSON.stringify(
    fieldsIn(rawHeaders)
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name]) => keyFields.has(name)),
  )

/** Digits that follow from a key and a text, and from which nobody finds the key (HMAC-SHA-256). */
export const signed = (speaker: string, text: string, length: number): string =>
  createHmac("sha256", speaker).update(text).digest("hex").slice(0, length)

/** What messages keep of who has said them, in their metadata. */
const field = "memfold-speaker"

export const markOf = (speaker: string): string => signed(speaker, field, 32)

/** Messages with the mark of who says them. */
export const markedBy = (
  speaker: Speaker,
  messages: ReadonlyArray<Message.Message>,
): ReadonlyArray<Message.Message> => {
  if (speaker === null) return messages
  const mark = markOf(speaker)
  return messages.map((message) => ({ ...message, metadata: { ...message.metadata, [field]: mark } }))
}

/** The mark in a conversation; `null` in one that none has come to through the proxy with a key alone. */
export const markIn = (messages: ReadonlyArray<Message.Message>): string | null => {
  const mark = messages.findLast(({ metadata }) => metadata?.[field] !== undefined)?.metadata?.[field]
  return typeof mark === "string" ? mark : null
}
