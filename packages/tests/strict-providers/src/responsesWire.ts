/** Answers in the wire format of OpenAI's Responses API, whole and as a stream. */
import { type Answer, argumentsOf } from "./answers.js"
import { type Fields, fieldsOf, listOf } from "./json.js"
import { type Envelope, type StreamEvent, tokensOf } from "./messagesWire.js"

/** The items of an answer; `signature` is the signature of its reasoning. */
export const outputOf = (
  { thinking, text, calls = [] }: Answer,
  signature: string | undefined,
  count: number,
): ReadonlyArray<Fields> => [
  ...(thinking === undefined || signature === undefined
    ? []
    : [
        {
          type: "reasoning",
          id: `rs_${count}`,
          summary: [{ type: "summary_text", text: thinking }],
          encrypted_content: signature,
        },
      ]),
  ...(text === undefined && calls.length > 0
    ? []
    : [
        {
          type: "message",
          id: `msg_${count}`,
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: text ?? "…", annotations: [], logprobs: [] }],
        },
      ]),
  ...calls.map((call, index) => ({
    ...(call.input === undefined
      ? { type: "function_call", id: `fc_${count}_${index}`, arguments: argumentsOf(call) }
      : { type: "custom_tool_call", id: `ctc_${count}_${index}`, input: call.input }),
    call_id: call.id ?? `call_${count}_${index}`,
    name: call.name,
    ...(call.namespace === undefined ? {} : { namespace: call.namespace }),
    status: "completed",
  })),
]

export const usageOf = (input: number, output: number): Fields => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: input + output,
})

/** The response that answers a request. */
export const responseOf = (
  output: ReadonlyArray<Fields>,
  request: Fields,
  { count, model, inputTokens }: Envelope,
  more: Fields = {},
): Fields => ({
  id: `resp_${count}`,
  object: "response",
  created_at: 1_700_000_000,
  completed_at: 1_700_000_001,
  status: "completed",
  error: null,
  incomplete_details: null,
  access_programs: null,
  instructions: request["instructions"] ?? null,
  metadata: request["metadata"] ?? {},
  model,
  output,
  parallel_tool_calls: request["parallel_tool_calls"] ?? true,
  previous_response_id: null,
  reasoning: request["reasoning"] ?? { effort: null, summary: null },
  store: request["store"] ?? true,
  temperature: 1,
  text: request["text"] ?? { format: { type: "text" } },
  tool_choice: request["tool_choice"] ?? "auto",
  tools: listOf(request["tools"]),
  top_p: 1,
  truncation: "disabled",
  usage: usageOf(inputTokens, tokensOf(output)),
  ...more,
})

/** The events of one item between its beginning and its end. */
const within = (item: Fields, index: number): ReadonlyArray<Fields> => {
  const at = { item_id: item["id"], output_index: index }
  switch (item["type"]) {
    case "message": {
      const part = fieldsOf(listOf(item["content"])[0])
      const text = String(part["text"])
      const here = { ...at, content_index: 0 }
      return [
        { type: "response.content_part.added", ...here, part: { ...part, text: "" } },
        ...text
          .split(/(?<=\s)/u)
          .map((delta) => ({ type: "response.output_text.delta", ...here, delta, logprobs: [] })),
        { type: "response.output_text.done", ...here, text, logprobs: [] },
        { type: "response.content_part.done", ...here, part },
      ]
    }
    case "reasoning": {
      const part = fieldsOf(listOf(item["summary"])[0])
      const here = { ...at, summary_index: 0 }
      return [
        { type: "response.reasoning_summary_part.added", ...here, part: { ...part, text: "" } },
        { type: "response.reasoning_summary_text.delta", ...here, delta: part["text"] },
        { type: "response.reasoning_summary_text.done", ...here, text: part["text"] },
        { type: "response.reasoning_summary_part.done", ...here, part },
      ]
    }
    case "function_call":
      return [
        { type: "response.function_call_arguments.delta", ...at, delta: item["arguments"] },
        {
          type: "response.function_call_arguments.done",
          ...at,
          arguments: item["arguments"],
          name: item["name"],
        },
      ]
    case "custom_tool_call":
      return [
        { type: "response.custom_tool_call_input.delta", ...at, delta: item["input"] },
        { type: "response.custom_tool_call_input.done", ...at, input: item["input"] },
      ]
    default:
      return []
  }
}

/** An item as it stands when it begins. */
const begun = (item: Fields): Fields => {
  switch (item["type"]) {
    case "message":
      return { ...item, status: "in_progress", content: [] }
    case "function_call":
      return { ...item, status: "in_progress", arguments: "" }
    case "custom_tool_call":
      return { ...item, status: "in_progress", input: "" }
    case "reasoning":
      return { ...item, summary: [], encrypted_content: "" }
    default:
      return item
  }
}

/** The same response as a stream. */
export const responseStream = (response: Fields): ReadonlyArray<StreamEvent> => {
  const running = { ...response, status: "in_progress", output: [], usage: null, completed_at: null }
  const events: ReadonlyArray<Fields> = [
    { type: "response.created", response: running },
    { type: "response.in_progress", response: running },
    ...listOf(response["output"])
      .map(fieldsOf)
      .flatMap((item, index) => [
        { type: "response.output_item.added", output_index: index, item: begun(item) },
        ...within(item, index),
        { type: "response.output_item.done", output_index: index, item },
      ]),
    { type: "response.completed", response },
  ]
  return events.map((data, sequence) => ({
    event: String(data["type"]),
    data: { ...data, sequence_number: sequence },
  }))
}
