/** From messages of Mastra to memfold messages. */
import { decodeMessages as decodePages } from "@memfold/ai-sdk/codec"
import {
  asJson,
  DecodeError,
  decoder,
  type Fields,
  foreignProblem,
  freeze,
  isFields,
  kindOf,
  type Problem,
  type Special,
} from "@memfold/codec"
import type { Message } from "@memfold/core"
import { Either } from "effect"
import { type Form, withForm, withReturned } from "./form.js"
import { withoutMirrors } from "./mirrors.js"
import { isFailed, modelOutputOf, toPage } from "./parts.js"

const roles: Readonly<Record<string, "user" | "assistant" | "system">> = {
  user: "user",
  assistant: "assistant",
  system: "system",
  // A signal is what came to the agent from outside while it ran.
  signal: "user",
}

const wrong = (path: string, problem: string, allowed: string): Either.Either<never, Problem> =>
  Either.left({ path, problem, allowed })

interface Checked {
  readonly id: string
  readonly role: string
  readonly content: Fields & { readonly parts: ReadonlyArray<unknown> }
  readonly rest: Fields
}

const checked = (json: unknown): Either.Either<Checked, Problem> => {
  const allowed = "messages of Mastra (MastraDBMessage, format 2)"
  if (!isFields(json)) return wrong("", `is ${kindOf(json)}`, allowed)
  const { id, role, content, ...rest } = json as Record<string, unknown>
  if (typeof id !== "string") return wrong("id", "has no id", "a string")
  if (typeof role !== "string" || !Object.hasOwn(roles, role)) {
    return wrong("role", "has a role that is none of Mastra", Object.keys(roles).join(", "))
  }
  if (!isFields(content)) return wrong("content", `has ${kindOf(content)} as its content`, allowed)
  if (content["format"] !== 2) return wrong("content.format", "has another format than 2", allowed)
  if (!Array.isArray(content["parts"])) return wrong("content.parts", "has no parts", "a list of parts")
  return Either.right({ id, role, content: content as Checked["content"], rest })
}

type Calls = ReadonlyMap<string, ReadonlyArray<Fields>>

/** The calls of a page by their ids, in order. */
const callsOf = (parts: ReadonlyArray<Fields>): Calls => {
  const calls = new Map<string, Array<Fields>>()
  for (const part of parts) {
    const { toolCallId } = part as Record<string, unknown>
    if (typeof toolCallId === "string") calls.set(toolCallId, [...(calls.get(toolCallId) ?? []), part])
  }
  return calls
}

/** The result as the model got it: what `toModelOutput` made of it, or that the tool failed. */
const asGiven = (result: Message.ToolResult, page: Fields | undefined): Message.ToolResult => {
  const output = page === undefined ? undefined : modelOutputOf(page)
  if (output !== undefined) {
    const content = [{ type: "tool-result", toolCallId: result.id, toolName: result.name ?? "", output }]
    const [given] = Either.getOrElse(decodePages([{ role: "tool", content }]), () => [])
    const [part] = given?.parts ?? []
    if (part?.type === "tool-result") return withReturned(part, result)
  }
  return page !== undefined && isFailed(page) && result.isError !== true
    ? withReturned({ ...result, isError: true }, result)
    : result
}

const decodeChecked = (
  { id, role, content, rest }: Checked,
  special: ReadonlyArray<Special>,
): ReadonlyArray<Message.Message> => {
  const { parts, format: _format, ...beside } = content as Record<string, unknown> & Checked["content"]
  const pageParts = toPage(parts)
  const { fields, mirrors } = withoutMirrors(beside, parts)
  const form: Form = {
    message: role === "signal" ? { ...rest, role } : rest,
    ...(Object.keys(fields).length === 0 ? {} : { content: fields }),
    ...(Object.keys(mirrors).length === 0 ? {} : { mirrors }),
    ...(special.length === 0 ? {} : { special }),
  }
  const messages = Either.getOrThrow(decodePages([{ id, role: roles[role], parts: pageParts }]))
  const calls = callsOf(pageParts)
  const seen = new Map<string, number>()
  const read = messages.map((message) => ({
    ...message,
    parts: message.parts.map((part): Message.Part => {
      if (part.type !== "tool-result") return part
      const at = seen.get(part.id) ?? 0
      seen.set(part.id, at + 1)
      return asGiven(part, calls.get(part.id)?.[at])
    }),
  }))
  return read.map((message, index) => (index === read.length - 1 ? withForm(message, form) : message))
}

/** The input is no message of Mastra: see `DecodeError` of `@memfold/codec` for the fields. */
export class MastraDecodeError extends DecodeError<MastraDecodeError>()("MastraDecodeError") {}

const decode = decoder(MastraDecodeError, (input) => {
  const foreign = foreignProblem(input, "mastra")
  if (foreign !== undefined) return Either.left<Problem>(foreign)
  return Either.flatMap(
    asJson(() => freeze(input)),
    ({ json, special }) => Either.map(checked(json), (message) => decodeChecked(message, special)),
  )
})

/**
 * Decodes messages of Mastra (`MastraDBMessage`). One message gives one or more: each step of an answer is a message with its
 * calls and one with their results. The first wrong message gives a `MastraDecodeError` for the whole list.
 *
 * - texts, reasoning, files, sources and calls are read as the AI SDK writes them: so the adapter of the AI SDK reads them, too
 * - a result is what the model got (`toModelOutput`); what the tool returned is kept beside it
 * - approvals, states of calls, ids, dates, metadata and parts that are not known here come back as they were
 *
 * Two things are normalised: a field that is `undefined` is not there, and a `Date` other than `createdAt` comes back as text.
 *
 * @example
 * ```ts
 * import { decodeMessages } from "@memfold/mastra"
 * import { Either } from "effect"
 *
 * const content = { format: 2, parts: [{ type: "text", text: "What is a fold?" }] }
 * const messages = decodeMessages([{ id: "m1", role: "user", createdAt: new Date(), content }])
 * console.log(Either.isRight(messages)) // true
 * ```
 */
export const decodeMessages = (
  input: unknown,
): Either.Either<ReadonlyArray<Message.Message>, MastraDecodeError> =>
  Either.map(decode.list(input), (decoded) => decoded.flat())
