/** Reasoning of another model than the one that a request is for: its provider refuses it. */
import { Message } from "@memfold/message"
import { isFields } from "./fields.js"
import { leavingOut, type Sendable } from "./leavingOut.js"

/** The model that wrote a message, if it came as a whole response. */
const modelOf = ({ metadata = {} }: Message.Message): string | undefined => {
  for (const form of Object.values(metadata)) {
    const response = isFields(form) ? form["response"] : undefined
    if (isFields(response) && typeof response["model"] === "string") return response["model"]
  }
  return undefined
}

/** A model without what routers put in front of its name, and without its date: an alias and its snapshot are one model. */
const nameOf = (model: string): string =>
  model.slice(model.lastIndexOf("/") + 1).replace(/(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$/, "")

/**
 * The messages without bound parts that another model wrote. What a message says stays; a message whose model is not known stays
 * as it is.
 *
 * @param messages - the messages of a context
 * @param model - the model that the request is for; without it, nothing is left out
 *
 * @example
 * ```ts
 * import { withoutOtherModels } from "@memfold/codec"
 * import type { Message } from "@memfold/core"
 *
 * const answer: Message.Message = {
 *   role: "assistant",
 *   parts: [
 *     { type: "reasoning", text: "It rains.", signature: "EqQB" },
 *     { type: "text", text: "Yes." },
 *   ],
 *   metadata: { anthropic: { response: { model: "claude-opus-5" } } },
 * }
 * console.log(withoutOtherModels([answer], "claude-sonnet-5-5").omitted) // [{ message: 0, part: "reasoning" }]
 * ```
 */
export const withoutOtherModels = (
  messages: ReadonlyArray<Message.Message>,
  model: string | undefined,
): Sendable => {
  if (model === undefined) return { messages, omitted: [] }
  return leavingOut(messages, (part, message) => {
    const own = Message.isBound(part) ? modelOf(message) : undefined
    return own !== undefined && nameOf(own) !== nameOf(model)
  })
}
