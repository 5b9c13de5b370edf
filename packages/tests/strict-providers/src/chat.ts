/** A validator of requests to OpenAI's Chat Completions API. */
import { chatRules, type ChatRule } from "./chatRules.js"
import { type ChatServer, fieldsOfServer, serverProblems } from "./chatServers.js"
import {
  type Fields,
  fieldsOf,
  halfPairs,
  isFields,
  isObjectText,
  listOf,
  unknownFields,
  unknownInside,
} from "./json.js"
import { requestFields } from "@memfold/message/requestFields"
import { Findings, type Violation } from "./violation.js"

const bodyFields: ReadonlySet<string> = new Set(
  `messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens
  metadata modalities moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options
  prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier stop store stream
  stream_options temperature tool_choice tools top_logprobs top_p user verbosity web_search_options`.split(
    /\s+/,
  ),
)

/** The parts that the content of a message can have, by its role. */
const roles: Readonly<Record<string, ReadonlySet<unknown>>> = {
  system: new Set(["text"]),
  developer: new Set(["text"]),
  user: new Set(["text", "image_url", "input_audio", "file"]),
  assistant: new Set(["text", "refusal"]),
  tool: new Set(["text"]),
  function: new Set(),
}

/** The parts of content that have what they say in a field of the name of their type. */
const parts: ReadonlySet<unknown> = new Set(["text", "refusal", "image_url", "input_audio", "file"])

const authorName = /^[^\s<|\\/>]{1,64}$/u
const functionName = /^[a-zA-Z0-9_-]{1,64}$/

const isCallId = (id: unknown): id is string => typeof id === "string" && id.length >= 1 && id.length <= 40

const contentProblems = (message: Fields, role: string, path: string, findings: Findings<ChatRule>) => {
  const content = message["content"]
  if (content == null) {
    const stated = ["tool_calls", "function_call", "refusal", "audio"].some((name) => message[name] != null)
    if (role === "function" && content === null) return
    if (role !== "assistant" || !stated) findings.add("content-null", `${path}.content`)
    return
  }
  if (typeof content === "string") return
  if (!Array.isArray(content)) {
    findings.add("field-type", `${path}.content`, "Invalid type: expected a string or an array")
    return
  }
  if (content.length === 0) findings.add("array-empty", `${path}.content`)
  for (const [index, part] of content.entries()) {
    const at = `${path}.content[${index}]`
    const type = fieldsOf(part)["type"]
    if (!isFields(part) || typeof type !== "string" || !parts.has(type) || roles[role]?.has(type) !== true) {
      findings.add("part-type", `${at}.type`)
      continue
    }
    if (part[type] === undefined) findings.add("field-required", `${at}.${type}`)
    else if ((type === "text" || type === "refusal") && typeof part[type] !== "string") {
      findings.add("field-type", `${at}.${type}`)
    }
  }
}

/** `ids` has the ids of the calls so far: they are unique in a request, not only in a message. */
const callProblems = (message: Fields, path: string, ids: Set<unknown>, findings: Findings<ChatRule>) => {
  const calls = message["tool_calls"]
  if (calls == null) return
  if (!Array.isArray(calls)) {
    findings.add("field-type", `${path}.tool_calls`)
    return
  }
  if (calls.length === 0) findings.add("array-empty", `${path}.tool_calls`)
  for (const [index, call] of calls.entries()) {
    const at = `${path}.tool_calls[${index}]`
    const { id, type } = fieldsOf(call)
    const kind = type === "custom" ? "custom" : "function"
    if (type !== "function" && type !== "custom") findings.add("field-required", `${at}.type`)
    if (!isCallId(id)) findings.add("call-id", `${at}.id`)
    if (ids.has(id))
      findings.add("call-id-unique", `${at}.id`, `Duplicate value for 'tool_call_id' of '${String(id)}'`)
    ids.add(id)
    const called = fieldsOf(fieldsOf(call)[kind])
    const text = kind === "custom" ? "input" : "arguments"
    if (typeof called["name"] !== "string" || !functionName.test(called["name"])) {
      findings.add("function-name", `${at}.${kind}.name`)
    }
    if (typeof called[text] !== "string") findings.add("field-type", `${at}.${kind}.${text}`)
    else if (kind === "function" && !isObjectText(called[text])) {
      findings.add("function-arguments", `${at}.function.arguments`)
    }
  }
}

const messageProblems = (
  message: unknown,
  path: string,
  ids: Set<unknown>,
  takes: ReadonlySet<string>,
  findings: Findings<ChatRule>,
): void => {
  const { role, name } = fieldsOf(message)
  const known = typeof role === "string" ? requestFields.openai.types[role] : undefined
  if (!isFields(message) || typeof role !== "string" || known === undefined) {
    findings.add("role", `${path}.role`)
    return
  }
  for (const at of unknownInside(message, known, path))
    if (!takes.has(at.split(".").at(-1) ?? "")) findings.add("field-unknown", at)
  // OpenAI takes null in some of these fields; Groq, Mistral and others take it in `content` alone.
  for (const field of Object.keys(known.fields)) {
    if (field !== "content" && message[field] === null) findings.add("field-null", `${path}.${field}`)
  }
  if (name != null && (typeof name !== "string" || !authorName.test(name))) {
    findings.add("name", `${path}.name`)
  }
  if (role === "function" && name === undefined) findings.add("field-required", `${path}.name`)
  contentProblems(message, role, path, findings)
  if (role === "assistant") callProblems(message, path, ids, findings)
  if (role === "tool" && !isCallId(message["tool_call_id"])) findings.add("call-id", `${path}.tool_call_id`)
}

/** The calls of a message: open calls and answered calls. */
interface OpenCalls {
  readonly path: string
  readonly open: Set<unknown>
  readonly answered: Set<unknown>
}

/** The results of all calls of a message come right after it, each once; nothing comes before the last of them. */
const pairingProblems = (messages: ReadonlyArray<unknown>, findings: Findings<ChatRule>) => {
  let waiting: OpenCalls | undefined
  const close = () => {
    if (waiting === undefined || waiting.open.size === 0) return
    findings.add(
      "tool-result-missing",
      waiting.path,
      `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...waiting.open].join(", ")}`,
    )
  }
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`
    const { role, tool_call_id: id, tool_calls: calls } = fieldsOf(message)
    if (role === "tool") {
      if (waiting?.answered.has(id) === true && !waiting.open.has(id)) {
        findings.add("tool-result-twice", path, `Duplicate value for 'tool_call_id' of '${String(id)}'`)
      } else if (waiting?.open.delete(id) !== true) findings.add("tool-result-orphan", `${path}.role`)
      waiting?.answered.add(id)
    } else {
      close()
      const ids = listOf(calls).map((call) => fieldsOf(call)["id"])
      waiting =
        role === "assistant" && ids.length > 0
          ? { path: `${path}.tool_calls`, open: new Set(ids), answered: new Set() }
          : undefined
    }
  }
  close()
}

/**
 * What else a request to Chat Completions is judged by.
 *
 * - `server`: which server gets it: `openai` (the default), one that refuses more, or `any`, which wants what nearly all of them do
 */
export interface ChatOptions {
  readonly server?: ChatServer
}

/**
 * What OpenAI's Chat Completions API refuses in a request, by its published rules: fields and their types, roles, content
 * parts of each role, names, calls and their results, and the size of ids.
 *
 * @param request the body of the request, as it travels
 * @param options the server, if it is not OpenAI's
 * @returns every violation; empty if the request is accepted
 *
 * @example
 * ```ts
 * import { chatViolations } from "@memfold/strict-providers"
 *
 * const found = chatViolations({
 *   model: "gpt-6.2-sol",
 *   messages: [{ role: "tool", tool_call_id: "call_1", content: "42" }],
 * })
 * console.log(found.map(({ rule, path }) => `${rule} at ${path}`)) // ["tool-result-orphan at messages[0].role"]
 * ```
 */
export const chatViolations = (
  request: unknown,
  { server = "openai" }: ChatOptions = {},
): ReadonlyArray<Violation> => {
  const takes = fieldsOfServer(server)
  const findings = new Findings(chatRules)
  const body = fieldsOf(request)
  for (const path of halfPairs(body)) findings.add("unicode", path)
  for (const name of ["model", "messages"]) {
    if (body[name] === undefined) findings.add("field-required", name)
  }
  for (const name of unknownFields(body, bodyFields)) findings.add("field-unknown", name)
  const messages = listOf(body["messages"])
  if (body["messages"] !== undefined && messages.length === 0) findings.add("messages-empty", "messages")
  const ids = new Set<unknown>()
  for (const [index, message] of messages.entries()) {
    messageProblems(message, `messages[${index}]`, ids, takes, findings)
  }
  pairingProblems(messages, findings)
  serverProblems(server, messages, findings)
  return findings.found
}
