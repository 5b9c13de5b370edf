/** From the conversation of a Messages API request, or from responses, to memfold messages. */
import * as Codec from "@memfold/codec"
import { type Message } from "@memfold/core"
import { Either, Schema } from "effect"
import { AnthropicDecodeError } from "./AnthropicDecodeError.js"
import { fromFile, toFile } from "./files.js"
import { isBlank, metadataOf, type Form } from "./form.js"
import { toArguments } from "./input.js"
import { messages, system, type WireBlock, type WireContent, type WireMessage } from "./wire.js"

const decodeSystem = Schema.decodeUnknownEither(system)

const check = Codec.checkMessage<WireMessage>(messages)

/** The parts of a message and what has to be remembered about each, collected in order. */
class Draft {
  readonly parts: Array<Message.Part> = []
  private readonly blocks: Record<string, Codec.Fields> = {}
  private readonly results: Record<string, "absent" | "blocks"> = {}

  push(part: Message.Part, extra?: Codec.Fields, result?: "absent" | "blocks"): void {
    if (extra !== undefined) this.blocks[this.parts.length] = extra
    if (result !== undefined) this.results[this.parts.length] = result
    this.parts.push(part)
  }

  form(): Form {
    return {
      ...(Object.keys(this.blocks).length === 0 ? {} : { blocks: this.blocks }),
      ...(Object.keys(this.results).length === 0 ? {} : { results: this.results }),
    }
  }
}

const isPlainText = (block: WireBlock | undefined): boolean =>
  block?.type === "text" && Codec.rest(block, { type: "text", text: "" }) === undefined

const addText = (draft: Draft, block: WireBlock): void => {
  const known = { type: "text" as const, text: block["text"] as string }
  draft.push(known, Codec.rest(block, known) ?? (isBlank(known.text) ? {} : undefined))
}

/** Text, a file where files may stand, or a block as it came. */
const addSpoken = (draft: Draft, block: WireBlock, role: Message.Role): void => {
  if (block.type === "text") return addText(draft, block)
  // A block becomes a file only if the file can be written back as the very same block.
  const file = role === "user" || role === "tool" ? toFile(block) : undefined
  const known = file && fromFile(file)
  if (file !== undefined && known !== undefined && Codec.agrees(block, known)) {
    return draft.push(file, Codec.rest(block, known))
  }
  draft.push({ type: "opaque", provider: "anthropic", data: block })
}

const addThinking = (draft: Draft, block: WireBlock): void => {
  const { thinking, signature } = block as WireBlock & { thinking: string; signature?: string }
  const signed = signature === undefined ? {} : { signature }
  const extra = Codec.rest(block, { type: "thinking", thinking, ...signed })
  draft.push(
    { type: "reasoning", text: thinking, ...signed },
    extra ?? (signature === undefined ? {} : undefined),
  )
}

const addCall = (draft: Draft, block: WireBlock): void => {
  const { id, name, input } = block as WireBlock & { id: string; name: string; input: Codec.Fields }
  draft.push(
    { type: "tool-call", id, name, arguments: toArguments(input) ?? "" },
    Codec.rest(block, { type: "tool_use", id, name, input }),
  )
}

/** The first text is the output; whatever else the tool gave follows it. */
const addResult = (draft: Draft, block: WireBlock): void => {
  const {
    tool_use_id: id,
    content,
    is_error: isError,
  } = block as WireBlock & {
    tool_use_id: string
    content?: WireContent
    is_error?: boolean
  }
  const extra = Codec.rest(block, { type: "tool_result", tool_use_id: id, content, is_error: isError })
  const result = { type: "tool-result" as const, id, ...(isError === undefined ? {} : { isError }) }
  if (typeof content === "string") return draft.push({ ...result, output: content }, extra)
  const [first, ...others] = content ?? []
  const output = isPlainText(first) ? (first!["text"] as string) : ""
  const following = output === "" ? (content ?? []) : others
  const form = content === undefined ? "absent" : following.length === 0 ? "blocks" : undefined
  draft.push({ ...result, output }, extra, form)
  for (const one of following) addSpoken(draft, one, "tool")
}

const asBlocks = (content: WireContent): ReadonlyArray<WireBlock> =>
  typeof content === "string" ? [{ type: "text", text: content }] : content

/** A list where encoding would write a string, or an empty one, has to be remembered. */
const contentForm = (content: WireContent): Form =>
  typeof content !== "string" && (content.length === 0 || (content.length === 1 && isPlainText(content[0])))
    ? { content: "blocks" }
    : {}

const decodeAssistant = (content: WireContent): Draft => {
  const draft = new Draft()
  for (const block of asBlocks(content)) {
    if (block.type === "thinking") addThinking(draft, block)
    else if (block.type === "tool_use") addCall(draft, block)
    else addSpoken(draft, block, "assistant")
  }
  return draft
}

/** Results become a tool message, and what stands beside them a user message after it. */
const decodeUser = (content: WireContent): { readonly results: Draft; readonly said: Draft } => {
  const results = new Draft()
  const said = new Draft()
  for (const block of asBlocks(content)) {
    if (block.type === "tool_result") addResult(results, block)
    else addSpoken(said, block, "user")
  }
  return { results, said }
}

const decodeSystemContent = (content: WireContent): Draft => {
  const draft = new Draft()
  for (const block of asBlocks(content)) addSpoken(draft, block, "system")
  return draft
}

const Count = Schema.NonNegativeInt
const isUsage = Schema.is(
  Schema.Struct({
    input_tokens: Count,
    output_tokens: Count,
    cache_creation_input_tokens: Schema.optional(Schema.NullOr(Count)),
    cache_read_input_tokens: Schema.optional(Schema.NullOr(Count)),
  }),
)

/** Cached tokens are counted apart by the API, but they are part of the prompt. */
const usageOf = (raw: WireMessage): { readonly usage?: Message.Usage } => {
  const usage = raw["usage"]
  if (raw.role !== "assistant" || !isUsage(usage)) return {}
  const cached = (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0)
  return { usage: { input: usage.input_tokens + cached, output: usage.output_tokens } }
}

const responseFields = new Set([
  "id",
  "type",
  "model",
  "stop_reason",
  "stop_sequence",
  "stop_details",
  "usage",
  "container",
  "context_management",
  "diagnostics",
])

/** Further fields of a message: what a response adds to it, and what is not known. */
const fieldsForm = (raw: WireMessage): Form => {
  const entries = Object.entries(Codec.rest(raw, { role: raw.role, content: raw.content }) ?? {})
  const ofResponse = ([key]: [string, unknown]): boolean =>
    raw.role === "assistant" && responseFields.has(key)
  const response = entries.filter(ofResponse)
  const fields = entries.filter((entry) => !ofResponse(entry))
  return {
    ...(fields.length === 0 ? {} : { fields: Object.fromEntries(fields) }),
    ...(response.length === 0 ? {} : { response: Object.fromEntries(response) }),
  }
}

/** The messages that one message on the wire stands for; `lead` goes with the first of them. */
const decodeChecked = (raw: WireMessage, lead: Form): ReadonlyArray<Message.Message> => {
  const form = { ...lead, ...fieldsForm(raw) }
  const message = (role: Message.Role, draft: Draft, own: Form): Message.Message => ({
    role,
    parts: draft.parts,
    ...usageOf(raw),
    ...metadataOf({ ...own, ...draft.form() }),
  })
  const whole = { ...form, ...contentForm(raw.content) }
  switch (raw.role) {
    case "assistant":
      return [message("assistant", decodeAssistant(raw.content), whole)]
    case "system":
      return [message("system", decodeSystemContent(raw.content), { ...whole, place: "messages" })]
    case "user": {
      const { results, said } = decodeUser(raw.content)
      if (results.parts.length === 0) return [message("user", said, whole)]
      const answers = message("tool", results, form)
      return said.parts.length === 0 ? [answers] : [answers, message("user", said, {})]
    }
  }
}

const failed = (problem: Codec.Problem, index?: number): AnthropicDecodeError =>
  new AnthropicDecodeError({ ...problem, ...(index === undefined ? {} : { index }) })

const decodeAt = (
  input: unknown,
  index: number | undefined,
  lead: Form,
): Either.Either<ReadonlyArray<Message.Message>, AnthropicDecodeError> =>
  Either.mapBoth(check(input), {
    onLeft: (problem) => failed(problem, index),
    onRight: (raw) => decodeChecked(raw, lead),
  })

/**
 * Decodes one message of a request, or a whole response; a wrong one is an `AnthropicDecodeError`. A user message that has tool results gives a tool message
 * with all of them, followed by a user message if there is more in it; every other message gives one.
 *
 * - `input` becomes JSON text and comes back as the same object; in a result the first text is the output and
 *   further blocks (text, images, …) follow it
 * - thinking is reasoning with its signature; images, PDFs and plain text documents are files; redacted
 *   thinking, server tools and blocks not known here stay opaque and go back as they came
 * - `cache_control`, `citations` and unknown fields are kept in `metadata.anthropic`
 * - a response's `usage` becomes the usage of the message: all prompt tokens, cached ones included, and its own
 */
export const decodeMessage = (
  input: unknown,
): Either.Either<ReadonlyArray<Message.Message>, AnthropicDecodeError> => decodeAt(input, undefined, {})

const roleOf = (input: unknown): unknown => (Codec.isFields(input) ? input["role"] : undefined)

const decodeList = (
  list: ReadonlyArray<unknown>,
): Either.Either<ReadonlyArray<Message.Message>, AnthropicDecodeError> =>
  Either.all(
    list.map((input, index) => {
      const separate = index > 0 && roleOf(list[index - 1]) === roleOf(input)
      return decodeAt(input, index, separate ? { separate } : {})
    }),
  ).pipe(Either.map((decoded) => decoded.flat()))

const decodeSystemField = (
  input: Codec.Fields,
): Either.Either<ReadonlyArray<Message.Message>, AnthropicDecodeError> => {
  if (input["system"] === undefined || input["system"] === null) return Either.right([])
  return Either.mapBoth(decodeSystem(input), {
    onLeft: (error) => failed(Codec.problemOf(error)),
    onRight: () => {
      const content = input["system"] as WireContent
      const draft = decodeSystemContent(content)
      const form = { ...contentForm(content), ...draft.form() }
      return content.length === 0 && typeof content !== "string"
        ? []
        : [{ role: "system" as const, parts: draft.parts, ...metadataOf(form) }]
    },
  })
}

/**
 * Decodes a conversation: a list of messages, or an object with `system` and `messages`, like a whole request, whose other
 * fields are ignored. The first wrong message gives an `AnthropicDecodeError` for the whole.
 *
 * Results are moved to the front of their message, as the API requires. An empty list as `system` equals none.
 *
 * @example
 * ```ts
 * import { decodeMessages } from "@memfold/anthropic"
 * import { Either } from "effect"
 *
 * const conversation = { system: "Be brief.", messages: [{ role: "user", content: "What is a fold?" }] }
 * console.log(Either.getOrThrow(decodeMessages(conversation)).map((message) => message.role)) // system, user
 * ```
 */
export const decodeMessages = (
  input: unknown,
): Either.Either<ReadonlyArray<Message.Message>, AnthropicDecodeError> => {
  if (Array.isArray(input)) return decodeList(input)
  const allowed = 'a list of messages, or an object with "messages" and perhaps "system"'
  if (!Codec.isFields(input))
    return Either.left(failed({ path: "", problem: `is ${Codec.kindOf(input)}`, allowed }))
  const list = input["messages"]
  if (!Array.isArray(list))
    return Either.left(failed({ path: "messages", problem: "has no list of messages", allowed }))
  return Either.zipWith(decodeSystemField(input), decodeList(list), (system, rest) => [...system, ...rest])
}
