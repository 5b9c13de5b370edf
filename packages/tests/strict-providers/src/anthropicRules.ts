/** The published rules of Anthropic's Messages API. */
import type { Rule } from "./violation.js"

const docs = "https://platform.claude.com/docs/en"
const reference = `${docs}/api/messages/create`
const turns = `${docs}/build-with-claude/working-with-messages`
const tools = `${docs}/agents-and-tools/tool-use/handle-tool-calls`
const serverTools = `${docs}/agents-and-tools/tool-use/server-tools`
const define = `${docs}/agents-and-tools/tool-use/define-tools`
const thinking = `${docs}/build-with-claude/thinking`
const systemMessages = `${docs}/build-with-claude/mid-conversation-system-messages`
const caching = `${docs}/build-with-claude/prompt-caching`
const betas = `${docs}/api/beta-headers`

/** The rules of {@link anthropicViolations}, by name, each with the page that documents it. */
export const anthropicRules = {
  unicode: {
    says: "The request body is not valid JSON: no low surrogate in string",
    source: `${docs}/api/errors`,
  },
  "field-required": { says: "Field required", source: reference },
  "field-unknown": { says: "Extra inputs are not permitted", source: reference },
  "field-type": { says: "Input should be of another type", source: reference },
  "beta-header": { says: "Extra inputs are not permitted without its beta header", source: betas },
  "messages-empty": { says: "at least one message is required", source: reference },
  role: { says: "Input should be 'user', 'assistant' or 'system'", source: reference },
  "first-user": { says: 'first message must use the "user" role', source: turns },
  "last-user": {
    says: "This model does not support assistant message prefill. The conversation must end with a user message.",
    source: `${docs}/build-with-claude/prompt-engineering/prefill-claudes-response`,
  },
  "final-whitespace": {
    says: "final assistant content cannot end with trailing whitespace",
    source: `${docs}/build-with-claude/prompt-engineering/prefill-claudes-response`,
  },
  "system-role": { says: "role 'system' is not supported on this model", source: systemMessages },
  "system-first": {
    says: "a system message cannot be the first entry; use the top-level `system` field",
    source: systemMessages,
  },
  "system-after": { says: "a system message must follow a user message", source: systemMessages },
  "system-before": {
    says: "a system message must be the last message or be followed by an assistant message",
    source: systemMessages,
  },
  "content-empty": {
    says: "all messages must have non-empty content except for the optional final assistant message",
    source: turns,
  },
  "text-empty": { says: "text content blocks must be non-empty", source: turns },
  "text-blank": { says: "text content blocks must contain non-whitespace text", source: turns },
  "block-type": { says: "a content block of this type is not allowed here", source: reference },
  "media-type": { says: "Input should be a supported media type", source: reference },
  "tool-use-id": { says: "String should match pattern '^[a-zA-Z0-9_-]+$'", source: reference },
  "tool-use-id-unique": { says: "`tool_use` ids must be unique", source: tools },
  "tool-use-name": { says: "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", source: define },
  "tool-use-input": { says: "Input should be a valid dictionary", source: reference },
  "tool-result-missing": {
    says: "`tool_use` ids were found without `tool_result` blocks immediately after",
    source: tools,
  },
  "tool-result-orphan": {
    says: "unexpected `tool_use_id` found in `tool_result` blocks",
    source: tools,
  },
  "tool-result-twice": { says: "each tool_use must have a single result", source: tools },
  "tool-result-error-empty": { says: "content cannot be empty if `is_error` is true", source: tools },
  "tool-result-error-text": {
    says: "all content must be type `text` if `is_error` is true",
    source: tools,
  },
  "server-tool-result-missing": {
    says: "tool use was found without a corresponding tool result block",
    source: serverTools,
  },
  "server-tool-result-orphan": {
    says: "unexpected `tool_use_id` found in blocks of a server tool's result",
    source: serverTools,
  },
  caller: { says: "`caller.tool_id` must be the id of a `server_tool_use` block before it", source: tools },
  "thinking-signature": { says: "Invalid `signature` in `thinking` block", source: thinking },
  "thinking-last": {
    says: "The final block in an assistant message cannot be `thinking`.",
    source: thinking,
  },
  "thinking-first": {
    says: "Expected `thinking` or `redacted_thinking`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceding the lastmost set of `tool_use` and `tool_result` blocks).",
    source: `${thinking}#preserving-thinking-blocks`,
  },
  "image-count": {
    says: "Too many images in one request: at most 100 may be provided.",
    source: `${docs}/build-with-claude/vision`,
  },
  "image-size": {
    says: "image exceeds 5 MB maximum",
    source: `${docs}/build-with-claude/vision`,
  },
  "request-size": {
    says: "Request exceeds the maximum allowed number of bytes (32 MB).",
    source: `${docs}/api/overview#request-size-limits`,
  },
  "cache-control-count": {
    says: "A maximum of 4 blocks with cache_control may be provided.",
    source: caching,
  },
  "cache-control-order": {
    says: "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
    source: `${caching}#1-hour-cache-duration`,
  },
  "cache-control-place": {
    says: "cache_control cannot be set for thinking blocks or empty text blocks",
    source: `${caching}#what-can-be-cached`,
  },
} as const satisfies Record<string, Rule>

/** The name of a rule of the Messages API. */
export type AnthropicRule = keyof typeof anthropicRules
