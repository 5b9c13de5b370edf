/** From the conversation of a Messages API request, or from responses, to memfold messages. */
import * as Codec from "@memfold/codec"
import { Message } from "@memfold/core"
import { Either, Schema } from "effect"
import { fromFile, toFile } from "./files.js"
import { metadataOf, opaque, withForm, type Form } from "./form.js"
import { toArguments } from "./input.js"
import { messages, system, type WireBlock, type WireContent, type WireMessage } from "./wire.js"

const check = Codec.checkMessage<WireMessage>(messages, "anthropic")

const isPlainText = (block: WireBlock | undefined): boolean =>
  block?.type === "text" && Codec.rest(block, { type: "text", text: "" }) === undefined

const read = Codec.contentReader({
  toFile,
  fromFile,
  withForm,
  opaque: (block) => opaque(block, block["type"] === "redacted_thinking"),
})

/** Text, a file where files may stand, or a block as it came. */
const spoken = (block: WireBlock, role: Message.Role) =>
  read(block, { textType: "text", hasFiles: role === "user" || role === "tool" })

const thought = (block: WireBlock): Message.Reasoning => {
  const { thinking, signature } = block as WireBlock & { thinking: string; signature?: string }
  const signed = signature === undefined ? {} : { signature }
  const fields = Codec.rest(block, { type: "thinking", thinking, ...signed })
  return withForm({ type: "reasoning", text: thinking, ...signed }, { fields })
}

const called = (block: WireBlock): Message.ToolCall => {
  const { id, name, input } = block as WireBlock & { id: string; name: string; input: Codec.Fields }
  return withForm(
    { type: "tool-call", id, name, arguments: toArguments(input) ?? "" },
    { fields: Codec.rest(block, { type: "tool_use", id, name, input }) },
  )
}

const answered = (block: WireBlock): Message.ToolResult => {
  const {
    tool_use_id: id,
    content,
    is_error: isError,
  } = block as WireBlock & {
    tool_use_id: string
    content?: WireContent
    is_error?: boolean
  }
  const fields = Codec.rest(block, { type: "tool_result", tool_use_id: id, content, is_error: isError })
  const result = { type: "tool-result" as const, id, ...(isError === undefined ? {} : { isError }) }
  if (typeof content === "string") return withForm({ ...result, output: content }, { fields })
  const [first, ...others] = content ?? []
  if (first === undefined) {
    const form = { fields, content: content === undefined ? "absent" : "blocks" } as const
    return withForm({ ...result, output: "" }, form)
  }
  const text = first["text"]
  if (others.length === 0 && isPlainText(first) && text !== "") {
    return withForm({ ...result, output: text as string }, { fields, content: "blocks" })
  }
  const parts = [first, ...others].map((one) => spoken(one, "tool"))
  return withForm({ ...result, output: Message.outputOf(parts), content: parts }, { fields })
}

const asBlocks = (content: WireContent): ReadonlyArray<WireBlock> =>
  typeof content === "string" ? [{ type: "text", text: content }] : content

/** A list where encoding would write a string, or an empty one, has to be remembered. */
const contentForm = (content: WireContent): Form =>
  typeof content !== "string" && (content.length === 0 || (content.length === 1 && isPlainText(content[0])))
    ? { content: "blocks" }
    : {}

const decodeAssistant = (content: WireContent): ReadonlyArray<Message.Part> =>
  asBlocks(content).map((block) => {
    if (block.type === "thinking") return thought(block)
    return block.type === "tool_use" ? called(block) : spoken(block, "assistant")
  })

/** Results become a tool message, and what stands beside them a user message after it. */
const decodeUser = (content: WireContent) => {
  const blocks = asBlocks(content)
  return {
    results: blocks.filter(({ type }) => type === "tool_result").map(answered),
    said: blocks.filter(({ type }) => type !== "tool_result").map((block) => spoken(block, "user")),
  }
}

const decodeSystemContent = (content: WireContent): ReadonlyArray<Message.Part> =>
  asBlocks(content).map((block) => spoken(block, "system"))

/** Cached tokens are counted apart by the API, but they are part of the prompt. */
const usageOf = (raw: WireMessage): { readonly usage?: Message.Usage } => {
  const usage = raw["usage"]
  if (raw.role !== "assistant" || !Codec.isFields(usage)) return {}
  const { input_tokens: input, cache_creation_input_tokens: written, cache_read_input_tokens: read } = usage
  const cached = [written, read].filter(Codec.isCount).reduce((sum, one) => sum + one, 0)
  return Codec.isCount(input) ? Codec.usageOf(input + cached, usage["output_tokens"]) : {}
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
  "parsed_output",
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
  const message = (role: Message.Role, parts: ReadonlyArray<Message.Part>, own: Form): Message.Message => ({
    role,
    parts,
    ...usageOf(raw),
    ...metadataOf(own),
  })
  const whole = { ...form, ...contentForm(raw.content) }
  switch (raw.role) {
    case "assistant":
      return [message("assistant", decodeAssistant(raw.content), whole)]
    case "system":
      return [message("system", decodeSystemContent(raw.content), { ...whole, place: "messages" })]
    case "user": {
      const { results, said } = decodeUser(raw.content)
      if (results.length === 0) return [message("user", said, whole)]
      const answers = message("tool", results, form)
      return said.length === 0 ? [answers] : [answers, message("user", said, {})]
    }
  }
}

/** The input is no message of the Messages API: see `DecodeError` of `@memfold/codec` for the fields. `index` is absent for the `system` field, too. */
export class AnthropicDecodeError extends Codec.DecodeError<AnthropicDecodeError>()("AnthropicDecodeError") {}

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
 * Decodes one message of a request, or a whole response; a wrong one, or one of another library, is an
 * `AnthropicDecodeError`. A user message that has tool results gives a tool message with all of them, followed by a user
 * message if there is more in it; every other message gives one.
 *
 * - `input` becomes JSON text and comes back as the same object
 * - a result of several blocks, or with an image, keeps them in its `content`
 * - thinking is reasoning with its signature; images, PDFs and plain text documents are files; redacted
 *   thinking, server tools and blocks not known here stay opaque and go back as they came
 * - `cache_control`, `citations` and unknown fields are kept in `providerData.anthropic` of their part
 * - a response's `usage` becomes the usage of the message: all prompt tokens, cached ones included, and its own
 */
export const decodeMessage = (
  input: unknown,
): Either.Either<ReadonlyArray<Message.Message>, AnthropicDecodeError> =>
  Codec.atOnce(
    // oxlint-disable-next-line require-yield -- one message is one step
    Codec.decoding(AnthropicDecodeError, input, function* (given) {
      return decodeAt(given, undefined, {})
    }),
  )

const roleOf = (input: unknown): unknown => (Codec.isFields(input) ? input["role"] : undefined)

/** Decoding in steps: others have their turn between two of them. */
export type Decoding = Codec.Steps<Either.Either<ReadonlyArray<Message.Message>, AnthropicDecodeError>>

function* decodeList(list: ReadonlyArray<unknown>): Decoding {
  const decoded = yield* Codec.mapped(list, (input, index) => {
    const separate = index > 0 && roleOf(list[index - 1]) === roleOf(input)
    return decodeAt(input, index, separate ? { separate } : {})
  })
  return Either.map(Either.all(decoded), (lists) => lists.flat())
}

const decodeSystemField = (
  input: Codec.Fields,
): Either.Either<ReadonlyArray<Message.Message>, AnthropicDecodeError> => {
  if (input["system"] === undefined || input["system"] === null) return Either.right([])
  return Either.mapBoth(Schema.decodeUnknownEither(system)(input), {
    onLeft: (error) => failed(Codec.problemOf(error)),
    onRight: () => {
      const content = input["system"] as WireContent
      const parts = decodeSystemContent(content)
      return content.length === 0 && typeof content !== "string"
        ? []
        : [{ role: "system" as const, parts, ...metadataOf(contentForm(content)) }]
    },
  })
}

function* decodeGiven(input: unknown): Decoding {
  if (Array.isArray(input)) return yield* decodeList(input)
  const allowed = 'a list of messages, or an object with "messages" and perhaps "system"'
  if (!Codec.isFields(input))
    return Either.left(failed({ path: "", problem: `is ${Codec.kindOf(input)}`, allowed }))
  const list = input["messages"]
  if (!Array.isArray(list))
    return Either.left(failed({ path: "messages", problem: "has no list of messages", allowed }))
  const system = decodeSystemField(input)
  return Either.zipWith(system, yield* decodeList(list), (first, rest) => [...first, ...rest])
}

/** {@link decodeMessages} in steps, between which others have their turn. */
export const decodingInSteps = (input: unknown): Decoding =>
  Codec.decoding(AnthropicDecodeError, input, decodeGiven)

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
): Either.Either<ReadonlyArray<Message.Message>, AnthropicDecodeError> => Codec.atOnce(decodingInSteps(input))
