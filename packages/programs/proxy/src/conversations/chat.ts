/** The Responses API over an upstream that has Chat Completions alone: requests there, answers back. */
import { type Fields, isFields, servers, serverOf } from "@memfold/codec"
import type { Message } from "@memfold/core"
import { encodeMessages } from "@memfold/openai"
import { CallDeltas, entriesIn } from "../callDeltas.js"
import { checkNotFailed, endsForCalls, ownMessage, Unclear } from "../Unclear.js"
import { invalid } from "./ApiError.js"
import { GrowingResponse } from "./events.js"
import { certain, UpstreamBroke } from "./UpstreamBroke.js"

const given = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))

const toolOf = (tool: unknown, index: number): Fields => {
  const { type, name, description, parameters, strict, format } = (isFields(tool) ? tool : {}) as Fields
  if (type === "function") return { type, function: given({ name, description, parameters, strict }) }
  if (type === "custom") return { type, custom: given({ name, description, format }) }
  throw invalid(
    `tools[${index}].type`,
    `This upstream has Chat Completions alone, which has no tools of type '${String(type)}'.`,
    "unsupported_tool",
  )
}

const choiceOf = (choice: unknown): unknown => {
  if (!isFields(choice)) return choice
  const { type, name } = choice
  return type === "function" || type === "custom" ? { type, [type]: { name } } : choice
}

/** `text.format` as `response_format`. */
const formatOf = (text: unknown): Fields => {
  const format = isFields(text) && isFields(text["format"]) ? text["format"] : {}
  const { type, ...schema } = format
  if (type === "json_schema") return { response_format: { type, json_schema: schema } }
  return type === "json_object" ? { response_format: { type } } : {}
}

/** Fields that are called the same in both APIs. */
const alike = [
  "model",
  "temperature",
  "top_p",
  "parallel_tool_calls",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "service_tier",
  "stream",
] as const

/** Whether a message has what an upstream said in `reasoning_content`: it wants that back. */
const hasThought = ({ parts }: Message.Message): boolean =>
  parts.some(
    (part) =>
      part.type === "opaque" &&
      isFields(part.data) &&
      part.data["type"] === "reasoning" &&
      part.data["encrypted_content"] === undefined,
  )

export const chatRequest = (
  body: Fields,
  messages: ReadonlyArray<Message.Message>,
  upstream: URL,
): Fields => {
  const { instructions, tools, tool_choice: choice, text, reasoning, max_output_tokens: most, stream } = body
  const first = typeof instructions === "string" ? [{ role: "system", content: instructions }] : []
  return given({
    ...Object.fromEntries(alike.map((name) => [name, body[name]])),
    messages: [
      ...first,
      ...encodeMessages(messages, {
        server:
          serverOf(upstream.href) === servers.any && messages.some(hasThought) ? "deepseek" : upstream.href,
      }),
    ],
    ...(Array.isArray(tools) && tools.length > 0
      ? { tools: tools.map(toolOf), tool_choice: choiceOf(choice) }
      : { parallel_tool_calls: undefined }),
    ...formatOf(text),
    verbosity: isFields(text) ? text["verbosity"] : undefined,
    reasoning_effort: isFields(reasoning) ? reasoning["effort"] : undefined,
    max_completion_tokens: most,
    ...(stream === true ? { stream_options: { include_usage: true } } : {}),
  })
}

const countOf = (value: unknown): number => (typeof value === "number" ? value : 0)

const usageOf = (usage: unknown): Fields | null => {
  if (!isFields(usage)) return null
  const within = (name: string): Fields => (isFields(usage[name]) ? usage[name] : {})
  const [input, output] = [countOf(usage["prompt_tokens"]), countOf(usage["completion_tokens"])]
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: countOf(within("prompt_tokens_details")["cached_tokens"]) },
    output_tokens: output,
    output_tokens_details: {
      reasoning_tokens: countOf(within("completion_tokens_details")["reasoning_tokens"]),
    },
    total_tokens: input + output,
  }
}

/** What the reason of an end says of a response. */
const endingOf = (reason: unknown): Fields => {
  if (reason === "length")
    return { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }
  if (reason === "content_filter")
    return { status: "incomplete", incomplete_details: { reason: "content_filter" } }
  return { status: "completed" }
}

/** The texts of a content: a text, or a list of them. */
const textsIn = (content: unknown): ReadonlyArray<string> => {
  if (typeof content === "string") return content === "" ? [] : [content]
  if (content === null || content === undefined) return []
  if (!Array.isArray(content)) throw new Unclear("unclear-parts")
  return content.flatMap((part) => {
    if (!isFields(part) || typeof part["text"] !== "string") throw new Unclear("unclear-parts")
    return textsIn(part["text"])
  })
}

/** Reads the pieces of an answer into a response. */
class Reader {
  private readonly growing: GrowingResponse
  private readonly calls = new CallDeltas()
  private reason: unknown = null
  private usage: unknown = null
  private model: unknown = undefined
  private hasText = false

  constructor(begun: Fields) {
    this.growing = new GrowingResponse(begun)
  }

  begin(): ReadonlyArray<Fields> {
    return this.growing.begin()
  }

  /** A message of an answer, or a part of it. */
  private said({
    reasoning_content: thought,
    content,
    refusal,
    tool_calls: calls,
    function_call: named,
  }: Fields): ReadonlyArray<Fields> {
    const texts = textsIn(content)
    this.hasText ||= texts.length > 0
    // It has no id that a result could name.
    if ((named ?? null) !== null) throw new Unclear("unclear-calls")
    return [
      ...(typeof thought === "string" && thought !== "" ? this.growing.thought(thought) : []),
      ...texts.flatMap((text) => this.growing.text("output_text", text)),
      ...(typeof refusal === "string" && refusal !== "" ? this.growing.text("refusal", refusal) : []),
      ...this.calls.take(entriesIn(calls), (fields) => fields).flatMap((piece) => this.growing.call(piece)),
    ]
  }

  /** A completion, or a chunk of one. */
  read(data: Fields): ReadonlyArray<Fields> {
    checkNotFailed(data)
    const { choices, usage, model } = data
    if (isFields(usage)) this.usage = usage
    if (typeof model === "string") this.model = model
    const choice = (Array.isArray(choices) ? (choices as ReadonlyArray<unknown>) : []).find(
      (one, at) => isFields(one) && (one["index"] ?? at) === 0,
    )
    if (!isFields(choice)) return []
    const { finish_reason: reason, message, delta } = choice
    if (typeof reason === "string" && reason !== "") this.reason = reason
    const said = ownMessage(message ?? delta)
    return isFields(said) ? this.said(said) : []
  }

  get isWhole(): boolean {
    return this.reason !== null
  }

  end(time: number) {
    const called = this.calls.whole()
    if (endsForCalls(this.reason) && called.length === 0 && !this.hasText) throw new Unclear("unclear-calls")
    return this.growing.end({
      ...endingOf(this.reason),
      completed_at: time,
      usage: usageOf(this.usage),
      ...(this.model === undefined ? {} : { model: this.model }),
    })
  }
}

export const responseOfCompletion = (completion: Fields, begun: Fields, time: number): Fields => {
  const reader = new Reader(begun)
  return certain(() => {
    reader.read(completion)
    if (!Array.isArray(completion["choices"]) || completion["choices"].length === 0) throw new UpstreamBroke()
    return reader.end(time).response
  })
}

/**
 * The events of a response while the chunks of a completion come. A stream that breaks off before its end has no last event.
 *
 * @param time - in seconds since the epoch, asked for at the end
 */
export async function* eventsOfChunks(
  chunks: AsyncIterable<Fields>,
  begun: Fields,
  time: () => Promise<number>,
): AsyncGenerator<Fields, void, void> {
  const reader = new Reader(begun)
  yield* reader.begin()
  for await (const chunk of chunks) yield* certain(() => reader.read(chunk))
  if (!reader.isWhole) return
  const ended = await time()
  yield* certain(() => reader.end(ended)).events
}
