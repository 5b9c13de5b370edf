/** Answers in the wire format of Anthropic's Messages API, whole and as a stream. */
import type { Answer } from "./answers.js"
import { type Fields, fieldsOf } from "./json.js"

/** One event of a stream: its name, if it has one, and its data. */
export interface StreamEvent {
  readonly event?: string
  readonly data: unknown
}

/** What an answer is made of besides its content. */
export interface Envelope {
  /** A number that no other answer of the server has. */
  readonly count: number
  readonly model: unknown
  readonly inputTokens: number
}

/** A rough count of tokens. */
export const tokensOf = (value: unknown): number => Math.ceil((JSON.stringify(value) ?? "").length / 4)

const usage = (input: number, output: number) => ({
  input_tokens: input,
  output_tokens: output,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 0 },
  inference_geo: null,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: "standard",
})

/** The field in which an answer that is not streamed has arguments that are no JSON. */
const invalid = "INVALID_JSON"

/** The content of an answer; `signature` is the signature of its thinking. */
export const contentOf = (
  { thinking, text, calls = [] }: Answer,
  signature: string | undefined,
  count: number,
): ReadonlyArray<Fields> => [
  ...(thinking === undefined || signature === undefined ? [] : [{ type: "thinking", thinking, signature }]),
  ...(text === undefined && calls.length > 0 ? [] : [{ type: "text", text: text ?? "…", citations: null }]),
  ...calls.map((call, index) => ({
    type: "tool_use",
    id: call.id ?? `toolu_${count}_${index}`,
    name: call.name,
    input:
      typeof call.arguments === "string"
        ? { [invalid]: call.arguments }
        : (call.arguments ?? { input: call.input }),
    caller: { type: "direct" },
  })),
]

/** The message that answers a request. */
export const messageOf = (
  content: ReadonlyArray<Fields>,
  { count, model, inputTokens }: Envelope,
  more: Fields = {},
): Fields => ({
  id: `msg_${count}`,
  type: "message",
  role: "assistant",
  model,
  content,
  container: null,
  diagnostics: null,
  stop_details: null,
  stop_reason: content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn",
  stop_sequence: null,
  usage: usage(inputTokens, tokensOf(content)),
  ...more,
})

const halves = (text: string): ReadonlyArray<string> => {
  const letters = [...text]
  const middle = Math.ceil(letters.length / 2)
  return [letters.slice(0, middle).join(""), letters.slice(middle).join("")].filter((half) => half !== "")
}

/** How a block begins in a stream, and the pieces it comes in. */
const pieces = (block: Fields): readonly [start: Fields, deltas: ReadonlyArray<Fields>] => {
  switch (block["type"]) {
    case "thinking":
      return [
        { ...block, thinking: "", signature: "" },
        [
          ...halves(String(block["thinking"])).map((thinking) => ({ type: "thinking_delta", thinking })),
          { type: "signature_delta", signature: block["signature"] },
        ],
      ]
    case "tool_use":
      return [
        { ...block, input: {} },
        halves(String(fieldsOf(block["input"])[invalid] ?? JSON.stringify(block["input"]))).map((json) => ({
          type: "input_json_delta",
          partial_json: json,
        })),
      ]
    case "text":
      return [
        { ...block, text: "" },
        halves(String(block["text"])).map((text) => ({ type: "text_delta", text })),
      ]
    default:
      return [block, []]
  }
}

const named = (data: Fields): StreamEvent => ({ event: String(data["type"]), data })

/** The same message as a stream. */
export const messageStream = (message: Fields): ReadonlyArray<StreamEvent> => {
  const content = message["content"] as ReadonlyArray<Fields>
  const whole = fieldsOf(message["usage"])
  return [
    named({
      type: "message_start",
      message: { ...message, content: [], stop_reason: null, usage: { ...whole, output_tokens: 1 } },
    }),
    ...content.flatMap((block, index) => {
      const [start, deltas] = pieces(block)
      return [
        named({ type: "content_block_start", index, content_block: start }),
        ...deltas.map((delta) => named({ type: "content_block_delta", index, delta })),
        named({ type: "content_block_stop", index }),
      ]
    }),
    named({
      type: "message_delta",
      delta: {
        stop_reason: message["stop_reason"],
        stop_sequence: null,
        container: null,
        stop_details: null,
      },
      usage: whole,
    }),
    named({ type: "message_stop" }),
  ]
}
