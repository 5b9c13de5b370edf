/** Contexts as prompts: each message as the text and the tokens that a call is charged for. */
import { Message, type Render, TokenCounter } from "@memfold/core"
import type { Cost } from "@memfold/prices"

const partText = (part: Message.Part): string => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text
    case "tool-call":
      return `${part.name} ${part.arguments}`
    case "tool-result":
      return part.output
    case "file":
      return part.uri
    case "opaque":
      return JSON.stringify(part.data) ?? ""
  }
}

/** A longer text, in UTF-16 units, may be a summary of blocks. */
const longText = 8_192

/**
 * Turns contexts into prompts. Most messages of a context were in the previous context, so each is counted once: the parts of
 * a message are the same objects in every context that has it.
 */
export const promptsOf = (): ((context: Pick<Render.Context, "messages">) => ReadonlyArray<Cost.Sent>) => {
  // A summary of blocks has each of them once more whenever one comes.
  const { estimating, growing } = TokenCounter
  const ofBlocks = growing()
  const count = (text: string) => (text.length > longText ? ofBlocks(text) : estimating.count(text))
  const counter = { ...estimating, count }
  const seen = new WeakMap<Message.Part, { readonly message: Message.Message; readonly sent: Cost.Sent }>()
  const sentOf = (message: Message.Message): Cost.Sent => ({
    text: `${message.role}: ${Message.partsFor(message).map(partText).join("\n")}`,
    tokens: TokenCounter.ofMessage(counter, message),
  })
  const isSame = (one: Message.Message, other: Message.Message): boolean =>
    one.role === other.role &&
    one.usage?.output === other.usage?.output &&
    one.parts.length === other.parts.length &&
    one.parts.every((part, at) => part === other.parts[at])
  return ({ messages }) =>
    messages.map((message) => {
      const [first] = message.parts
      const before = first === undefined ? undefined : seen.get(first)
      if (before !== undefined && isSame(before.message, message)) return before.sent
      const sent = sentOf(message)
      if (first !== undefined) seen.set(first, { message, sent })
      return sent
    })
}
