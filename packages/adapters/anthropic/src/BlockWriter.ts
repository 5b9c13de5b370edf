/** The blocks of the messages of one conversation. */
import * as Codec from "@memfold/codec"
import { Item, Message } from "@memfold/core"
import { fromFile } from "./files.js"
import { isBlank, partFormOf } from "./form.js"
import { toInput } from "./input.js"

/** A block of a request, and the part of the message that it is from. */
export interface Block {
  readonly fields: Codec.Fields
  readonly message: number
  readonly part: Message.Part["type"]
}

/** The blocks of a message: results apart, because they have to come first in their turn. */
export interface Blocks {
  readonly results: Array<Block>
  readonly others: Array<Block>
}

/** Blocks that the API does not take from the model; it takes all others that do not stand within blocks. */
const fromOutside: ReadonlySet<string> = new Set(
  "image document search_result tool_result container_upload tool_addition tool_removal".split(" "),
)

/** The types of blocks that the API takes from each role; those of a tool stand in its result. */
const taken: Readonly<Record<Message.Role, ReadonlySet<string>>> = {
  system: new Set(["text", "tool_addition", "tool_removal"]),
  user: new Set(["text", "image", "document", "search_result", "container_upload"]),
  tool: new Set(["text", "image", "document", "search_result", "tool_reference", "browser_state"]),
  assistant: new Set(
    Object.entries(Item.items.anthropic).flatMap(([type, { within }]) =>
      within === true || fromOutside.has(type) ? [] : [type],
    ),
  ),
}

/** Whether a block came whole: redacted thinking of an answer that was cut may have no data. */
const isWhole = ({ type, data }: Codec.Fields): boolean =>
  type !== "redacted_thinking" || (typeof data === "string" && data !== "")

/** Writes the blocks of one conversation, and notes what it leaves out. */
export class BlockWriter {
  readonly omitted: Array<Codec.Omitted> = []
  readonly ids = new Codec.CallIds({ pattern: /^[\w-]+$/, reuse: false })

  constructor(private readonly exact: boolean) {}

  private omit(message: number, part: string): undefined {
    this.omitted.push({ message, part })
    return undefined
  }

  /** The block of a part that stands on its own; none if Anthropic cannot carry it there. */
  private fieldsOf(part: Message.Part, role: Message.Role, message: number): Codec.Fields | undefined {
    const form = partFormOf(part)
    switch (part.type) {
      case "text":
        return isBlank(part.text) && !this.exact
          ? undefined
          : Codec.restore({ type: "text", text: part.text }, form.fields)
      case "file": {
        const file = role === "user" || role === "tool" ? fromFile(part) : undefined
        return file === undefined ? this.omit(message, "file") : Codec.restore(file, form.fields)
      }
      case "opaque": {
        const { data, provider } = part
        if (provider !== "anthropic" || !Codec.isFields(data)) return this.omit(message, "opaque")
        if (this.exact) return data
        if (!isWhole(data)) return this.omit(message, "opaque")
        const placed = Codec.inPlace(provider, data, taken[role])
        if (typeof placed === "string") return this.omit(message, placed)
        return "data" in placed
          ? Codec.withPairId(provider, placed.data, this.ids)
          : this.fieldsOf(placed, role, message)
      }
      case "reasoning": {
        if (role !== "assistant" || !(this.exact || Message.isBound(part))) {
          return this.omit(message, "reasoning")
        }
        const signature = part.signature === undefined ? {} : { signature: part.signature }
        return Codec.restore({ type: "thinking", thinking: part.text, ...signature }, form.fields)
      }
      case "tool-call": {
        if (role !== "assistant") return this.omit(message, "tool-call")
        const id = this.exact ? part.id : this.ids.call(part.id)
        const input = toInput(part.arguments)
        return Codec.restore({ type: "tool_use", id, name: part.name, input }, form.fields)
      }
      case "tool-result":
        return undefined
    }
  }

  private contentOfResult(
    result: Message.ToolResult,
    following: ReadonlyArray<Message.Part>,
    message: number,
  ): { readonly content?: unknown } {
    const form = partFormOf(result)
    const own = result.content ?? [{ type: "text" as const, text: result.output }]
    // The API takes an error in words alone.
    const inWords = result.isError === true && !this.exact
    const blocks = [...own, ...following].flatMap((part) => {
      const fields = this.fieldsOf(part, "tool", message)
      if (fields === undefined) return []
      if (!inWords || fields["type"] === "text") return [fields]
      this.omit(message, part.type)
      return []
    })
    const plain = result.content === undefined && following.length === 0
    if (!plain && blocks.length > 0) return { content: blocks }
    if (result.output === "" || (!plain && blocks.length === 0)) {
      if (result.isError === true && !this.exact) return { content: Codec.noOutput }
      if (form.content !== undefined) return form.content === "absent" ? {} : { content: [] }
    }
    return { content: form.content === "blocks" ? blocks : result.output }
  }

  /** A result with its content, and with parts of a tool message that follow it. */
  private resultOf(
    result: Message.ToolResult,
    following: ReadonlyArray<Message.Part>,
    message: number,
  ): Codec.Fields {
    const id = this.exact ? result.id : this.ids.result(result.id)
    const content = this.contentOfResult(result, following, message)
    const error = result.isError === undefined ? {} : { is_error: result.isError }
    return Codec.restore(
      { type: "tool_result", tool_use_id: id, ...content, ...error },
      partFormOf(result).fields,
    )
  }

  of(given: Message.Message, message: number): Blocks {
    const { role, parts } = given
    const results: Array<Block> = []
    const others: Array<Block> = []
    parts.forEach((part, at) => {
      if (part.type === "tool-result") {
        if (role !== "tool" && role !== "user") return this.omit(message, part.type)
        const following = Codec.followingParts(given, at)
        results.push({ fields: this.resultOf(part, following, message), message, part: part.type })
      } else if (role !== "tool" || results.length === 0) {
        const fields = this.fieldsOf(part, role, message)
        if (fields !== undefined) others.push({ fields, message, part: part.type })
      }
    })
    return { results, others }
  }
}
