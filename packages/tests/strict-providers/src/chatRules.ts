/** The published rules of OpenAI's Chat Completions API. */
import { calling, requestRules } from "./openaiRules.js"
import type { Rule } from "./violation.js"

const gemini = "https://ai.google.dev/gemini-api/docs"
const kimi = "https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model"
const mistral = "https://docs.mistral.ai/capabilities/function_calling"

const reference =
  "https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create"

/** The rules of {@link chatViolations}, by name, each with the page that documents it. */
export const chatRules = {
  ...requestRules(reference),
  "messages-empty": {
    says: "empty array. Expected an array with minimum length 1, but got an empty array instead.",
    source: reference,
  },
  role: {
    says: "Invalid value. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
    source: reference,
  },
  "content-null": { says: "Invalid value for 'content': expected a string, got null.", source: reference },
  "field-null": { says: "Invalid type: expected a value, but got null instead.", source: reference },
  "array-empty": {
    says: "empty array. Expected an array with minimum length 1, but got an empty array instead.",
    source: reference,
  },
  name: {
    says: "Expected a string of 1 to 64 characters that matches the pattern '^[^\\s<|\\\\/>]+$'.",
    source: reference,
  },
  "function-name": {
    says: "Expected a string of 1 to 64 characters that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    source: calling,
  },
  "call-id": { says: "Expected a string with a length of 1 to 40.", source: reference },
  "call-id-unique": { says: "Duplicate value for 'tool_call_id'.", source: calling },
  "tool-result-missing": {
    says: "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
    source: calling,
  },
  "tool-result-orphan": {
    says: "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    source: calling,
  },
  "tool-result-twice": { says: "Duplicate value for 'tool_call_id'.", source: calling },
  "first-user": {
    says: "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
    source: `${gemini}/function-calling`,
  },
  "reasoning-content": {
    says: "thinking is enabled but reasoning_content is missing in assistant tool call message",
    source: kimi,
  },
  "thought-signature": {
    says: "Function call is missing a thought_signature in functionCall parts.",
    source: `${gemini}/thought-signatures`,
  },
  "user-after-tool": { says: "Unexpected role 'user' after role 'tool'", source: mistral },
  "call-id-nine": {
    says: "Tool call id must be a-z, A-Z, 0-9, with a length of 9.",
    source: mistral,
  },
  "image-count": {
    says: "Too many images in one request.",
    source: "https://console.groq.com/docs/vision",
  },
} as const satisfies Record<string, Rule>

/** The name of a rule of Chat Completions. */
export type ChatRule = keyof typeof chatRules
