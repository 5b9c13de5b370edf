/**
 * Rows of AI SDK 4: messages of a page with `toolInvocations`, or with parts of the type `tool-invocation`. Each step of
 * an answer is a message with its calls, and one with their results.
 */
import type { Message } from "@memfold/core"
import { Either } from "effect"
import { brokenOf, type ChatEntry, entriesOf } from "./chat.js"
import {
  listOf,
  nothing,
  objectOf,
  readEach,
  type Reader,
  recorded,
  single,
  textOf,
  timeAt,
  written,
} from "./Reader.js"
import { isObject, type JsonObject, type Problem } from "./source.js"

const partTypes = ["tool-invocation", "source", "step-start"]

const isRow = ({ value }: ChatEntry): boolean =>
  isObject(value) &&
  (Array.isArray(value["toolInvocations"]) ||
    ("content" in value &&
      listOf(value["parts"]).some((part) => partTypes.some((type) => type === objectOf(part)["type"]))))

const roles = ["system", "user", "assistant", "data"] as const

const states = ["partial-call", "call", "result"]

interface Step {
  readonly parts: Array<Message.Part>
  readonly results: Array<Message.ToolResult>
}

/** A file as a message has it, from its fields in the page. */
export const fileOf = (mediaType: unknown, uri: unknown, name: unknown): Message.File => ({
  type: "file",
  mediaType: textOf(mediaType) ?? "application/octet-stream",
  uri: written(uri),
  ...(textOf(name) === undefined ? {} : { name: String(name) }),
})

/** The signature of the reasoning is in its details. */
const reasoningOf = (part: JsonObject): Message.Reasoning => {
  const signed = listOf(part["details"])
    .map(objectOf)
    .find((detail) => textOf(detail["signature"]) !== undefined)
  return {
    type: "reasoning",
    text: written(part["reasoning"]),
    ...(signed === undefined ? {} : { signature: String(signed["signature"]) }),
  }
}

/** Fills the steps of an answer. A new one begins with `step-start`, and behind results. */
export class Steps {
  readonly all: Array<Step> = []
  #current: Step | undefined

  begin(): void {
    this.#current = undefined
  }

  said(part: Message.Part): void {
    if (this.#current === undefined || (this.#current.results.length > 0 && part.type !== "tool-call"))
      this.#open()
    this.#current!.parts.push(part)
  }

  #open(): void {
    this.#current = { parts: [], results: [] }
    this.all.push(this.#current)
  }

  /** The `step` of a call says with which others it was made, where the row has it. */
  call(invocation: JsonObject): void {
    const [id, name] = [written(invocation["toolCallId"]), written(invocation["toolName"])]
    this.called(
      { type: "tool-call", id, name, arguments: JSON.stringify(invocation["args"] ?? {}) },
      invocation["state"] === "result" ? { output: written(invocation["result"]) } : null,
    )
  }

  /** A call, and its result if there is one. */
  called(call: Message.ToolCall, result: Pick<Message.ToolResult, "output" | "isError"> | null): void {
    this.said(call)
    if (result === null) return
    this.#current!.results.push({ type: "tool-result", id: call.id, name: call.name, ...result })
  }

  get messages(): ReadonlyArray<Message.Message> {
    return this.all.flatMap(({ parts, results }): ReadonlyArray<Message.Message> => [
      { role: "assistant", parts },
      ...(results.length === 0 ? [] : [{ role: "tool" as const, parts: results }]),
    ])
  }
}

const invocationProblem = (invocations: ReadonlyArray<JsonObject>): string | undefined =>
  invocations.some(
    ({ toolCallId: id, toolName: name }) => textOf(id) === undefined || textOf(name) === undefined,
  )
    ? "has a call without toolCallId or toolName"
    : invocations.some(({ state }) => !states.includes(written(state)))
      ? `has a call with an unknown state; allowed: ${states.join(", ")}`
      : undefined

const stepsOf = (row: JsonObject): Steps => {
  const steps = new Steps()
  const parts = listOf(row["parts"]).map(objectOf)
  for (const part of parts) {
    switch (part["type"]) {
      case "step-start":
        steps.begin()
        break
      case "text":
        if (textOf(part["text"]) !== undefined) steps.said({ type: "text", text: String(part["text"]) })
        break
      case "reasoning":
        steps.said(reasoningOf(part))
        break
      case "tool-invocation":
        steps.call(objectOf(part["toolInvocation"]))
        break
      case "file":
        steps.said(
          fileOf(
            part["mimeType"],
            `data:${written(part["mimeType"])};base64,${written(part["data"])}`,
            undefined,
          ),
        )
        break
      default:
        steps.said({ type: "opaque", provider: "ai-sdk", data: part })
    }
  }
  if (parts.length > 0) return steps
  if (textOf(row["reasoning"]) !== undefined) steps.said(reasoningOf(row))
  const invocations = listOf(row["toolInvocations"]).map(objectOf)
  let step: unknown = invocations[0]?.["step"]
  for (const invocation of invocations) {
    if (invocation["step"] !== step) steps.begin()
    step = invocation["step"]
    steps.call(invocation)
  }
  // The text of a row is what the model said last, after all of its calls have their results.
  if (textOf(row["content"]) !== undefined) steps.said({ type: "text", text: String(row["content"]) })
  return steps
}

const userParts = (row: JsonObject): ReadonlyArray<Message.Part> => [
  ...(textOf(row["content"]) === undefined ? [] : [{ type: "text" as const, text: String(row["content"]) }]),
  ...listOf(row["experimental_attachments"])
    .map(objectOf)
    .map(({ contentType, url, name }) => fileOf(contentType, url, name)),
]

const readRow = (
  { value, line }: ChatEntry,
  index: number,
): Either.Either<ReadonlyArray<Message.Message>, Problem> => {
  const subject = line === undefined ? `message ${index}` : "the message"
  const place = line === undefined ? {} : { line }
  const row = objectOf(value)
  const failed = (problem: string, allowed?: string) =>
    Either.left({ ...place, problem: `${subject} ${problem}`, ...(allowed === undefined ? {} : { allowed }) })
  const role = roles.find((one) => one === row["role"])
  if (role === undefined) {
    return failed(row["role"] === undefined ? "has no role" : "has an unknown role", roles.join(", "))
  }
  const invocations = [
    ...listOf(row["toolInvocations"]).map(objectOf),
    ...listOf(row["parts"])
      .map(objectOf)
      .flatMap((part) => (part["type"] === "tool-invocation" ? [objectOf(part["toolInvocation"])] : [])),
  ]
  const wrong = invocationProblem(invocations)
  if (wrong !== undefined) return failed(wrong)
  const field = ["createdAt", "time", "timestamp"].find(
    (name) => row[name] !== undefined && row[name] !== null,
  )
  const time = field === undefined ? Either.right(undefined) : timeAt(row, field)
  if (Either.isLeft(time)) return Either.left({ ...place, ...time.left })
  const kept = { id: textOf(row["id"]), time: time.right }
  // Messages of the role `data` are of the page, and no model gets them.
  if (role === "data") return Either.right([])
  const said: ReadonlyArray<Message.Message> =
    role === "assistant" ? stepsOf(row).messages : [{ role, parts: userParts(row) }]
  return Either.right(said.filter(({ parts }) => parts.length > 0).map((message) => recorded(message, kept)))
}

export const reader: Reader = {
  recognizes: (source) =>
    Either.match(entriesOf(source), { onLeft: () => false, onRight: (rows) => rows.some(isRow) }),
  find: (source) =>
    single(() =>
      Either.match(entriesOf(source), {
        onLeft: nothing,
        onRight: (rows) => readEach(rows, readRow, brokenOf(source)),
      }),
    ),
}
