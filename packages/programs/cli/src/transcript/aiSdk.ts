/**
 * Messages of a page of the AI SDK. From version 5 on, `UIMessage`s, whose parts have all that they say; of version 4, rows with
 * `toolInvocations`, or with parts of the type `tool-invocation`. Each step of an answer is a message with its calls, and one
 * with their results.
 */
import type { Message } from "@memfold/core"
import { Either } from "effect"
import { hasMessage, logIn } from "./chat.js"
import * as Field from "./Field.js"
import type { Said } from "./EntryFormat.js"
import { readerOf } from "./Log.js"
import { allRecorded, call, file, inlined, joined, opaque, result, Steps, text, timeAt } from "./parts.js"
import { isObject, type JsonObject } from "./source.js"

const readMessage = Field.reads({
  id: Field.text,
  role: Field.any,
  createdAt: Field.text,
  metadata: Field.record({ createdAt: Field.any }),
  parts: Field.list,
})

const readPart = Field.reads({
  type: Field.text,
  text: Field.text,
  toolCallId: Field.text,
  toolName: Field.any,
  state: Field.text,
  input: Field.any,
  output: Field.any,
  errorText: Field.any,
  approval: Field.record({ approved: Field.flag, reason: Field.text }),
  mediaType: Field.text,
  url: Field.any,
  filename: Field.text,
})
type Part = ReturnType<typeof readPart>

const isCall = ({ type = "", toolCallId }: Part): boolean =>
  toolCallId !== undefined && (type === "dynamic-tool" || type.startsWith("tool-"))

const isMessage = (value: unknown): boolean =>
  isObject(value) &&
  !("content" in value) &&
  readMessage(value)
    .parts.map(readPart)
    .some(
      (part) =>
        isCall(part) || ["step-start", "source-url", "source-document", "text"].includes(part.type ?? ""),
    )

/** What a model got of a part; nothing of a part that is of the page alone. */
const said = (part: Part): ReadonlyArray<Message.Part> => {
  switch (part.type) {
    case "text":
      return text(part.text)
    case "reasoning":
      return [{ type: "reasoning", text: part.text ?? "" }]
    case "file":
      return [file(part.mediaType, Field.written(part.url), part.filename)]
    default:
      return []
  }
}

/** What ended a call. */
type Ended = readonly [output: unknown, isError?: boolean]

const denied = ({ approval }: Part): Ended => [joined(["the call was denied", approval.reason], ": "), true]

/** The output of a call that has ended, and whether it failed. */
const ended: Readonly<Record<string, (part: Part) => Ended | undefined>> = {
  "output-available": ({ output }) => [output],
  "output-error": ({ errorText }) => [errorText, true],
  "output-denied": denied,
  // The user has said no, and the page has not sent it yet.
  "approval-responded": (part) => (part.approval.approved === false ? denied(part) : undefined),
}

const answer = (parts: ReadonlyArray<Part>): ReadonlyArray<Message.Message> => {
  const steps = new Steps()
  for (const part of parts) {
    if (part.type === "step-start") steps.begin()
    if (!isCall(part)) {
      steps.said(...said(part))
      continue
    }
    const name = part.type === "dynamic-tool" ? part.toolName : part.type?.slice(5)
    const made = call(part.toolCallId, name, part.input)
    const end = ended[part.state ?? ""]?.(part)
    steps.said(made)
    if (end !== undefined) steps.answered(result(made, ...end))
  }
  return steps.messages
}

const roleOf = <Role extends string>(roles: ReadonlyArray<Role>, role: unknown) =>
  Either.fromNullable(
    roles.find((one) => one === role),
    () => ({ problem: `has ${role === undefined ? "no" : "an unknown"} role`, allowed: roles.join(", ") }),
  )

const says = (value: unknown): Said =>
  Either.gen(function* () {
    const { id, createdAt, metadata, ...message } = readMessage(value)
    const role = yield* roleOf(["system", "user", "assistant"] as const, message.role)
    const time = yield* timeAt(createdAt === undefined ? metadata : { createdAt }, "createdAt")
    const parts = message.parts.map(readPart)
    const all = role === "assistant" ? answer(parts) : [{ role, parts: parts.flatMap(said) }]
    return allRecorded(all, { id, time })
  })

export const reader = readerOf<unknown>({
  recognizes: hasMessage(isMessage),
  logs: logIn,
  says: ([message]) => says(message),
})

const invocation = {
  toolCallId: Field.text,
  toolName: Field.text,
  args: Field.any,
  state: Field.text,
  result: Field.any,
  step: Field.any,
}
const reasoned = { reasoning: Field.any, details: Field.records({ signature: Field.text }) }

const readRow = Field.reads({
  ...reasoned,
  id: Field.text,
  role: Field.any,
  content: Field.text,
  parts: Field.list,
  toolInvocations: Field.records(invocation),
  experimental_attachments: Field.records({ contentType: Field.text, url: Field.any, name: Field.text }),
})
type Row4 = ReturnType<typeof readRow>
type Invocation = Row4["toolInvocations"][number]

const readPart4 = Field.reads({
  ...reasoned,
  type: Field.text,
  text: Field.text,
  toolInvocation: Field.record(invocation),
  mimeType: Field.text,
  data: Field.any,
})

const isRow = (value: unknown): boolean =>
  isObject(value) &&
  (Array.isArray(value["toolInvocations"]) ||
    ("content" in value &&
      readRow(value).parts.some((part) =>
        ["tool-invocation", "source", "step-start"].includes(readPart4(part).type ?? ""),
      )))

/** The signature of the reasoning is in its details. */
const reasoningOf = ({ reasoning, details }: Pick<Row4, "reasoning" | "details">): Message.Reasoning => {
  const signature = details.find((detail) => detail.signature !== undefined)?.signature
  return {
    type: "reasoning",
    text: Field.written(reasoning),
    ...(signature === undefined ? {} : { signature }),
  }
}

const addCall = (steps: Steps, one: Invocation): void => {
  const made = call(one.toolCallId, one.toolName, one.args)
  steps.said(made)
  if (one.state === "result") steps.answered(result(made, one.result))
}

const ofParts = (parts: ReadonlyArray<unknown>): Steps => {
  const steps = new Steps()
  for (const data of parts) {
    const part = readPart4(data)
    switch (part.type) {
      case "step-start":
        steps.begin()
        break
      case "text":
        steps.said(...text(part.text))
        break
      case "reasoning":
        steps.said(reasoningOf(part))
        break
      case "tool-invocation":
        addCall(steps, part.toolInvocation)
        break
      case "file":
        steps.said(inlined(part.mimeType, part.data))
        break
      default:
        steps.said(opaque("ai-sdk", data))
    }
  }
  return steps
}

/** The `step` of a call says with which others it was made, where the row has it. */
const ofRow = (row: Row4): Steps => {
  const steps = new Steps()
  if (typeof row.reasoning === "string" && row.reasoning !== "") steps.said(reasoningOf(row))
  for (const [index, one] of row.toolInvocations.entries()) {
    if (index > 0 && one.step !== row.toolInvocations[index - 1]!.step) steps.begin()
    addCall(steps, one)
  }
  // The text of a row is what the model said last, after all of its calls have their results.
  steps.said(...text(row.content))
  return steps
}

const states = ["partial-call", "call", "result"]

const invocationProblem = (all: ReadonlyArray<Invocation>): string | undefined =>
  all.some(({ toolCallId, toolName }) => toolCallId === undefined || toolName === undefined)
    ? "has a call without toolCallId or toolName"
    : all.some(({ state = "" }) => !states.includes(state))
      ? `has a call with an unknown state; allowed: ${states.join(", ")}`
      : undefined

const says4 = (value: unknown): Said =>
  Either.gen(function* () {
    const row = readRow(value)
    const role = yield* roleOf(["system", "user", "assistant", "data"] as const, row.role)
    const calls = row.parts.map(readPart4).filter(({ type }) => type === "tool-invocation")
    const problem = invocationProblem([
      ...row.toolInvocations,
      ...calls.map(({ toolInvocation }) => toolInvocation),
    ])
    if (problem !== undefined) return yield* Either.left({ problem })
    const fields = value as JsonObject
    const field = ["createdAt", "time", "timestamp"].find((name) => (fields[name] ?? null) !== null)
    const time = field === undefined ? undefined : yield* timeAt(fields, field)
    // Messages of the role `data` are of the page, and no model gets them.
    if (role === "data") return []
    const parts = [
      ...text(row.content),
      ...row.experimental_attachments.map(({ contentType, url, name }) =>
        file(contentType, Field.written(url), name),
      ),
    ]
    const answered = row.parts.length > 0 ? ofParts(row.parts) : ofRow(row)
    return allRecorded(role === "assistant" ? answered.messages : [{ role, parts }], { id: row.id, time })
  })

export const reader4 = readerOf<unknown>({
  recognizes: hasMessage(isRow),
  logs: logIn,
  says: ([row]) => says4(row),
})
