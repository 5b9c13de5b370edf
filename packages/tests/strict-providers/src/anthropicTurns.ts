/** The rules of Anthropic's Messages API about messages among each other: calls, results and reasoning. */
import type { AnthropicRule } from "./anthropicRules.js"
import { items } from "@memfold/message/Item"
import { type Fields, fieldsOf, isFields } from "./json.js"
import type { Findings } from "./violation.js"

/** A message with its content as blocks, and its position in the request. */
export interface Turned {
  readonly index: number
  readonly role: unknown
  readonly blocks: ReadonlyArray<Fields>
}

/** The content of a message as blocks: a string is one block of text. */
export const blocksOf = (content: unknown): ReadonlyArray<Fields> =>
  typeof content === "string"
    ? [{ type: "text", text: content }]
    : Array.isArray(content)
      ? content.map(fieldsOf)
      : []

/** A block at its place. */
interface Placed {
  readonly path: string
  readonly block: Fields
}

const placed = ({ index, blocks }: Turned): ReadonlyArray<Placed> =>
  blocks.map((block, position) => ({ path: `messages.${index}.content.${position}`, block }))

/** Messages that the API combines into one: neighbours of the same role. */
interface Combined {
  readonly index: number
  readonly role: unknown
  readonly blocks: Array<Placed>
}

const combined = (turns: ReadonlyArray<Turned>): ReadonlyArray<Combined> => {
  const found: Array<Combined> = []
  for (const turn of turns) {
    const last = found.at(-1)
    if (last !== undefined && last.role === turn.role) last.blocks.push(...placed(turn))
    else found.push({ index: turn.index, role: turn.role, blocks: [...placed(turn)] })
  }
  return found
}

const isResult = ({ block }: Placed) => block["type"] === "tool_result"
export const isThinking = (block: Fields): boolean =>
  block["type"] === "thinking" || block["type"] === "redacted_thinking"

/**
 * Every call is answered by exactly one of the results that lead the next message, and these results answer nothing
 * else. The run of results may go on over several user messages; any other block ends it.
 */
export const pairingProblems = (turns: ReadonlyArray<Turned>, findings: Findings<AnthropicRule>): void => {
  const seen = new Set<unknown>()
  const messages = combined(turns)
  for (const [position, message] of messages.entries()) {
    const calls = message.blocks.filter(({ block }) => block["type"] === "tool_use")
    for (const { path, block } of calls) {
      if (seen.has(block["id"])) findings.add("tool-use-id-unique", path)
      seen.add(block["id"])
    }
    const next = message.role === "assistant" ? messages[position + 1] : undefined
    const following = next?.role === "user" ? next.blocks : []
    const end = following.findIndex((one) => !isResult(one))
    const leading = end === -1 ? following : following.slice(0, end)
    const missing = calls.filter(
      (call) => !leading.some(({ block }) => block["tool_use_id"] === call.block["id"]),
    )
    if (message.role === "assistant" && missing.length > 0) {
      const ids = missing.map(({ block }) => String(block["id"])).join(", ")
      findings.add(
        "tool-result-missing",
        `messages.${message.index}`,
        `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      )
    }
    if (message.role !== "user") continue
    const before = messages[position - 1]
    const ids = new Set(
      before?.role === "assistant"
        ? before.blocks.filter(({ block }) => block["type"] === "tool_use").map(({ block }) => block["id"])
        : [],
    )
    const answered = new Set<unknown>()
    let led = true
    for (const one of message.blocks) {
      if (!isResult(one)) {
        led = false
        continue
      }
      const id = one.block["tool_use_id"]
      // A result after another block is not seen by the API: its call counts as unanswered, which is noted there.
      if (!ids.has(id)) {
        findings.add(
          "tool-result-orphan",
          one.path,
          `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${String(id)}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
        )
      } else if (led && answered.has(id)) {
        findings.add(
          "tool-result-twice",
          one.path,
          `each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${String(id)}`,
        )
      }
      answered.add(id)
    }
  }
}

const itemOf = (block: Fields) => {
  const type = String(block["type"])
  return Object.hasOwn(items.anthropic, type) ? items.anthropic[type] : undefined
}

/** Whether a block calls a tool that Anthropic runs. */
export const isServedCall = (block: Fields | undefined): boolean =>
  block !== undefined && itemOf(block)?.call?.by === "provider"

/** The type of the block that answers a call of a tool that Anthropic runs. */
const answerType = ({ type, name }: Fields): string =>
  type === "mcp_tool_use"
    ? "mcp_tool_result"
    : `${String(name).replace(/^tool_search_tool_.*/, "tool_search_tool")}_tool_result`

/** Who calls is there: the code that a call, or the result of a tool of the API, names. */
export const callerProblems = (turns: ReadonlyArray<Turned>, findings: Findings<AnthropicRule>): void => {
  const ids = new Set<unknown>()
  for (const { path, block } of turns.flatMap(placed)) {
    const id = fieldsOf(block["caller"])["tool_id"]
    if (id !== undefined && !ids.has(id)) findings.add("caller", `${path}.caller`)
    if (block["type"] === "server_tool_use") ids.add(block["id"])
  }
}

/**
 * A tool that Anthropic runs is answered in the same message of the assistant, or in a later one if nothing but results of the
 * client's tools stands between. A request may end before the answer: with the call (`pause_turn`), or with such results.
 */
export const servedPairingProblems = (
  turns: ReadonlyArray<Turned>,
  findings: Findings<AnthropicRule>,
): void => {
  let open: Array<Placed & { readonly message: number }> = []
  const seen = new Set<unknown>()
  const close = () => {
    for (const { block, message } of open) {
      findings.add(
        "server-tool-result-missing",
        `messages.${message}`,
        `\`${String(block["name"])}\` tool use with id \`${String(block["id"])}\` was found without a corresponding \`${answerType(block)}\` block`,
      )
    }
    open = []
  }
  for (const { role, index, blocks } of combined(turns)) {
    if (role === "user" && !blocks.every(isResult)) close()
    for (const one of blocks) {
      const { answer } = itemOf(one.block) ?? {}
      if (isServedCall(one.block) && role === "assistant") {
        if (seen.has(one.block["id"])) findings.add("tool-use-id-unique", one.path)
        seen.add(one.block["id"])
        open.push({ ...one, message: index })
      }
      if (answer === undefined || isResult(one)) continue
      const id = one.block["tool_use_id"]
      const at = open.findIndex(
        ({ block }) => block["id"] === id && answer.calls.includes(String(block["type"])),
      )
      if (at === -1 || role !== "assistant") {
        findings.add(
          "server-tool-result-orphan",
          one.path,
          `unexpected \`tool_use_id\` found in \`${String(one.block["type"])}\` blocks: ${String(id)}. Each \`${String(one.block["type"])}\` block must have a corresponding \`${answer.calls.join("` or `")}\` block before it.`,
        )
      } else open.splice(at, 1)
    }
  }
}

/** Whether the request ends in a tool loop: with the results of the last assistant message, and nothing said since. */
const loopOf = (messages: ReadonlyArray<Combined>): ReadonlyArray<Combined> => {
  const last = messages.at(-1)
  if (last?.role !== "user" || !last.blocks.some(isResult) || !last.blocks.every(isResult)) return []
  const start = messages.findLastIndex(
    ({ role, blocks }) => role === "user" && blocks.some((one) => !isResult(one)),
  )
  return messages.slice(start + 1)
}

/** Where reasoning can stand: never last in a request, and first in a tool loop when thinking is on by hand. */
export const reasoningProblems = (
  turns: ReadonlyArray<Turned>,
  thinking: unknown,
  findings: Findings<AnthropicRule>,
): void => {
  const last = turns.at(-1)
  const final = last?.blocks.at(-1)
  if (last?.role === "assistant" && final !== undefined && isThinking(final)) {
    findings.add("thinking-last", `messages.${last.index}`)
  }
  if (!isFields(thinking) || thinking["type"] !== "enabled") return
  const opening = loopOf(combined(turns)).find(({ role }) => role === "assistant")
  const first = opening?.blocks[0]
  if (first !== undefined && !isThinking(first.block)) {
    findings.add(
      "thinking-first",
      `${first.path}.type`,
      `Expected \`thinking\` or \`redacted_thinking\`, but found \`${String(first.block["type"])}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`,
    )
  }
}
