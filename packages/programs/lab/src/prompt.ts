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

/** Turns contexts into prompts. Most messages of a context were in the previous context, as the same objects: each is counted once. */
export const promptsOf = (
  estimating: TokenCounter.Service,
): ((context: Pick<Render.Context, "messages">) => ReadonlyArray<Cost.Sent>) => {
  // A summary of blocks has each of them once more whenever one comes.
  const ofBlocks = TokenCounter.growing()
  const count = (text: string) => (text.length > longText ? ofBlocks(text) : estimating.count(text))
  const counter = { ...estimating, count }
  const known = new WeakMap<Message.Message, Cost.Sent>()
  return ({ messages }) =>
    messages.map((message) => {
      const before = known.get(message)
      if (before !== undefined) return before
      const sent = {
        text: `${message.role}: ${Message.partsFor(message).map(partText).join("\n")}`,
        tokens: TokenCounter.ofMessage(counter, message),
      }
      known.set(message, sent)
      return sent
    })
}
