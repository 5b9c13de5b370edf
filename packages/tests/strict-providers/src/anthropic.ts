/** A validator of requests to Anthropic's Messages API. */
import { blockProblems } from "./anthropicBlocks.js"
import { anthropicRules, type AnthropicRule } from "./anthropicRules.js"
import {
  blocksOf,
  isServedCall,
  isThinking,
  callerProblems,
  pairingProblems,
  reasoningProblems,
  servedPairingProblems,
  type Turned,
} from "./anthropicTurns.js"
import { type Fields, fieldsOf, halfPairs, isFields, listOf, unknownFields } from "./json.js"
import { Findings, type Violation } from "./violation.js"

/**
 * What else a request to the Messages API is judged by.
 *
 * - `betas`: the values of its `anthropic-beta` header; none by default
 * - `prefill`: whether the model continues an assistant message at the end (`"accepted"`); newer models do not, so the
 *   default is `"refused"`
 * - `systemMessages`: whether the model takes system messages among the messages; newer models do, so the default is
 *   `"accepted"`
 */
export interface AnthropicOptions {
  readonly betas?: ReadonlyArray<string>
  readonly prefill?: "accepted" | "refused"
  readonly systemMessages?: "accepted" | "refused"
}

/** The beta that a field of the request needs. */
const gated: Readonly<Record<string, RegExp>> = {
  compaction: /^compact-/,
  context_management: /^(?:context-management|compact)-/,
  mcp_servers: /^mcp-client-/,
  fallbacks: /^server-side-fallback-/,
}

const requestFields: ReadonlySet<string> = new Set([
  "model",
  "max_tokens",
  "messages",
  "system",
  "tools",
  "tool_choice",
  "thinking",
  "stream",
  "stop_sequences",
  "temperature",
  "top_k",
  "top_p",
  "metadata",
  "cache_control",
  "container",
  "diagnostics",
  "inference_geo",
  "output_config",
  "output_format",
  "service_tier",
  "speed",
  "billing_policy",
  "fallback_credit_token",
  "thread",
  "user_profile_id",
  "workspace_id",
  ...Object.keys(gated),
])
const messageFields: ReadonlySet<string> = new Set(["role", "content"])
const systemMessageFields: ReadonlySet<string> = new Set(["role", "content", "clear_at", "output_config"])

/** The `cache_control` marks of a request, in the order in which the API reads them; the request's own mark is the last. */
const cacheMarks = (request: Fields): ReadonlyArray<unknown> => {
  const marks = (value: unknown): ReadonlyArray<unknown> =>
    Array.isArray(value)
      ? value.flatMap(marks)
      : isFields(value)
        ? [...marks(value["content"]), ...marks(value["source"]), value["cache_control"] ?? []].flat()
        : []
  return [
    ...marks(request["tools"]),
    ...marks(request["system"]),
    ...marks(request["messages"]),
    request["cache_control"] ?? [],
  ].flat()
}

const requestProblems = (
  request: Fields,
  betas: ReadonlyArray<string>,
  findings: Findings<AnthropicRule>,
): void => {
  for (const name of ["model", "max_tokens", "messages"]) {
    if (request[name] === undefined) findings.add("field-required", name)
  }
  for (const name of unknownFields(request, requestFields)) findings.add("field-unknown", name)
  for (const [name, beta] of Object.entries(gated)) {
    if (request[name] != null && !betas.some((one) => beta.test(one))) {
      findings.add("beta-header", name)
    }
  }
  if (
    fieldsOf(request["thinking"])["block_binding"] != null &&
    !betas.some((one) => one.startsWith("thinking-binding-controls-"))
  ) {
    findings.add("beta-header", "thinking.block_binding")
  }
  const system = request["system"]
  if (system !== undefined && typeof system !== "string" && !Array.isArray(system)) {
    findings.add("field-type", "system", "Input should be a valid string or list")
  }
  for (const [index, block] of listOf(system).entries()) {
    blockProblems(block, `system.${index}`, "system", findings)
  }
  const marks = cacheMarks(request)
  if (marks.length > 4) {
    findings.add(
      "cache-control-count",
      "",
      `A maximum of 4 blocks with cache_control may be provided. Found ${marks.length}.`,
    )
  }
  const isHour = marks.map((mark) => fieldsOf(mark)["ttl"] === "1h")
  if (isHour.lastIndexOf(true) > isHour.indexOf(false) && isHour.includes(false))
    findings.add("cache-control-order", "")
}

const messageProblems = (
  message: unknown,
  index: number,
  isLast: boolean,
  findings: Findings<AnthropicRule>,
) => {
  const path = `messages.${index}`
  const { role, content } = fieldsOf(message)
  if (role !== "user" && role !== "assistant" && role !== "system") {
    findings.add("role", `${path}.role`)
    return
  }
  const known = role === "system" ? systemMessageFields : messageFields
  for (const name of unknownFields(fieldsOf(message), known)) findings.add("field-unknown", `${path}.${name}`)
  if (content === undefined) findings.add("field-required", `${path}.content`)
  else if (typeof content !== "string" && !Array.isArray(content)) {
    findings.add("field-type", `${path}.content`, "Input should be a valid string or list")
  } else if (content.length === 0) {
    const effortAlone = role === "system" && fieldsOf(message)["output_config"] !== undefined
    if (!effortAlone && !(role === "assistant" && isLast)) findings.add("content-empty", path)
  } else if (typeof content === "string") {
    if (content.trim() === "") findings.add("text-blank", `${path}.content`)
  } else {
    for (const [position, block] of content.entries()) {
      blockProblems(block, `${path}.content.${position}`, role, findings)
      if (isThinking(fieldsOf(block)) && fieldsOf(block)["cache_control"] != null) {
        findings.add("cache-control-place", `${path}.content.${position}`)
      }
    }
  }
}

/** Where system messages stand among the messages. */
const systemProblems = (
  turns: ReadonlyArray<Turned>,
  options: AnthropicOptions,
  findings: Findings<AnthropicRule>,
) => {
  for (const [position, { role, index, blocks }] of turns.entries()) {
    // A message without content changes the effort alone, and can stand anywhere.
    if (role !== "system" || blocks.length === 0) continue
    const path = `messages.${index}`
    if (options.systemMessages === "refused") findings.add("system-role", `${path}.role`)
    const before = turns[position - 1]
    const after = turns[position + 1]
    const follows =
      before?.role === "user" || (before?.role === "assistant" && isServedCall(before.blocks.at(-1)))
    if (before === undefined) findings.add("system-first", path)
    else if (!follows) findings.add("system-after", path)
    if (after !== undefined && after.role !== "assistant") findings.add("system-before", path)
  }
}

/** The images of blocks, those in results among them, by their size in characters of base64. */
const imagesIn = (blocks: ReadonlyArray<Fields>): ReadonlyArray<number> =>
  blocks.flatMap(({ type, content, source }) => {
    if (type === "tool_result") return imagesIn(blocksOf(content))
    const { data } = fieldsOf(source)
    return type === "image" ? [typeof data === "string" ? data.length : 0] : []
  })

/** More images than a request can have, or larger ones. */
const imageProblems = (turns: ReadonlyArray<Turned>, findings: Findings<AnthropicRule>): void => {
  const images = imagesIn(turns.flatMap(({ blocks }) => blocks))
  if (images.length > 100) findings.add("image-count", "messages")
  if (images.some((size) => size > 5 * 2 ** 20)) findings.add("image-size", "messages")
  if (images.reduce((sum, size) => sum + size, 0) > 32_000_000) findings.add("request-size", "")
}

/** How a request begins and ends. */
const endProblems = (
  turns: ReadonlyArray<Turned>,
  options: AnthropicOptions,
  findings: Findings<AnthropicRule>,
) => {
  const first = turns[0]
  const last = turns.at(-1)
  if (first === undefined || last === undefined) {
    findings.add("messages-empty", "messages")
    return
  }
  // What the API summarized itself stands in an assistant message before the kept ones.
  const summarized = first.role === "assistant" && first.blocks[0]?.["type"] === "compaction"
  if (first.role === "assistant" && !summarized) findings.add("first-user", "messages")
  if (last.role !== "assistant" || isServedCall(last.blocks.at(-1))) return
  if (options.prefill !== "accepted") {
    findings.add("last-user", "messages")
    return
  }
  const text = last.blocks.at(-1)?.["text"]
  if (typeof text === "string" && text !== text.trimEnd()) findings.add("final-whitespace", "messages")
}

/**
 * What Anthropic's Messages API refuses in a request, by its published rules: fields and their types, roles, the first and
 * the last message, the place of system messages, empty content, calls and their results, ids, reasoning, and the number
 * of `cache_control` marks. Whether signatures fit what stands before them is checked by {@link signer}.
 *
 * @param request the body of the request, as it travels
 * @param options its beta headers, and what the model can do
 * @returns every violation; empty if the request is accepted
 *
 * @example
 * ```ts
 * import { anthropicViolations } from "@memfold/strict-providers"
 *
 * const found = anthropicViolations({
 *   model: "claude-sonnet-5-5",
 *   max_tokens: 1024,
 *   messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "42" }] }],
 * })
 * console.log(found.map(({ rule, path }) => `${rule} at ${path}`)) // ["tool-result-orphan at messages.0.content.0"]
 * ```
 */
export const anthropicViolations = (
  request: unknown,
  options: AnthropicOptions = {},
): ReadonlyArray<Violation> => {
  const findings = new Findings(anthropicRules)
  const body = fieldsOf(request)
  for (const path of halfPairs(body)) findings.add("unicode", path)
  requestProblems(body, options.betas ?? [], findings)
  const messages = listOf(body["messages"])
  for (const [index, message] of messages.entries()) {
    messageProblems(message, index, index === messages.length - 1, findings)
  }
  const turns = messages.map((message, index): Turned => {
    const { role, content } = fieldsOf(message)
    return { index, role, blocks: blocksOf(content) }
  })
  if (body["messages"] !== undefined) endProblems(turns, options, findings)
  imageProblems(turns, findings)
  systemProblems(turns, options, findings)
  pairingProblems(turns, findings)
  callerProblems(turns, findings)
  servedPairingProblems(turns, findings)
  reasoningProblems(turns, body["thinking"], findings)
  return findings.found
}
