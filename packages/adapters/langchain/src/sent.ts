/** Content blocks for a model: what its provider takes of the parts of a conversation. */
import { type Fields, isFields, type Omissions, redactedThinking } from "@memfold/codec"
import type { Message } from "@memfold/core"
import { isCallBlock, sentReasoning, sentText } from "./blocks.js"
import { sentFile, takesFile } from "./files.js"
import { formOf, ownData, partFormOf } from "./form.js"

/** Who wrote a message, as seen by the provider that gets it. */
export type Author = "own" | "openai" | "other"

/** The providers that are surely named the same in an answer and by their models. */
const surelyNamed = new Set(["anthropic", "openai"])

/** Whether a message from one provider goes to another one, as far as their names say. */
const isOther = (from: string, to: string | undefined): boolean =>
  to !== undefined && from !== to && (surelyNamed.has(from) || surelyNamed.has(to))

/** Writes the blocks of one conversation, and notes what it leaves out. */
export class Blocks {
  /** The provider, whichever of its APIs it is. */
  private readonly company: string | undefined

  constructor(
    private readonly provider: string | undefined,
    private readonly omissions: Omissions,
  ) {
    this.company = provider === "openai-responses" ? "openai" : provider
  }

  /**
   * Who wrote the blocks of a message. Blocks of another provider are useless to this provider. OpenAI has two APIs: Chat
   * Completions refuses blocks of Responses. Responses reads the content of its blocks from `response_metadata`, or from
   * fields beside the content, unless they are standard blocks (`output_version: "v1"`).
   */
  authorOf(message: Message.Message): Author {
    const metadata = formOf(message).fields?.["response_metadata"]
    const from = isFields(metadata) ? metadata["model_provider"] : undefined
    if (typeof from === "string" && isOther(from, this.company)) return "other"
    const isStandard = isFields(metadata) && metadata["output_version"] === "v1"
    return from === "openai" && !isStandard ? "openai" : "own"
  }

  private opaque(part: Message.Opaque, author: Author): ReadonlyArray<unknown> {
    const redacted = redactedThinking(part)
    if (redacted !== undefined)
      return this.provider === undefined || this.provider === "anthropic"
        ? [redacted]
        : this.omissions.add("opaque")
    const own = ownData(part)
    if (!isFields(own) || author === "other") return this.omissions.add("opaque")
    // The text of the arguments, as it was streamed; the call has it.
    if (own["type"] === "input_json_delta") return []
    return isCallBlock(own) ? this.omissions.add("invalid-tool-call") : [own]
  }

  /** Whether a text says nothing that the provider would take: Anthropic refuses blank ones. */
  isEmpty(text: string): boolean {
    return (this.provider === "anthropic" || this.provider === undefined ? text.trim() : text) === ""
  }

  private text(part: Message.Text, author: Author): Fields {
    if (author === "own") return sentText(part)
    const { patch } = partFormOf(part)
    const cites = [patch?.["citations"], patch?.["annotations"]].some(
      (list) => Array.isArray(list) && list.length > 0,
    )
    if (author === "other" && cites) this.omissions.add("citations")
    return { type: "text", text: part.text }
  }

  private reasoning(part: Message.Reasoning, author: Author): ReadonlyArray<unknown> {
    if (author === "openai") return []
    const { block } = partFormOf(part)
    const isSigned = part.signature !== undefined && block !== "reasoning"
    const isRead = isSigned
      ? this.provider === undefined || this.provider === "anthropic" || block !== undefined
      : block === "reasoning"
    return isRead && author !== "other" && this.company !== "openai"
      ? [sentReasoning(part)]
      : this.omissions.add("reasoning")
  }

  /** The block of a part; none for a part that this provider does not take. */
  block(part: Message.Part, role: Message.Role, author: Author = "own"): ReadonlyArray<unknown> {
    switch (part.type) {
      case "text":
        return this.isEmpty(part.text) ? [] : [this.text(part, author)]
      case "reasoning":
        return this.reasoning(part, author)
      case "file":
        return takesFile(part, role, this.provider)
          ? [sentFile(part, this.provider)]
          : this.omissions.add("file")
      case "opaque":
        return this.opaque(part, author)
      case "tool-call":
      case "tool-result":
        return this.omissions.add(part.type)
    }
  }
}
