/** The APIs that have a memory: where their conversations stand in a request, and how their answers are read. */
import { atOnce, eventsBetween, type Steps } from "@memfold/log/breathe"
import { codecs, encodingIn, type Formats } from "@memfold/catalog"
import { type Fields, isFields } from "@memfold/codec"
import { Message } from "@memfold/core"
import { Either } from "effect"
import { type Assembly, chatAssembly, messagesAssembly, responsesAssembly } from "./answers.js"

/** Whose API it is: which upstream has it. */
export type Provider = "openai" | "anthropic"

/** The tokens of a prompt, by how they are charged, and of its answer. */
export interface Usage {
  readonly fresh: number
  readonly cached: number
  readonly written: number
  readonly output: number
}

/** Items of a request that are messages together: most often one is one. */
export interface Unit {
  /** The positions of its items in the list: from, and the position behind. */
  readonly items: readonly [from: number, to: number]
  readonly messages: ReadonlyArray<Message.Message>
}

/** One API. */
export interface Dialect {
  readonly provider: Provider
  readonly format: Exclude<keyof Formats, "memfold">
  /** The field with the conversation. */
  readonly list: "messages" | "input"
  /** Why a request passes as it came, in a word; `null` if it has a shape that is known. */
  readonly doubt: (body: Fields) => string | null
  /** Whether an item in front of the conversation belongs to the client's setting, and not to what was said. */
  readonly isInstruction: (item: unknown) => boolean
  /** Whether an item is said by the model. */
  readonly isAnswer: (item: unknown) => boolean
  readonly assembly: () => Assembly
  /** The tokens that an answer reports; `null` without a report. */
  readonly usage: (answer: Fields) => Usage | null
  /** An item without its reasoning; `null` if nothing is left of it. */
  readonly withoutReasoning: (item: unknown) => unknown
  /** A request for a summary, made of the newest request of a session, in whose context it asks, or of none. */
  readonly asking: (request: Fields) => Fields
  /** Another prompt in place of the conversation, for the same model. */
  readonly alone: (model: unknown, prompt: { readonly system: string; readonly user: string }) => Fields
  /** The text of an answer, and whether the model was cut off. */
  readonly text: (answer: Fields) => { readonly text: string; readonly finish?: "length" | "refused" }
}

const count = (value: unknown): number => (typeof value === "number" && value > 0 ? value : 0)
const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})
const listOf = (value: unknown): ReadonlyArray<Fields> => (Array.isArray(value) ? value.filter(isFields) : [])
const without = (fields: Fields, names: ReadonlyArray<string>): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))
const roleIs =
  (...roles: ReadonlyArray<string>) =>
  (item: unknown): boolean =>
    isFields(item) && roles.includes(String(item["role"]))

/** The room that a summary has, in tokens. */
const summaryRoom = 4_000

/** What OpenAI says that a call has cost, by the words of an API for what goes in and what comes out. */
const openaiUsage =
  (input: "prompt" | "input", output: "completion" | "output"): Dialect["usage"] =>
  ({ usage }) => {
    if (!isFields(usage)) return null
    const details = fieldsOf(usage[`${input}_tokens_details`])
    const cached = count(details["cached_tokens"])
    const written = count(details["cache_write_tokens"])
    return {
      cached,
      written,
      fresh: Math.max(0, count(usage[`${input}_tokens`]) - cached - written),
      output: count(usage[`${output}_tokens`]),
    }
  }

/** Chat Completions. */
export const chat: Dialect = {
  provider: "openai",
  format: "openai",
  list: "messages",
  doubt: ({ n, messages }) =>
    !Array.isArray(messages) ? "no-messages" : typeof n === "number" && n > 1 ? "several-choices" : null,
  isInstruction: roleIs("system", "developer"),
  isAnswer: roleIs("assistant"),
  assembly: chatAssembly,
  usage: openaiUsage("prompt", "completion"),
  withoutReasoning: (item) => item,
  asking: (request) =>
    without(request, [
      "stream",
      "stream_options",
      "n",
      "stop",
      "logprobs",
      "top_logprobs",
      "max_tokens",
      "max_completion_tokens",
      "prediction",
      "store",
    ]),
  alone: (model, { system, user }) => ({
    model,
    messages: [
      { role: "system", content: system },
      { role: "user", content: user },
    ],
  }),
  text: ({ choices }) => {
    const [choice = {}] = listOf(choices)
    const { content, refusal } = fieldsOf(choice["message"])
    const finish =
      typeof refusal === "string" ? "refused" : choice["finish_reason"] === "length" ? "length" : undefined
    return { text: typeof content === "string" ? content : "", ...(finish === undefined ? {} : { finish }) }
  },
}

const thoughts: ReadonlySet<unknown> = new Set(["thinking", "redacted_thinking"])

/** Anthropic's Messages. */
export const messages: Dialect = {
  provider: "anthropic",
  format: "anthropic",
  list: "messages",
  doubt: ({ messages, compaction, context_management: management }) =>
    !Array.isArray(messages)
      ? "no-messages"
      : compaction != null ||
          listOf(fieldsOf(management)["edits"]).some(({ type }) => String(type).startsWith("compact"))
        ? "provider-compacts"
        : null,
  isInstruction: roleIs("system"),
  isAnswer: roleIs("assistant"),
  assembly: messagesAssembly,
  usage: ({ usage }) =>
    isFields(usage)
      ? {
          fresh: count(usage["input_tokens"]),
          cached: count(usage["cache_read_input_tokens"]),
          written: count(usage["cache_creation_input_tokens"]),
          output: count(usage["output_tokens"]),
        }
      : null,
  withoutReasoning: (item) => {
    if (!isFields(item) || !Array.isArray(item["content"])) return item
    const content = item["content"].filter((block) => !(isFields(block) && thoughts.has(block["type"])))
    return content.length === item["content"].length
      ? item
      : content.length === 0
        ? null
        : { ...item, content }
  },
  asking: (request) => {
    const { max_tokens: most } = request
    return {
      ...without(request, ["stream", "stop_sequences"]),
      max_tokens: Math.max(summaryRoom, typeof most === "number" ? most : 0),
    }
  },
  alone: (model, { system, user }) => ({
    model,
    max_tokens: summaryRoom,
    system,
    messages: [{ role: "user", content: user }],
  }),
  text: ({ content, stop_reason: reason }) => ({
    text: listOf(content)
      .flatMap(({ type, text }) => (type === "text" ? [String(text)] : []))
      .join(""),
    ...(reason === "max_tokens" ? { finish: "length" } : reason === "refusal" ? { finish: "refused" } : {}),
  }),
}

/** Items of the Responses API that are no output of a tool, and that somebody else than the model writes. */
const saidToModel: ReadonlySet<unknown> = new Set([
  "additional_tools",
  "compaction_trigger",
  "configuration_update",
  "mcp_approval_response",
])

const isSaidToModel = (item: Fields): boolean => {
  const { type = "message", role } = item
  return type === "message" ? role !== "assistant" : String(type).endsWith("_output") || saidToModel.has(type)
}

const isCompaction = (item: unknown): boolean => isFields(item) && item["type"] === "compaction"

/** Responses without state: the whole conversation is in `input`. */
export const responses: Dialect = {
  provider: "openai",
  format: "openai-responses",
  list: "input",
  doubt: ({
    input,
    background,
    previous_response_id: previous,
    conversation,
    context_management: management,
  }) =>
    previous != null || conversation != null
      ? "stateful"
      : background === true
        ? "background"
        : Array.isArray(management) && management.length > 0
          ? "provider-compacts"
          : Array.isArray(input)
            ? null
            : "no-messages",
  isInstruction: roleIs("system", "developer"),
  isAnswer: (item) => isFields(item) && !isSaidToModel(item),
  assembly: responsesAssembly,
  usage: openaiUsage("input", "output"),
  withoutReasoning: (item) => (isFields(item) && item["type"] === "reasoning" ? null : item),
  asking: (request) =>
    without(request, [
      "stream",
      "stream_options",
      "max_output_tokens",
      "max_tool_calls",
      "background",
      "text",
    ]),
  alone: (model, { system, user }) => ({
    model,
    store: false,
    instructions: system,
    input: [{ role: "user", content: user }],
  }),
  text: ({ output, incomplete_details: incomplete }) => ({
    text: listOf(output)
      .filter(({ type }) => type === "message")
      .flatMap(({ content }) => listOf(content))
      .flatMap(({ type, text }) => (type === "output_text" ? [String(text)] : []))
      .join(""),
    ...(incomplete == null ? {} : { finish: "length" }),
  }),
}

/** The APIs by their paths. */
export const dialects: Readonly<Record<string, Dialect>> = {
  "/v1/chat/completions": chat,
  "/v1/messages": messages,
  "/v1/responses": responses,
}

/** Messages from items; `null` if the codec does not read them. */
export const decode = (
  dialect: Dialect,
  items: ReadonlyArray<unknown>,
): ReadonlyArray<Message.Message> | null => Either.getOrNull(atOnce(codecs[dialect.format].decode(items)))

/** Items as a request has them. */
export function* encode(
  dialect: Dialect,
  messages: ReadonlyArray<Message.Message>,
  options: Parameters<typeof encodingIn>[3] & { readonly cacheMarks?: ReadonlyArray<number> } = {},
): Steps<ReadonlyArray<unknown> | null> {
  const { cacheMarks = [], ...form } = options
  const { messages: encoded } = yield* encodingIn(dialect.format, { messages, cacheMarks }, "inline", form)
  if (dialect.format !== "anthropic") return encoded as ReadonlyArray<unknown>
  const { system, messages: conversation } = encoded as { system?: unknown; messages: ReadonlyArray<unknown> }
  // Its place in the request is the client's.
  return system === undefined ? conversation : null
}

/** An answer as the next request has it: behind a question, because a conversation cannot begin with it. */
export const encodeAnswer = (
  dialect: Dialect,
  answer: ReadonlyArray<Message.Message>,
): ReadonlyArray<unknown> => atOnce(encode(dialect, [Message.user("?"), ...answer]))?.slice(1) ?? []

/** The units of a list from a position on; `null` if the codec does not read one. */
export function* unitsOf(
  dialect: Dialect,
  list: ReadonlyArray<unknown>,
  from: number,
): Steps<ReadonlyArray<Unit> | null> {
  const units: Array<Unit> = []
  for (let at = from; at < list.length;) {
    let to = at + 1
    // In the Responses API, an answer is several items in a row. A compaction is an answer of its own.
    if (dialect.format === "openai-responses" && dialect.isAnswer(list[at]) && !isCompaction(list[at]))
      while (to < list.length && dialect.isAnswer(list[to]) && !isCompaction(list[to])) to++
    const decoded = decode(dialect, list.slice(at, to))
    if (decoded === null) return null
    units.push({ items: [at, to], messages: decoded })
    at = to
    if (units.length % eventsBetween === 0) yield
  }
  return units
}
