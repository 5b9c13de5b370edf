/** A validator of prompts of the AI SDK (`ai` 7). */
import { aiSdkRules, type AiSdkRule } from "./aiSdkRules.js"
import { type Fields, fieldsOf, isFields, listOf, unknownFields } from "./json.js"
import { Findings, type Violation } from "./violation.js"

const words = (text: string): ReadonlyArray<string> => text.split(" ")

/** The parts that the content of each role can have. */
const roles: Readonly<Record<string, ReadonlyArray<string>>> = {
  system: [],
  user: words("text image file"),
  assistant: words("text custom file reasoning reasoning-file tool-call tool-result tool-approval-request"),
  tool: words("tool-result tool-approval-response"),
}

/** The fields of each part beside `type` and `providerOptions`: needed fields, and optional ones. */
const parts: Readonly<
  Record<string, readonly [needed: ReadonlyArray<string>, others: ReadonlyArray<string>]>
> = {
  text: [["text"], []],
  image: [["image"], ["mediaType"]],
  file: [["data", "mediaType"], ["filename"]],
  reasoning: [["text"], []],
  "reasoning-file": [["data", "mediaType"], []],
  custom: [["kind"], []],
  "tool-call": [["toolCallId", "toolName", "input"], ["providerExecuted"]],
  "tool-result": [["toolCallId", "toolName", "output"], []],
  "tool-approval-request": [
    ["approvalId", "toolCallId"],
    ["reason", "isAutomatic", "signature", "inputSchemaInput"],
  ],
  "tool-approval-response": [
    ["approvalId", "approved"],
    ["reason", "providerExecuted"],
  ],
}

/** Fields of parts that are strings. */
const strings: ReadonlySet<string> = new Set(
  words("text mediaType filename toolCallId toolName kind approvalId"),
)

/** The type of the value of each type of output. */
const outputs: Readonly<Record<string, (output: Fields) => boolean>> = {
  text: ({ value }) => typeof value === "string",
  json: ({ value }) => value !== undefined,
  "error-text": ({ value }) => typeof value === "string",
  "error-json": ({ value }) => value !== undefined,
  "execution-denied": ({ reason }) => reason === undefined || typeof reason === "string",
  content: ({ value }) =>
    Array.isArray(value) && value.every((one) => typeof fieldsOf(one)["type"] === "string"),
}

const partProblems = (part: unknown, role: string, path: string, findings: Findings<AiSdkRule>) => {
  const type = fieldsOf(part)["type"]
  const known = typeof type === "string" ? parts[type] : undefined
  if (
    !isFields(part) ||
    typeof type !== "string" ||
    known === undefined ||
    roles[role]?.includes(type) !== true
  ) {
    findings.add("part-type", `${path}.type`)
    return
  }
  const [needed, others] = known
  for (const name of unknownFields(part, new Set(["type", "providerOptions", ...needed, ...others]))) {
    findings.add("field-unknown", `${path}.${name}`)
  }
  for (const name of [...needed, ...others]) {
    const value = part[name]
    const missing = value === undefined && needed.includes(name) && name !== "input"
    if (missing || (value !== undefined && strings.has(name) && typeof value !== "string")) {
      findings.add("field-type", `${path}.${name}`)
    }
  }
  if (type === "tool-result" && part["output"] !== undefined) {
    const output = fieldsOf(part["output"])
    if (outputs[String(output["type"])]?.(output) !== true)
      findings.add("tool-result-output", `${path}.output`)
  }
}

const messageProblems = (message: unknown, path: string, findings: Findings<AiSdkRule>) => {
  const { role, content, providerOptions } = fieldsOf(message)
  if (!isFields(message) || typeof role !== "string" || !Object.hasOwn(roles, role)) {
    findings.add("role", `${path}.role`)
    return
  }
  for (const name of unknownFields(message, new Set(["role", "content", "providerOptions"]))) {
    findings.add("field-unknown", `${path}.${name}`)
  }
  if (typeof content === "string" && role !== "tool") {
    if (content === "") findings.add("content-empty", `${path}.content`)
    return
  }
  if (!Array.isArray(content) || role === "system") {
    findings.add("field-type", `${path}.content`)
    return
  }
  for (const [index, part] of content.entries()) {
    partProblems(part, role, `${path}.content[${index}]`, findings)
  }
  // As the SDK does: an empty text is left out, unless it carries options.
  const kept = content.filter((part) => {
    const { type, text, providerOptions: own } = fieldsOf(part)
    return type !== "text" || text !== "" || (role === "assistant" && own !== undefined)
  })
  if (kept.length === 0 && providerOptions === undefined) findings.add("content-empty", `${path}.content`)
}

const callsOf = (message: unknown) =>
  listOf(fieldsOf(message)["content"])
    .map(fieldsOf)
    .filter(({ type, providerExecuted }) => type === "tool-call" && providerExecuted !== true)

const pairingProblems = (messages: ReadonlyArray<unknown>, findings: Findings<AiSdkRule>) => {
  const seen = new Set<unknown>()
  const open = new Map<unknown, string>()
  const answered = new Set<unknown>()
  const close = () => {
    for (const [id, path] of open) {
      findings.add("tool-result-missing", path, `Tool result is missing for tool call ${String(id)}.`)
    }
    open.clear()
    answered.clear()
  }
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`
    if (fieldsOf(message)["role"] === "tool") {
      for (const [position, part] of listOf(fieldsOf(message)["content"]).entries()) {
        const { type, toolCallId: id } = fieldsOf(part)
        if (type !== "tool-result") continue
        if (answered.has(id)) findings.add("tool-result-twice", `${path}.content[${position}]`)
        else if (!open.delete(id)) findings.add("tool-result-orphan", `${path}.content[${position}]`)
        answered.add(id)
      }
      continue
    }
    close()
    for (const { toolCallId: id } of callsOf(message)) {
      if (seen.has(id)) findings.add("call-id-unique", path, `Two tool calls have the id ${String(id)}.`)
      seen.add(id)
      open.set(id, path)
    }
  }
  close()
}

/**
 * What the AI SDK (`generateText`, `streamText` of `ai` 7), or every model behind it, refuses in a prompt: system messages
 * among the messages, roles, parts of each role and their fields, empty content, calls and their results.
 *
 * @param prompt the `messages`; `instructions` are not looked at
 * @param options `allowSystemInMessages`, as given to the SDK
 * @returns every violation; empty if the messages are accepted
 *
 * @example
 * ```ts
 * import { modelMessageViolations } from "@memfold/strict-providers"
 *
 * const found = modelMessageViolations({ messages: [{ role: "system", content: "Be brief." }] })
 * console.log(found.map(({ rule, path }) => `${rule} at ${path}`)) // ["system-message at messages[0]"]
 * ```
 */
export const modelMessageViolations = (
  prompt: { readonly messages: ReadonlyArray<unknown> },
  options: { readonly allowSystemInMessages?: boolean } = {},
): ReadonlyArray<Violation> => {
  const findings = new Findings(aiSdkRules)
  const { messages } = prompt
  if (messages.length === 0) findings.add("messages-empty", "messages")
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`
    if (fieldsOf(message)["role"] === "system" && options.allowSystemInMessages !== true) {
      findings.add("system-message", path)
    }
    messageProblems(message, path, findings)
  }
  pairingProblems(messages, findings)
  return findings.found
}
