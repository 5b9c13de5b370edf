/** A validator of requests to OpenAI's Responses API. */
import { items as knownItems } from "@memfold/message/Item"
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
import { responsesRules, type ResponsesRule } from "./responsesRules.js"
import { Findings, type Violation } from "./violation.js"

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

/** The fields of `responses.create` and of `responses.compact`. */
const methodFields = {
  create: words(
    `access_programs background context_management conversation image include input instructions max_output_tokens
    max_tool_calls metadata model moderation parallel_tool_calls previous_response_id prompt prompt_cache_key
    prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options
    temperature text tool_choice tools top_logprobs top_p truncation user`,
  ),
  compact: words(
    `model image input instructions previous_response_id prompt_cache_key prompt_cache_options prompt_cache_retention
    service_tier`,
  ),
}

/** What an item of a type needs, and the prefix of its id, for the types that a conversation of ours has. */
const items: Readonly<Record<string, { readonly needs: ReadonlyArray<string>; readonly id: RegExp }>> = {
  message: { needs: ["role", "content"], id: /^msg_/ },
  function_call: { needs: ["call_id", "name", "arguments"], id: /^fc_/ },
  function_call_output: { needs: ["call_id", "output"], id: /^fco?_/ },
  custom_tool_call: { needs: ["call_id", "name", "input"], id: /^ctc_/ },
  custom_tool_call_output: { needs: ["call_id", "output"], id: /^ctco?_/ },
  reasoning: { needs: ["summary"], id: /^rs_/ },
  compaction: { needs: ["encrypted_content"], id: /^cmp_/ },
  item_reference: { needs: ["id"], id: /^/ },
}

/** The items that the API runs itself, or asks the user about: it knows them by their ids. */
const identified = words(
  `mcp_approval_request mcp_list_tools mcp_call web_search_call file_search_call code_interpreter_call
  image_generation_call program`,
)

/** The items of the API. The content of an item is checked only if our conversations have such items. */
const table = knownItems["openai-responses"]

/** The field that a part needs, which is a text. */
const needed: Readonly<Record<string, string>> = {
  input_text: "text",
  output_text: "text",
  summary_text: "text",
  reasoning_text: "text",
  refusal: "refusal",
}
const inputParts = words("input_text input_image input_file input_audio")
const outputParts = words("output_text refusal")
const reasoningParts = [
  ["summary", words("summary_text")],
  ["content", words("reasoning_text")],
] as const

const functionName = /^[a-zA-Z0-9_-]{1,128}$/
const itemId = /^[a-zA-Z0-9_-]{1,64}$/

const partProblems = (
  content: unknown,
  allowed: ReadonlySet<string>,
  path: string,
  findings: Findings<ResponsesRule>,
) => {
  if (typeof content === "string") return
  if (!Array.isArray(content)) {
    findings.add("field-type", path, "Invalid type: expected a string or an array")
    return
  }
  for (const [index, part] of content.entries()) {
    const at = `${path}[${index}]`
    const type = fieldsOf(part)["type"]
    if (!isFields(part) || typeof type !== "string" || !allowed.has(type)) {
      findings.add(
        "part-type",
        `${at}.type`,
        `Invalid value: '${String(type)}'. Supported values are: ${[...allowed].map((one) => `'${one}'`).join(", ")}.`,
      )
      continue
    }
    const text = needed[type]
    if (text !== undefined && typeof part[text] !== "string") findings.add("field-type", `${at}.${text}`)
  }
}

const messageProblems = (item: Fields, path: string, findings: Findings<ResponsesRule>) => {
  const { role, content } = item
  if (role !== "user" && role !== "assistant" && role !== "system" && role !== "developer") {
    findings.add("role", `${path}.role`)
  } else if (content !== undefined) {
    partProblems(content, role === "assistant" ? outputParts : inputParts, `${path}.content`, findings)
  }
}

const itemProblems = (item: unknown, path: string, findings: Findings<ResponsesRule>): void => {
  const type = fieldsOf(item)["type"] ?? (fieldsOf(item)["role"] === undefined ? undefined : "message")
  const known = typeof type === "string" ? items[type] : undefined
  if (isFields(item)) {
    const typed = { ...item, type }
    for (const at of unknownInside(typed, requestFields["openai-responses"], path))
      findings.add("field-unknown", at)
  }
  if (!isFields(item) || typeof type !== "string" || known === undefined) {
    const other = typeof type === "string" && Object.hasOwn(table, type) ? table[type] : undefined
    if (other === undefined || other.within === true) findings.add("item-type", `${path}.type`)
    else if (identified.has(String(type)) && fieldsOf(item)["id"] == null)
      findings.add("field-required", `${path}.id`)
    return
  }
  for (const name of known.needs) if (item[name] == null) findings.add("field-required", `${path}.${name}`)
  const { id, call_id: callId, name } = item
  if (id != null && (typeof id !== "string" || !itemId.test(id) || !known.id.test(id))) {
    findings.add("item-id", `${path}.id`)
  }
  if (callId != null && (typeof callId !== "string" || callId.length < 1 || callId.length > 64)) {
    findings.add("call-id", `${path}.call_id`)
  }
  if (type === "message") messageProblems(item, path, findings)
  if (type === "function_call" || type === "custom_tool_call") {
    const text = type === "function_call" ? "arguments" : "input"
    if (name != null && (typeof name !== "string" || !functionName.test(name))) {
      findings.add("function-name", `${path}.name`)
    }
    if (item[text] != null && typeof item[text] !== "string") findings.add("field-type", `${path}.${text}`)
    else if (type === "function_call" && item[text] != null && !isObjectText(item[text])) {
      findings.add("function-arguments", `${path}.arguments`)
    }
  }
  if ((type === "function_call_output" || type === "custom_tool_call_output") && item["output"] != null) {
    partProblems(item["output"], inputParts, `${path}.output`, findings)
  }
  if (type === "reasoning") {
    for (const [field, texts] of reasoningParts) {
      if (item[field] == null) continue
      if (!Array.isArray(item[field])) findings.add("field-type", `${path}.${field}`)
      else partProblems(item[field], texts, `${path}.${field}`, findings)
    }
  }
}

/** A call, or anything else that wants an answer, and the ids that an answer can name it by. */
interface Waiting {
  readonly index: number
  readonly type: string
  readonly ids: ReadonlyArray<unknown>
  /** Whether the API itself answers it, so that a request can end before the answer. */
  readonly ownAnswer: boolean
  answered: boolean
}

const idsOf = (item: Fields, names: ReadonlyArray<string>): ReadonlyArray<unknown> =>
  names.map((name) => item[name]).filter((id) => id != null)

/** The words of the API for a type: `custom tool call output`. */
const inWords = (type: unknown): string => String(type).replaceAll("_", " ")

/** Who calls is there: the program that a call names, and its output names the same one. */
const callerProblems = (input: ReadonlyArray<Fields>, findings: Findings<ResponsesRule>) => {
  const programs = new Set<unknown>()
  const callers = new Map<unknown, unknown>()
  for (const [index, item] of input.entries()) {
    const { type, call_id: id } = item
    const caller = fieldsOf(item["caller"])
    const program = caller["type"] === "program" ? caller["caller_id"] : undefined
    if (type === "program") programs.add(id)
    else if (type === "program_output") continue
    else if (String(type).endsWith("_call")) {
      if (program !== undefined && !programs.has(program)) findings.add("caller", `input[${index}].caller`)
      callers.set(id, program)
    } else if (String(type).endsWith("_output") && callers.get(id) !== program)
      findings.add("caller", `input[${index}].caller`)
  }
}

/** Calls and their answers pair one to one by their ids, the call first; ids of items are unique. */
const pairingProblems = (input: ReadonlyArray<Fields>, findings: Findings<ResponsesRule>) => {
  const calls: Array<Waiting> = []
  const ids = new Set<unknown>()
  for (const [index, item] of input.entries()) {
    const { type, id } = item
    const path = `input[${index}]`
    const known = typeof type === "string" && Object.hasOwn(table, type) ? table[type] : undefined
    const { call, answer } = known ?? {}
    // An output of the local shell has the id of its call.
    if (id != null && answer?.ids.includes("id") !== true) {
      if (ids.has(id)) findings.add("item-id-unique", path, `Duplicate item found with id ${String(id)}.`)
      ids.add(id)
    }
    if (call !== undefined) {
      const own = idsOf(item, call.ids)
      if (own.length === 0) continue
      if (calls.some((one) => one.ids[0] === own[0]))
        findings.add("call-id-unique", path, `Duplicate ${inWords(type)} ${String(own[0])}.`)
      calls.push({ index, type: String(type), ids: own, ownAnswer: call.by === "provider", answered: false })
    } else if (answer !== undefined) {
      const named = idsOf(item, answer.ids)
      if (named.length === 0) continue
      const found = calls.findLast(
        (one) => answer.calls.includes(one.type) && one.ids.some((own) => named.includes(own)),
      )
      if (found === undefined) {
        findings.add(
          "tool-result-orphan",
          path,
          `No ${answer.calls.includes("mcp_approval_request") ? "approval request" : "tool call"} found for ${inWords(type)} with ${answer.ids[0]} ${String(named[0])}.`,
        )
      } else if (found.answered) findings.add("tool-result-twice", path)
      else found.answered = true
    }
  }
  const lastSaid = input.findLastIndex(({ type, role }) => type === "message" || role !== undefined)
  for (const { index, type, ids: own, ownAnswer, answered } of calls) {
    if (!answered && !(ownAnswer && index > lastSaid)) {
      findings.add(
        "tool-result-missing",
        `input[${index}]`,
        `No tool output found for ${inWords(type)} ${String(own[0])}.`,
      )
    }
  }
}

/** An item that a model wrote, which reasoning can lead to. */
const isOutput = (item: Fields | undefined): boolean =>
  item !== undefined &&
  (item["role"] === "assistant" ||
    item["type"] === "reasoning" ||
    table[String(item["type"])]?.call !== undefined ||
    String(item["type"] ?? "").endsWith("_call"))

const reasoningProblems = (
  input: ReadonlyArray<Fields>,
  stored: boolean,
  findings: Findings<ResponsesRule>,
) => {
  for (const [index, item] of input.entries()) {
    if (item["type"] !== "reasoning") continue
    const path = `input[${index}]`
    if (!isOutput(input[index + 1])) {
      findings.add(
        "reasoning-following",
        path,
        `Item '${String(item["id"])}' of type 'reasoning' was provided without its required following item.`,
      )
    }
    if (!stored && typeof item["encrypted_content"] !== "string") findings.add("reasoning-content", path)
  }
}

/**
 * What OpenAI's Responses API refuses in a request, by its published rules: fields and items and their types, roles, parts
 * of content, calls and their outputs, ids of calls and of items, and reasoning items.
 *
 * @param request the body of the request, as it travels
 * @param method the method of the client: `create` (the default) or `compact`
 * @returns every violation; empty if the request is accepted
 *
 * @example
 * ```ts
 * import { responsesViolations } from "@memfold/strict-providers"
 *
 * const found = responsesViolations({
 *   model: "gpt-6.2-sol",
 *   input: [{ type: "function_call_output", call_id: "call_1", output: "42" }],
 * })
 * console.log(found.map(({ rule, path }) => `${rule} at ${path}`)) // ["tool-result-orphan at input[0]"]
 * ```
 */
export const responsesViolations = (
  request: unknown,
  method: "create" | "compact" = "create",
): ReadonlyArray<Violation> => {
  const findings = new Findings(responsesRules)
  const body = fieldsOf(request)
  for (const path of halfPairs(body)) findings.add("unicode", path)
  if (body["model"] === undefined) findings.add("field-required", "model")
  for (const name of unknownFields(body, methodFields[method])) findings.add("field-unknown", name)
  const { input } = body
  const continued = ["previous_response_id", "prompt", "conversation"].some((name) => body[name] != null)
  if (input != null && typeof input !== "string" && !Array.isArray(input)) findings.add("field-type", "input")
  else if ((input == null || input.length === 0) && !continued) findings.add("input-empty", "input")
  const list = listOf(input)
  for (const [index, item] of list.entries()) itemProblems(item, `input[${index}]`, findings)
  const checked = list.map(fieldsOf)
  // What a continued response holds is not in the request, so its calls cannot be told.
  if (!continued) {
    pairingProblems(checked, findings)
    callerProblems(checked, findings)
  }
  reasoningProblems(checked, body["store"] !== false, findings)
  for (const [index, { type }] of checked.slice(0, -1).entries())
    if (type === "compaction_trigger") findings.add("compaction-trigger", `input[${index}]`)
  return findings.found
}
