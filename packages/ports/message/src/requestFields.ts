/**
 * The fields that a request may have, in the items, messages and blocks of three APIs: OpenAI's Chat Completions and Responses, and
 * Anthropic's Messages. An API refuses any other field. The fields are those of the types of `openai` 7.57 and `@anthropic-ai/sdk` 1.12;
 * a test fails if an installed client knows another field or another type.
 *
 * The table is data and imports nothing.
 */

/** What a field may have inside: anything, or objects with known fields, alone or in a list. */
export type KnownInside = true | KnownFields | KnownTypes

/** An object with these fields and no others. */
export interface KnownFields {
  readonly fields: Readonly<Record<string, KnownInside>>
}

/** An object that says in `type` (a message of Chat Completions: in `role`) what it is; of any other type, nothing is known. */
export interface KnownTypes {
  readonly types: Readonly<Record<string, KnownFields>>
}

/**
 * An object with these fields.
 *
 * @param names - the names of the fields, with a space between two
 * @param inside - what fields have inside, where that is known, too
 */
export const known = (names: string, inside: Readonly<Record<string, KnownInside>> = {}): KnownFields => ({
  fields: {
    ...Object.fromEntries(names.split(" ").flatMap((name) => (name === "" ? [] : [[name, true as const]]))),
    ...inside,
  },
})

const oneOf = (types: Readonly<Record<string, KnownFields>>): KnownTypes => ({ types })

const breakpoint = { prompt_cache_breakpoint: known("mode ttl") }

const chatText = known("type text", breakpoint)
const chatTexts = oneOf({ text: chatText })

/** Messages of Chat Completions, by their roles. */
const chat: KnownTypes = oneOf({
  system: known("role name", { content: chatTexts }),
  developer: known("role name", { content: chatTexts }),
  user: known("role name", {
    content: oneOf({
      text: chatText,
      image_url: known("type", { ...breakpoint, image_url: known("url detail") }),
      input_audio: known("type", { ...breakpoint, input_audio: known("data format") }),
      file: known("type", { ...breakpoint, file: known("file_data file_id filename") }),
    }),
  }),
  assistant: known("role name refusal", {
    content: oneOf({ text: chatText, refusal: known("type refusal") }),
    audio: known("id"),
    function_call: known("name arguments"),
    tool_calls: oneOf({
      function: known("id type", { function: known("name arguments") }),
      custom: known("id type", { custom: known("name input") }),
    }),
  }),
  // The client's types know no name of a tool message; the API has taken one since it had tools.
  tool: known("role tool_call_id name", { content: chatTexts }),
  function: known("role name content"),
})

const caller = { caller: oneOf({ direct: known("type"), program: known("type caller_id") }) }

const inputText = known("type text", breakpoint)
const inputImage = known("type detail file_id image_url", breakpoint)
const inputFile = known("type detail file_data file_id file_url filename", breakpoint)

const outputs = { output: oneOf({ input_text: inputText, input_image: inputImage, input_file: inputFile }) }

const check = known("id code message")
const point = known("x y")
const action = oneOf({
  click: known("type button keys x y"),
  double_click: known("type keys x y"),
  drag: known("type keys", { path: point }),
  keypress: known("type keys"),
  move: known("type keys x y"),
  screenshot: known("type"),
  scroll: known("type keys scroll_x scroll_y x y"),
  type: known("type text"),
  wait: known("type"),
})

const likely = { bytes: true, logprob: true, token: true } as const

/** Items of Responses, by their types. What is inside of tools is the program's, and not checked. */
const responses: KnownTypes = oneOf({
  message: known("type id role status phase", {
    content: oneOf({
      input_text: inputText,
      input_image: inputImage,
      input_file: inputFile,
      output_text: known("type text", {
        annotations: oneOf({
          file_citation: known("type file_id filename index"),
          url_citation: known("type url title start_index end_index"),
          container_file_citation: known("type container_id file_id filename start_index end_index"),
          file_path: known("type file_id index"),
        }),
        logprobs: known("", { ...likely, top_logprobs: known("", likely) }),
      }),
      refusal: known("type refusal"),
    }),
  }),
  item_reference: known("type id"),
  reasoning: known("type id encrypted_content status", {
    summary: oneOf({ summary_text: known("type text") }),
    content: oneOf({ reasoning_text: known("type text") }),
  }),
  compaction: known("type id encrypted_content created_by"),
  compaction_trigger: known("type id"),
  configuration_update: known("type id", {
    reasoning: known("effort"),
    text: known("", {
      format: oneOf({ text: known("type"), json_schema: known("type name description schema strict") }),
    }),
  }),
  additional_tools: known("type id role tools"),
  function_call: known("type id call_id name arguments status async namespace created_by", caller),
  function_call_output: known("type id call_id status name namespace created_by", { ...caller, ...outputs }),
  custom_tool_call: known("type id call_id name input status async namespace created_by", caller),
  custom_tool_call_output: known("type id call_id status created_by", { ...caller, ...outputs }),
  computer_call: known("type id call_id status", {
    action,
    actions: action,
    pending_safety_checks: check,
  }),
  computer_call_output: known("type id call_id status created_by", {
    acknowledged_safety_checks: check,
    output: oneOf({ computer_screenshot: known("type file_id image_url") }),
  }),
  local_shell_call: known("type id call_id status", {
    action: oneOf({ exec: known("type command env timeout_ms user working_directory") }),
  }),
  // The client's types give it an `id` alone, the documentation a `call_id`.
  local_shell_call_output: known("type id call_id output status"),
  shell_call: known("type id call_id status created_by", {
    ...caller,
    action: known("commands max_output_length timeout_ms"),
    environment: oneOf({
      local: known("type", { skills: known("name description path") }),
      container_reference: known("type container_id"),
    }),
  }),
  shell_call_output: known("type id call_id max_output_length status created_by", {
    ...caller,
    output: known("stdout stderr created_by", {
      outcome: oneOf({ exit: known("type exit_code"), timeout: known("type") }),
    }),
  }),
  apply_patch_call: known("type id call_id status created_by", {
    ...caller,
    operation: oneOf({
      create_file: known("type path diff"),
      update_file: known("type path diff"),
      delete_file: known("type path"),
    }),
  }),
  apply_patch_call_output: known("type id call_id output status created_by", caller),
  tool_search_call: known("type id call_id arguments execution status created_by"),
  tool_search_output: known("type id call_id execution status tools created_by"),
  mcp_approval_request: known("type id server_label name arguments"),
  mcp_approval_response: known("type id approval_request_id approve reason"),
  mcp_list_tools: known("type id server_label error tools"),
  mcp_call: known("type id server_label name arguments output status approval_request_id", {
    error: oneOf({
      mcp_protocol_error: known("type code message"),
      mcp_tool_execution_error: known("type content"),
      http_error: known("type code message"),
    }),
  }),
  program: known("type id call_id code fingerprint"),
  program_output: known("type id call_id result status"),
  web_search_call: known("type id status", {
    action: oneOf({
      search: known("type query queries", { sources: oneOf({ url: known("type url") }) }),
      open_page: known("type url"),
      find_in_page: known("type url pattern"),
    }),
  }),
  file_search_call: known("type id status queries", {
    results: known("file_id filename score text attributes"),
  }),
  code_interpreter_call: known("type id status code container_id", {
    outputs: oneOf({ logs: known("type logs"), image: known("type url") }),
  }),
  image_generation_call: known(
    "type id status result action background output_format quality revised_prompt size",
    {
      error: known("type code message param", {
        moderation_details: known("categories moderation_stage"),
      }),
      svg_usage: known("model input_tokens output_tokens reasoning_tokens total_tokens"),
    },
  ),
})

const mark = { cache_control: oneOf({ ephemeral: known("type ttl") }) }
const calledBy = {
  caller: oneOf({
    direct: known("type"),
    code_execution_20250825: known("type tool_id"),
    code_execution_20260120: known("type tool_id"),
  }),
}

const block = known("type text", {
  ...mark,
  citations: oneOf({
    char_location: known("type cited_text document_index document_title start_char_index end_char_index"),
    page_location: known("type cited_text document_index document_title start_page_number end_page_number"),
    content_block_location: known(
      "type cited_text document_index document_title start_block_index end_block_index",
    ),
    web_search_result_location: known("type cited_text encrypted_index title url"),
    search_result_location: known(
      "type cited_text search_result_index source title start_block_index end_block_index",
    ),
  }),
})
const texts = oneOf({ text: block })

const base64 = known("type data media_type")
const atUrl = known("type url")
const ofFile = known("type file_id")
const image = known("type", {
  ...mark,
  source: oneOf({ base64, url: atUrl, file: ofFile }),
  transformations: known("oversized_image"),
})
const document = known("type title context", {
  ...mark,
  citations: known("enabled"),
  source: oneOf({
    base64,
    url: atUrl,
    file: ofFile,
    text: known("type data media_type"),
    content: known("type", { content: oneOf({ text: block, image }) }),
  }),
})
const searchResult = known("type title source", { ...mark, content: texts, citations: known("enabled") })
const toolReference = known("type tool_name", mark)

/** Another tool, or one less: what is inside of it is the program's, and not checked. */
const change = known("type tool", mark)

/** A result of a tool that Anthropic runs. */
const served = (types: Readonly<Record<string, KnownFields>>): KnownFields =>
  known("type tool_use_id", { ...mark, content: oneOf(types) })

const code = known("type error_code")
const words = known("type error_code error_message")
const files = { content: oneOf({ code_execution_output: ofFile }) }

/** Blocks of Messages, by their types. */
const anthropic: KnownTypes = oneOf({
  text: block,
  thinking: known("type thinking signature"),
  redacted_thinking: known("type data"),
  compaction: known("type content encrypted_content signature", {
    ...mark,
    tool_changes: oneOf({ tool_addition: change, tool_removal: change }),
  }),
  fallback: known("type trigger", { from: known("model"), to: known("model") }),
  image,
  document,
  search_result: searchResult,
  container_upload: known("type file_id", mark),
  tool_addition: change,
  tool_removal: change,
  mcp_tool_listing: known("type mcp_server_name tools"),
  tool_use: known("type id name input toolset_name", { ...mark, ...calledBy }),
  tool_result: known("type tool_use_id is_error toolset_name", {
    ...mark,
    content: oneOf({
      text: block,
      image,
      document,
      search_result: searchResult,
      tool_reference: toolReference,
      browser_state: known("type", {
        ...mark,
        tabs: known("active tab_id title url"),
        state_changes: oneOf({
          tab_opened: known("type tab_id"),
          download_started: known("type download_id url"),
          download_completed: known("type download_id path size_bytes url"),
          download_failed: known("type download_id error url"),
        }),
      }),
    }),
  }),
  server_tool_use: known("type id name input", { ...mark, ...calledBy }),
  web_search_tool_result: known("type tool_use_id", {
    ...mark,
    ...calledBy,
    content: oneOf({
      web_search_result: known("type title url page_age encrypted_content"),
      web_search_tool_result_error: code,
    }),
  }),
  web_fetch_tool_result: known("type tool_use_id", {
    ...mark,
    ...calledBy,
    content: oneOf({
      web_fetch_result: known("type url retrieved_at", { content: oneOf({ document }) }),
      web_fetch_tool_result_error: code,
    }),
  }),
  advisor_tool_result: served({
    advisor_result: known("type text stop_reason"),
    advisor_redacted_result: known("type encrypted_content stop_reason"),
    advisor_tool_result_error: code,
  }),
  code_execution_tool_result: served({
    code_execution_result: known("type stdout stderr return_code", files),
    encrypted_code_execution_result: known("type encrypted_stdout stderr return_code", files),
    code_execution_tool_result_error: code,
  }),
  bash_code_execution_tool_result: served({
    bash_code_execution_result: known("type stdout stderr return_code", {
      content: oneOf({ bash_code_execution_output: ofFile }),
    }),
    bash_code_execution_tool_result_error: code,
  }),
  text_editor_code_execution_tool_result: served({
    text_editor_code_execution_view_result: known("type content file_type num_lines start_line total_lines"),
    text_editor_code_execution_create_result: known("type is_file_update"),
    text_editor_code_execution_str_replace_result: known(
      "type lines old_start old_lines new_start new_lines",
    ),
    text_editor_code_execution_tool_result_error: words,
  }),
  tool_search_tool_result: served({
    tool_search_tool_search_result: known("type", {
      tool_references: oneOf({ tool_reference: toolReference }),
    }),
    tool_search_tool_result_error: words,
  }),
  mcp_tool_use: known("type id server_name name input", mark),
  mcp_tool_result: known("type tool_use_id is_error", { ...mark, content: texts }),
})

/** Messages of Messages, by their roles; their blocks are in the other table. */
const anthropicMessages: KnownTypes = oneOf({
  user: known("role content"),
  assistant: known("role content"),
  system: known("role content clear_at", { output_config: known("effort") }),
})

/** The fields of requests, by API: messages of Chat Completions, items of Responses, messages and blocks of Messages. */
export const requestFields = {
  openai: chat,
  "openai-responses": responses,
  anthropic,
  anthropicMessages,
} as const
