/** From items of the Agents SDK to memfold messages. */
import * as Codec from "@memfold/codec"
import type { Message } from "@memfold/core"
import { Either } from "effect"
import { formOf, provider, withForm } from "./form.js"
import { itemOf, messageOf } from "./item.js"

const roles: ReadonlySet<unknown> = new Set(["user", "assistant", "system"])

/** The fields that an item of a type has to have as texts. */
const needed: Readonly<Record<string, ReadonlyArray<string>>> = {
  function_call: ["callId", "name", "arguments"],
  function_call_result: ["callId", "name"],
  computer_call: ["callId"],
  computer_call_result: ["callId"],
  shell_call: ["callId"],
  shell_call_output: ["callId"],
  apply_patch_call: ["callId"],
  apply_patch_call_output: ["callId"],
}

const problemOf = (item: Codec.Fields): Codec.Problem | undefined => {
  const { type = "message", role, content } = item as Record<string, unknown>
  if (typeof type !== "string") {
    return { path: "type", problem: `has ${Codec.kindOf(type)} as its type`, allowed: "a string" }
  }
  if (type === "message") {
    if (!roles.has(role)) {
      return { path: "role", problem: "has no role that is known", allowed: '"user", "assistant", "system"' }
    }
    return typeof content === "string" || Array.isArray(content)
      ? undefined
      : {
          path: "content",
          problem: `has ${Codec.kindOf(content)} as its content`,
          allowed: "a string or a list",
        }
  }
  const field = (needed[type] ?? []).find((name) => typeof item[name] !== "string")
  return field === undefined
    ? undefined
    : { path: field, problem: `has no ${field} that is a string`, allowed: `a ${type} of the Agents SDK` }
}

/** A copy in plain JSON; bytes have no form there, and fields that are undefined are not there. */
const jsonOf = (input: unknown): Either.Either<Codec.Fields, Codec.Problem> =>
  Either.flatMap(
    Codec.asJson(() => Codec.freeze(input)),
    ({ json, special }) => {
      if (special.some(({ is }) => is === "bytes"))
        return Either.left({ path: "", problem: "has bytes", allowed: "base64 or data: URIs" })
      return Codec.isFields(json)
        ? Either.right(json)
        : Either.left({ path: "", problem: `is ${Codec.kindOf(input)}`, allowed: "an item with a type" })
    },
  )

const decodeItem = (item: Codec.Fields): Message.Message => {
  const message = messageOf(item)
  const form = formOf(item, itemOf(message))
  if (form === undefined) return message
  const [first, ...rest] = message.parts
  if (message.role !== "assistant" || first === undefined) {
    return { ...message, metadata: { ...message.metadata, [provider]: form } }
  }
  return { ...message, parts: [withForm(first, form), ...rest] }
}

const reasoning = "openai-responses"

const reasoningIn = ({ metadata }: Message.Message): number => {
  const form = metadata?.[reasoning]
  return Codec.isFields(form) && typeof form["reasoning"] === "number" ? form["reasoning"] : 0
}

/** Neighbouring items of the assistant are one message: reasoning stays with what follows from it. */
const joined = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Message.Message> => {
  const all: Array<Message.Message> = []
  for (const message of messages) {
    const last = all.at(-1)
    if (last?.role !== "assistant" || message.role !== "assistant") {
      all.push(message)
      continue
    }
    const count = reasoningIn(last) + reasoningIn(message)
    all[all.length - 1] = {
      role: "assistant",
      parts: [...last.parts, ...message.parts],
      ...(count === 0 ? {} : { metadata: { [reasoning]: { reasoning: count } } }),
    }
  }
  return all
}

/** The input is no item of the OpenAI Agents SDK: see `DecodeError` of `@memfold/codec` for the fields. */
export class AgentsDecodeError extends Codec.DecodeError<AgentsDecodeError>()("AgentsDecodeError", "item") {}

const decoder = Codec.decoder(
  AgentsDecodeError,
  (input) =>
    Either.flatMap(jsonOf(input), (item) => {
      const problem = problemOf(item)
      return problem === undefined ? Either.right(decodeItem(item)) : Either.left(problem)
    }),
  "a list of items",
)

/**
 * Decodes items of the Agents SDK (`AgentInputItem`). The first wrong item gives an `AgentsDecodeError` for the whole list.
 *
 * - neighbouring items of the assistant (reasoning, messages, calls) are one message
 * - `Responses.decodeItems` of `@memfold/openai` makes the parts, so other adapters can read them
 * - fields of an item that only the Agents SDK has (`providerData`, `status`, …) are kept beside its parts
 * - an item that is not known here is opaque, and comes back as it was
 *
 * A field that is `undefined` is not there.
 *
 * @example
 * ```ts
 * import { decodeItems } from "@memfold/openai-agents"
 * import { Either } from "effect"
 *
 * const messages = decodeItems([{ role: "user", content: "What is a fold?" }])
 * console.log(Either.isRight(messages)) // true
 * ```
 */
export const decodeItems = (
  input: unknown,
): Either.Either<ReadonlyArray<Message.Message>, AgentsDecodeError> => Either.map(decoder.list(input), joined)
