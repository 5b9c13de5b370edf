/** The published rules of OpenAI's Responses API. */
import { calling, requestRules } from "./openaiRules.js"
import type { Rule } from "./violation.js"

const reference = "https://developers.openai.com/api/reference/resources/responses/methods/create"
const reasoning = "https://developers.openai.com/api/docs/guides/reasoning"

/** The rules of {@link responsesViolations}, by name, each with the page that documents it. */
export const responsesRules = {
  ...requestRules(reference),
  "input-empty": {
    says: 'One of "input" or "previous_response_id" or "prompt" or "conversation" must be provided.',
    source: reference,
  },
  "item-type": { says: "Invalid value: there is no input item of this type.", source: reference },
  role: {
    says: "Invalid value. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
    source: reference,
  },
  "function-name": {
    says: "Expected a string of 1 to 128 characters that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    source: calling,
  },
  "call-id": { says: "Expected a string with a length of 1 to 64.", source: reference },
  "call-id-unique": { says: "Duplicate function call.", source: calling },
  "item-id": {
    says: "Expected an id of letters, digits, '_' and '-', at most 64 of them, with the prefix of its type.",
    source: reference,
  },
  "item-id-unique": { says: "Duplicate item found with id.", source: reference },
  "tool-result-missing": { says: "No tool output found for function call.", source: calling },
  "tool-result-orphan": { says: "No tool call found for function call output.", source: calling },
  "tool-result-twice": { says: "Duplicate function call output.", source: calling },
  caller: { says: "No program found for the caller.", source: calling },
  "compaction-trigger": {
    says: "An item of type 'compaction_trigger' must be the final input item.",
    source: reference,
  },
  "reasoning-following": {
    says: "Item of type 'reasoning' was provided without its required following item.",
    source: `${reasoning}#keeping-reasoning-items-in-context`,
  },
  "reasoning-content": {
    says: "Item not found. Items are not persisted when `store` is set to false; send its encrypted_content.",
    source: `${reasoning}#encrypted-reasoning-items`,
  },
} as const satisfies Record<string, Rule>

/** The name of a rule of Responses. */
export type ResponsesRule = keyof typeof responsesRules
