/** What of an answer of an upstream is read, and what cannot be. */
import { type Fields, isFields, isUnreadable, parseExactly } from "@memfold/codec"

/** The most calls, or blocks, of an answer: each of its pieces is looked for among them. */
export const mostParts = 1_000

/** An answer that cannot be put together with certainty, or that did not come to its end: it passes, and is not stored. */
export class Unclear extends Error {
  override readonly name = "Unclear"
  /** @param reason - why, in a word, for the log and the trailer */
  constructor(readonly reason: "failed" | "broken-off" | "too-large" | "unclear-calls" | "unclear-parts") {
    super(`the answer cannot be stored: ${reason}`)
  }
}

/**
 * Asks of an answer, or of a chunk of one, whether it says that it has failed: some servers say so with status 200.
 *
 * @throws Unclear: it does
 */
export const checkNotFailed = ({ type, object, status, error = null, choices }: Fields): void => {
  const hasFailed = (choice: unknown): boolean =>
    isFields(choice) && ((choice["error"] ?? null) !== null || choice["finish_reason"] === "error")
  if (
    error !== null ||
    [type, object].includes("error") ||
    status === "failed" ||
    status === "cancelled" ||
    (Array.isArray(choices) && choices.some(hasFailed))
  )
    throw new Unclear("failed")
}

/** A message of an answer is the model's: also without a role, as some servers send it. What has another role is somebody else's words. */
export const ownMessage = (message: unknown): unknown => {
  if (!isFields(message)) return message
  const { role = "" } = message
  if (role !== "assistant" && role !== "" && role !== null) throw new Unclear("unclear-parts")
  return role === "assistant" ? message : { ...message, role: "assistant" }
}

/** Whether an answer of Chat Completions says that it has ended for its calls. */
export const endsForCalls = (reason: unknown): boolean =>
  reason === "tool_calls" || reason === "function_call"

/** Whether a message has neither text nor a call of a form that is known here. */
const saysNothing = ({ content, tool_calls: calls, function_call: call }: Fields): boolean =>
  (content ?? "") === "" && (!Array.isArray(calls) || calls.length === 0) && !isFields(call)

/**
 * An answer of any API, as the model's.
 *
 * @throws Unclear: it has a message of somebody else, or has ended for calls and has none
 */
export const ofModel = (answer: Fields): Fields => {
  const { choices, output } = answer
  const inChoice = (choice: unknown): unknown => {
    if (!isFields(choice) || !isFields(choice["message"])) return choice
    const { finish_reason: reason, message } = choice
    if (endsForCalls(reason) && saysNothing(message)) throw new Unclear("unclear-calls")
    return { ...choice, message: ownMessage(message) }
  }
  const inItem = (item: unknown): unknown =>
    isFields(item) && (item["type"] ?? "message") === "message" ? ownMessage(item) : item
  if (Array.isArray(choices)) return { ...answer, choices: choices.map(inChoice) }
  if (Array.isArray(output)) return { ...answer, output: output.map(inItem) }
  return Array.isArray(answer["content"]) ? (ownMessage(answer) as Fields) : answer
}

/**
 * The JSON of what an upstream says, without a mark of the byte order.
 *
 * @throws Unclear: it has more than is parsed
 * @throws SyntaxError: it is no JSON
 */
export const answerIn = (text: string): unknown => {
  if (isUnreadable(text)) throw new Unclear("too-large")
  return parseExactly(text.replace(/^\ufeff/, ""))
}
