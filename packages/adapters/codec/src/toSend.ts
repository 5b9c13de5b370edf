/** What of a context is sent, whichever library sends it. */
import { Message } from "@memfold/core"
import { withoutEarlierThoughts } from "./earlierThoughts.js"
import { withoutMisplacedCalls } from "./misplacedCalls.js"
import { type Fields, isFields } from "./fields.js"
import type { Omitted } from "./Omitted.js"

/** The first message of the user, where a conversation would begin with the assistant: providers refuse that, except OpenAI. */
export const opening = "(The conversation goes on.)"

/**
 * The messages of a context for a library that has the system messages apart: summaries as text, without reasoning whose prefix
 * has changed, and without calls outside of assistant messages. Every message stays in its place.
 */
export const messagesToSend = (
  context: ReadonlyArray<Message.Message>,
): { readonly messages: ReadonlyArray<Message.Message>; readonly omitted: ReadonlyArray<Omitted> } => {
  const read = Message.forReader(context)
  const summarized = read.flatMap(({ leftOut }, message) => leftOut.map((part) => ({ message, part })))
  const thoughts = withoutEarlierThoughts(read.map(({ message }) => message))
  const { messages, omitted } = withoutMisplacedCalls(thoughts.messages)
  return { messages, omitted: [...summarized, ...thoughts.omitted, ...omitted] }
}

/** The block of redacted thinking of the Messages API; `undefined` for any other part. Libraries have a place of their own for it. */
export const redactedThinking = (part: Message.Part): Fields | undefined =>
  part.type === "opaque" &&
  part.provider === "anthropic" &&
  isFields(part.data) &&
  part.data["type"] === "redacted_thinking"
    ? part.data
    : undefined
