/** The published rules of the AI SDK about messages. */
import type { Rule } from "./violation.js"

const message = "https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message"
const prompt = "https://ai-sdk.dev/docs/reference/ai-sdk-errors/ai-invalid-prompt-error"
const results = "https://ai-sdk.dev/docs/reference/ai-sdk-errors/ai-missing-tool-results-error"

/** The rules of {@link modelMessageViolations}, by name, each with the page that documents it. */
export const aiSdkRules = {
  "messages-empty": { says: "messages must not be empty", source: prompt },
  "system-message": {
    says: "System messages are not allowed in the prompt or messages fields. Use the instructions option instead.",
    source: prompt,
  },
  role: { says: "Invalid message role. Must be one of: system, user, assistant, tool.", source: message },
  "field-unknown": { says: "A message or part has no such field.", source: message },
  "field-type": { says: "The messages do not match the ModelMessage[] schema.", source: message },
  "part-type": { says: "A part of this type is not allowed in a message of this role.", source: message },
  "content-empty": { says: "A message needs content: empty texts are left out.", source: message },
  "call-id-unique": { says: "Ids of tool calls are unique.", source: message },
  "tool-result-missing": { says: "Tool results are missing for tool calls.", source: results },
  "tool-result-orphan": { says: "A tool result answers a call of the message before it.", source: results },
  "tool-result-twice": { says: "Each tool call has a single result.", source: results },
  "tool-result-output": {
    says: "The output of a tool result is of type text, json, content, error-text, error-json or execution-denied.",
    source: message,
  },
} as const satisfies Record<string, Rule>

/** The name of a rule of the AI SDK. */
export type AiSdkRule = keyof typeof aiSdkRules
