/**
 * Every type of item and content block of three APIs: OpenAI's Chat Completions and Responses, and Anthropic's Messages.
 * Token counter, recall, prompts, pairing, codecs and the strict servers work from this table. The clients' types were read in
 * `openai` 7.57 and `@anthropic-ai/sdk` 1.12; a test fails if an installed client knows another type.
 *
 * The table is data and imports nothing.
 */

/** The name of an API, as codecs write it into the provider data of parts. */
export type ItemApi = "openai" | "openai-responses" | "anthropic"

/**
 * What a field has in place of text.
 *
 * - `file`: a file or an image: its data, its address, or its id. It has the price of one file
 * - `encrypted`: encrypted text. It has the price of its bytes
 */
export type Payload = "file" | "encrypted"

/**
 * A call, or anything else that the API wants answered by another item.
 *
 * - `ids`: the fields that may have its id; the first of them with a value counts. A call without an id has no pair
 * - `by`: who answers it. The `client` answers before the model goes on. The `provider` answers in the same response or at
 *   the start of a later one (`pause_turn`, deferred calls), so that a request may end with the open call
 * - `closing`: the item that closes an interrupted call: its type, the field with the id of the call (`call_id` by default),
 *   the field for the words that say so, and its other fields, in which {@link interrupted} stands for those words. Without
 *   `closing`, no item can be written for the provider, and the interrupted call is left out
 */
export interface ItemCall {
  readonly ids: readonly [string, ...ReadonlyArray<string>]
  readonly by: "client" | "provider"
  readonly closing?: {
    readonly type: string
    readonly id?: string
    readonly words?: string
    readonly fields?: Readonly<Record<string, unknown>>
  }
}

/** An item that answers a call: the types of the calls, the fields with the id, and the field with the result. */
export interface ItemAnswer {
  readonly calls: ReadonlyArray<string>
  readonly ids: readonly [string, ...ReadonlyArray<string>]
  readonly result: string
}

/**
 * A type of item.
 *
 * - `payload`: fields that are no text, at any depth up to the next item inside
 * - `text`: fields that a model or a person can read, with everything inside them
 * - `call`, `answer`: its pair
 * - `origin`: whose words it has, if not those of the role of its message (see `Origin`)
 * - `within`: it stands inside other items or messages in a field of its own, never beside items
 */
export interface Item {
  readonly within?: true
  readonly payload?: Readonly<Record<string, Payload>>
  readonly text?: ReadonlyArray<string>
  readonly call?: ItemCall
  readonly answer?: ItemAnswer
  readonly origin?: "user" | "tool" | "retrieved" | "external"
}

/** What the model is told of a call without a result. */
export const interrupted = "(No result: the call was interrupted.)"

const text: Item = { text: ["text"] }
const textWithin: Item = { ...text, within: true }

/** A call of the Responses API that the client answers, and how it is closed: by an item of this type. */
const calling = (closing: NonNullable<ItemCall["closing"]>): ItemCall => ({
  ids: ["call_id"],
  by: "client",
  closing,
})

/** What answers a call of the Responses API, with the result in a field. */
const answering = (call: string, result = "output"): Item => ({
  origin: "tool",
  text: [result],
  answer: { calls: [call], ids: ["call_id"], result },
})

/** What answers a call of the Messages API. */
const resultOf = (call: string, origin: "tool" | "external"): Item => ({
  origin,
  text: ["content"],
  answer: { calls: [call], ids: ["tool_use_id"], result: "content" },
})

/** A failure of a tool that Anthropic runs. */
const failure: Item = { within: true, text: ["error_code", "error_message"] }

/** The result of a tool that Anthropic runs. */
const served = resultOf("server_tool_use", "tool")

/** A result with pages of the web. */
const servedPages = resultOf("server_tool_use", "external")

/** A call of Chat Completions. A message with the role `tool` answers it. */
const chatCall: ItemCall = { ids: ["id"], by: "client", closing: { type: "tool", words: "content" } }

const chat: Readonly<Record<string, Item>> = {
  // Content parts.
  text,
  refusal: { text: ["refusal"] },
  image_url: { origin: "retrieved", payload: { url: "file" } },
  video_url: { origin: "retrieved", payload: { url: "file" } },
  input_audio: { payload: { data: "file" } },
  file: { origin: "retrieved", payload: { file_data: "file", file_id: "file" }, text: ["file"] },
  // Calls in `tool_calls` of a message.
  function: { within: true, text: ["function"], call: chatCall },
  custom: { within: true, text: ["custom"], call: chatCall },
}

const responses: Readonly<Record<string, Item>> = {
  message: { text: ["content"] },
  item_reference: {},
  reasoning: { payload: { encrypted_content: "encrypted" }, text: ["summary", "content"] },
  // A provider's summary rests on whatever the model had read.
  compaction: { origin: "tool", payload: { encrypted_content: "encrypted" } },
  compaction_trigger: {},
  configuration_update: {},
  additional_tools: { text: ["tools"] },
  // Content parts, and parts within items.
  input_text: textWithin,
  output_text: textWithin,
  summary_text: textWithin,
  reasoning_text: textWithin,
  text: textWithin,
  refusal: { within: true, text: ["refusal"] },
  input_image: { origin: "retrieved", within: true, payload: { image_url: "file", file_id: "file" } },
  input_file: {
    origin: "retrieved",
    within: true,
    payload: { file_data: "file", file_url: "file", file_id: "file" },
    text: ["filename"],
  },
  input_audio: { within: true, payload: { data: "file" } },
  output_audio: { within: true, payload: { data: "file" }, text: ["transcript"] },
  computer_screenshot: { within: true, payload: { image_url: "file", file_id: "file" } },
  image: { within: true, payload: { url: "file" } },
  // Calls that the client answers.
  function_call: {
    text: ["name", "arguments"],
    call: calling({ type: "function_call_output", words: "output" }),
  },
  function_call_output: answering("function_call"),
  custom_tool_call: {
    text: ["name", "input"],
    call: calling({ type: "custom_tool_call_output", words: "output" }),
  },
  custom_tool_call_output: answering("custom_tool_call"),
  // An output of the computer is a screenshot, which nobody can make up.
  computer_call: { text: ["action", "actions"], call: { ids: ["call_id"], by: "client" } },
  computer_call_output: answering("computer_call"),
  // The client's types give the output an `id` alone, the documentation a `call_id`; either is an id of the call.
  local_shell_call: {
    text: ["action"],
    call: {
      ids: ["call_id", "id"],
      by: "client",
      closing: { type: "local_shell_call_output", id: "id", words: "output" },
    },
  },
  local_shell_call_output: {
    origin: "tool",
    text: ["output"],
    answer: { calls: ["local_shell_call"], ids: ["call_id", "id"], result: "output" },
  },
  shell_call: {
    text: ["action"],
    call: calling({
      type: "shell_call_output",
      fields: { output: [{ stdout: "", stderr: interrupted, outcome: { type: "timeout" } }] },
    }),
  },
  shell_call_output: answering("shell_call"),
  apply_patch_call: {
    text: ["operation"],
    call: calling({ type: "apply_patch_call_output", words: "output", fields: { status: "failed" } }),
  },
  apply_patch_call_output: answering("apply_patch_call"),
  // A search of the client's has a call id, and one of the provider's has none.
  tool_search_call: {
    text: ["arguments"],
    call: calling({
      type: "tool_search_output",
      fields: { execution: "client", status: "completed", tools: [] },
    }),
  },
  tool_search_output: answering("tool_search_call", "tools"),
  // Nobody but the user approves or denies.
  mcp_approval_request: {
    text: ["server_label", "name", "arguments"],
    call: { ids: ["id"], by: "client" },
  },
  mcp_approval_response: {
    origin: "user",
    text: ["reason"],
    answer: { calls: ["mcp_approval_request"], ids: ["approval_request_id"], result: "approve" },
  },
  // Tools that the provider runs. Most have their result in the call.
  program: { text: ["code"], call: { ids: ["call_id"], by: "provider" } },
  program_output: answering("program", "result"),
  mcp_list_tools: { origin: "external", text: ["server_label", "tools", "error"] },
  mcp_call: { origin: "external", text: ["server_label", "name", "arguments", "output", "error"] },
  web_search_call: { origin: "external", text: ["action"] },
  file_search_call: { origin: "retrieved", text: ["queries", "results"] },
  code_interpreter_call: { origin: "tool", text: ["code", "outputs"] },
  logs: { within: true, text: ["logs"] },
  image_generation_call: { origin: "tool", payload: { result: "file" }, text: ["revised_prompt", "error"] },
}

const anthropic: Readonly<Record<string, Item>> = {
  // The type of a block and of a source of documents, which has its text in `data`.
  text: { text: ["text", "data"] },
  thinking: { payload: { signature: "encrypted" }, text: ["thinking"] },
  redacted_thinking: { payload: { data: "encrypted" } },
  compaction: {
    origin: "tool",
    payload: { encrypted_content: "encrypted", signature: "encrypted" },
    text: ["content"],
  },
  fallback: {},
  image: { origin: "retrieved", text: ["source"] },
  document: { origin: "retrieved", text: ["title", "context", "source"] },
  search_result: { origin: "retrieved", text: ["title", "source", "content"] },
  browser_state: { within: true, text: ["tabs", "state_changes"] },
  tool_reference: { within: true, text: ["tool_name"] },
  // Files of a container: the model sees their ids.
  container_upload: {},
  tool_addition: { text: ["tool"] },
  tool_removal: { text: ["tool"] },
  mcp_tool_listing: { origin: "external", text: ["mcp_server_name", "tools"] },
  // Sources of images and documents.
  base64: { within: true, payload: { data: "file" } },
  url: { within: true, payload: { url: "file" } },
  file: { within: true, payload: { file_id: "file" } },
  content: { within: true, text: ["content"] },
  tool_use: {
    text: ["name", "input"],
    call: { ids: ["id"], by: "client", closing: { type: "tool_result", words: "content" } },
  },
  tool_result: resultOf("tool_use", "tool"),
  // Tools that Anthropic runs.
  server_tool_use: { text: ["name", "input"], call: { ids: ["id"], by: "provider" } },
  web_search_tool_result: servedPages,
  web_fetch_tool_result: servedPages,
  advisor_tool_result: served,
  code_execution_tool_result: served,
  bash_code_execution_tool_result: served,
  text_editor_code_execution_tool_result: served,
  tool_search_tool_result: served,
  mcp_tool_use: { text: ["server_name", "name", "input"], call: { ids: ["id"], by: "provider" } },
  mcp_tool_result: resultOf("mcp_tool_use", "external"),
  // Contents of results.
  web_search_result: {
    within: true,
    payload: { encrypted_content: "encrypted" },
    text: ["title", "url", "page_age"],
  },
  web_fetch_result: { within: true, text: ["url", "content"] },
  advisor_result: textWithin,
  advisor_redacted_result: { within: true, payload: { encrypted_content: "encrypted" } },
  code_execution_result: { within: true, text: ["stdout", "stderr", "content"] },
  encrypted_code_execution_result: {
    within: true,
    payload: { encrypted_stdout: "encrypted" },
    text: ["stderr", "content"],
  },
  bash_code_execution_result: { within: true, text: ["stdout", "stderr", "content"] },
  code_execution_output: { within: true },
  bash_code_execution_output: { within: true },
  text_editor_code_execution_view_result: { within: true, text: ["content"] },
  text_editor_code_execution_create_result: { within: true },
  text_editor_code_execution_str_replace_result: { within: true, text: ["lines"] },
  tool_search_tool_search_result: { within: true, text: ["tool_references"] },
  web_search_tool_result_error: failure,
  web_fetch_tool_result_error: failure,
  advisor_tool_result_error: failure,
  code_execution_tool_result_error: failure,
  bash_code_execution_tool_result_error: failure,
  text_editor_code_execution_tool_result_error: failure,
  tool_search_tool_result_error: failure,
}

/** The types of items and content blocks, by API. */
export const items: Readonly<Record<ItemApi, Readonly<Record<string, Item>>>> = {
  openai: chat,
  "openai-responses": responses,
  anthropic,
}
