/**
 * A message of Chat Completions as a request has it. Groq, Mistral and others refuse a request with a field that the API does not
 * have, and with null in a field that may be left out. Responses and logs of programs have many: `usage`, `model`, `createdAt`,
 * `function_call: null`.
 */
import * as Codec from "@memfold/codec"

const withoutNull = (fields: Codec.Fields): Codec.Fields =>
  Object.values(fields).includes(null)
    ? Object.fromEntries(
        Object.entries(fields).filter(([name, value]) => value !== null || name === "content"),
      )
    : fields

/** The objects of a list without null. */
const listed = (list: unknown): unknown =>
  Array.isArray(list) ? list.map((one: unknown) => (Codec.isFields(one) ? withoutNull(one) : one)) : list

/**
 * A message with the fields that a request knows, in its content and its calls, too.
 *
 * @param message - the message, with everything that it came with
 * @param further - names of further fields that the server takes
 */
export const requestMessage = (message: Codec.Fields, further: ReadonlySet<string>): Codec.Fields => {
  const allowed = Codec.knownOf(Codec.requestFields.openai, message)
  if (allowed === undefined) return message
  const sent = withoutNull(Codec.onlyKnown(message, allowed, further))
  const { content, tool_calls: called } = sent
  return {
    ...sent,
    ...(Array.isArray(content) ? { content: listed(content) } : {}),
    ...(Array.isArray(called) ? { tool_calls: listed(called) } : {}),
  }
}
