/** The published rules that both APIs of OpenAI have. */
import type { Rule } from "./violation.js"

/** The page that documents calls of functions. */
export const calling = "https://developers.openai.com/api/docs/guides/function-calling"

/**
 * The rules of every request.
 *
 * @param reference the page that documents the fields of the API
 */
export const requestRules = (reference: string) =>
  ({
    unicode: {
      says: "We could not parse the JSON body of your request: half a surrogate pair is no Unicode text.",
      source: "https://developers.openai.com/api/docs/guides/error-codes",
    },
    "field-required": { says: "Missing required parameter.", source: reference },
    "field-unknown": { says: "Unknown parameter.", source: reference },
    "field-type": { says: "Invalid type.", source: reference },
    "function-arguments": {
      says: "Invalid arguments of a function: expected a string with a JSON object.",
      source: calling,
    },
    "part-type": {
      says: "Invalid value: a content part of this type is not allowed here.",
      source: reference,
    },
  }) satisfies Record<string, Rule>
