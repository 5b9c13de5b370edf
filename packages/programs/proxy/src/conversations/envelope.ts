/** The response around an answer: what the API shows of a request beside its output. */
import { type Fields, isFields } from "@memfold/codec"

/** What is known about a response when it begins. */
export interface Beginning {
  readonly id: string
  readonly created: number
  readonly previous: string | null
  readonly conversation: string | null
}

const orNull = (value: unknown): unknown => value ?? null

/** A tool as a response shows it: with the fields that a request may leave out. */
const shownTool = (tool: unknown): unknown =>
  isFields(tool) && tool["type"] === "function"
    ? { description: null, parameters: null, strict: null, ...tool }
    : tool

/** A response that has just begun, with all fields that clients read. */
export const begunResponse = (body: Fields, { id, created, previous, conversation }: Beginning): Fields => ({
  id,
  object: "response",
  created_at: created,
  completed_at: null,
  status: "in_progress",
  background: body["background"] === true,
  error: null,
  incomplete_details: null,
  instructions: orNull(body["instructions"]),
  max_output_tokens: orNull(body["max_output_tokens"]),
  max_tool_calls: orNull(body["max_tool_calls"]),
  metadata: body["metadata"] ?? {},
  model: body["model"],
  output: [],
  parallel_tool_calls: body["parallel_tool_calls"] ?? true,
  presence_penalty: body["presence_penalty"] ?? 0,
  frequency_penalty: body["frequency_penalty"] ?? 0,
  previous_response_id: previous,
  conversation: conversation === null ? null : { id: conversation },
  prompt_cache_key: orNull(body["prompt_cache_key"]),
  reasoning: body["reasoning"] ?? { effort: null, summary: null },
  safety_identifier: orNull(body["safety_identifier"]),
  service_tier: body["service_tier"] ?? "default",
  store: body["store"] !== false,
  temperature: body["temperature"] ?? 1,
  text: body["text"] ?? { format: { type: "text" } },
  tool_choice: body["tool_choice"] ?? "auto",
  tools: Array.isArray(body["tools"]) ? body["tools"].map(shownTool) : [],
  top_logprobs: body["top_logprobs"] ?? 0,
  top_p: body["top_p"] ?? 1,
  truncation: body["truncation"] ?? "disabled",
  usage: null,
  user: orNull(body["user"]),
})

/** A response of a stateless upstream as the response of this server: with its id, what it continues, and all fields that clients read. */
export const ownResponse = (response: Fields, body: Fields, beginning: Beginning): Fields => {
  const { id, previous, conversation } = beginning
  const begun = begunResponse(body, beginning)
  return {
    ...begun,
    ...response,
    id,
    previous_response_id: previous,
    conversation: conversation === null ? null : { id: conversation },
    store: body["store"] !== false,
    background: body["background"] === true,
    tools: Array.isArray(response["tools"]) ? response["tools"].map(shownTool) : begun["tools"],
  }
}
