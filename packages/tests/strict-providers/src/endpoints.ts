/** What each endpoint of the local server does with a request: refuses it, or answers. */
import { type AnthropicOptions, anthropicViolations } from "./anthropic.js"
import type { Answer, Api, ModelRequest } from "./answers.js"
import type { Mismatch, Signer } from "./binding.js"
import { type ChatOptions, chatViolations } from "./chat.js"
import { fieldsOfServer } from "./chatServers.js"
import { completionOf, completionStream } from "./chatWire.js"
import { type Fields, fieldsOf, listOf } from "./json.js"
import { contentOf, messageOf, messageStream, type StreamEvent, tokensOf } from "./messagesWire.js"
import { responsesViolations } from "./responses.js"
import { outputOf, responseOf, responseStream, usageOf } from "./responsesWire.js"
import type { Violation } from "./violation.js"

/** A request that is refused, with the first reason and all of them. */
export interface Refusal {
  readonly status: number
  readonly body: Fields
  readonly violations: ReadonlyArray<Violation>
}

/** What goes back for an answer of the model. */
export interface Reply {
  readonly body: Fields
  readonly stream: ReadonlyArray<StreamEvent>
}

/** A request that was accepted: what the model is asked, or `null` if the endpoint answers by itself; and the reply. */
export interface Accepted {
  readonly asked: Omit<ModelRequest, "turn"> | null
  readonly reply: (answer: Answer, count: number) => Reply
}

/** What the server knows beside the request. */
export interface Setting {
  readonly betas: ReadonlyArray<string>
  readonly anthropic: AnthropicOptions
  readonly chat: ChatOptions
  /** The signers of each API, or `null` if nothing is bound. */
  readonly signers: { readonly messages: Signer; readonly responses: Signer } | null
  readonly summarize: (body: Fields) => string
  /** Names of fields that no page documents, and that are accepted. */
  readonly unpublished: ReadonlySet<string>
}

/** The error shape of each provider. */
export const errorOf = (
  api: Api,
  message: string,
  param: string | null = null,
  type = "invalid_request_error",
): Fields =>
  api === "anthropic"
    ? { type: "error", error: { type, message }, request_id: "req_local" }
    : { error: { message, type, param, code: null } }

const refused = (
  api: Api,
  found: ReadonlyArray<Violation>,
  { unpublished }: Setting,
): Refusal | undefined => {
  const violations = found.filter(
    ({ rule, path }) => rule !== "field-unknown" || !unpublished.has(path.split(".").at(-1) ?? ""),
  )
  const [first] = violations
  if (first === undefined) return undefined
  const { path, message } = first
  const said =
    path === "" ? message : api === "anthropic" ? `${path}: ${message}` : `Invalid '${path}': ${message}`
  return { status: 400, body: errorOf(api, said, path === "" ? null : path), violations }
}

const toolNames = (tools: unknown): ReadonlyArray<string> =>
  listOf(tools)
    .map((tool) => fieldsOf(tool)["name"] ?? fieldsOf(fieldsOf(tool)["function"])["name"])
    .filter((name) => typeof name === "string")

const bindingDocs =
  "https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/fix-bound-to-a-different-conversation"

/** The refusal of reasoning behind another prefix, in Anthropic's words. */
const mismatched = ({ path, problem }: Mismatch, betas: ReadonlyArray<string>): Violation => {
  const header = betas.some((beta) => beta.startsWith("thinking-binding-controls-"))
    ? ""
    : " That setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header."
  return {
    rule: problem === "bound" ? "thinking-prefix" : "thinking-signature",
    path,
    message:
      problem === "bound"
        ? `Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".${header}`
        : "Invalid `signature` in `thinking` block",
    source: bindingDocs,
  }
}

/** `POST /v1/messages`. */
export const messages = (body: Fields, setting: Setting): Refusal | Accepted => {
  const { betas, signers } = setting
  const compacting = body["compaction"] != null
  const options: AnthropicOptions = {
    ...setting.anthropic,
    betas,
    // What is summarized may end with the assistant's words.
    ...(compacting ? { prefill: "accepted" } : {}),
  }
  const mismatches = signers?.messages.check(body) ?? []
  const drops =
    fieldsOf(fieldsOf(body["thinking"])["block_binding"])["prefix_mismatch_behavior"] === "drop_block"
  const refusal = refused(
    "anthropic",
    [
      ...anthropicViolations(body, options),
      ...mismatches
        .filter(({ problem }) => !drops || problem === "broken")
        .map((mismatch) => mismatched(mismatch, betas)),
    ],
    setting,
  )
  if (refusal !== undefined) return refusal

  const controlled = betas.some((beta) => beta.startsWith("thinking-binding-controls-"))
  const more = controlled
    ? {
        input_transformations: mismatches.map(({ path }) => ({
          type: "thinking_dropped",
          path,
          reason: "prefix_binding_mismatch",
        })),
      }
    : {}
  const last = fieldsOf(listOf(body["messages"]).at(-1))
  const written = (message: Fields): Reply => ({ body: message, stream: messageStream(message) })
  const envelope = (count: number) => ({ count, model: body["model"], inputTokens: tokensOf(body) })
  if (compacting) {
    return {
      asked: null,
      reply: (_, count) => {
        const block = {
          type: "compaction",
          content: setting.summarize(body),
          encrypted_content: null,
          signature: signers?.messages.compaction(body) ?? "unsigned",
          tool_changes: [],
        }
        return written(messageOf([block], envelope(count), { ...more, stop_reason: "compaction" }))
      },
    }
  }
  return {
    asked: {
      api: "anthropic",
      body,
      tools: toolNames(body["tools"]),
      afterResult: listOf(last["content"]).some((block) => fieldsOf(block)["type"] === "tool_result"),
    },
    reply: (answer, count) => {
      const off = fieldsOf(body["thinking"])["type"] === "disabled"
      const thought = off || answer.thinking === undefined ? [] : [answer.thinking]
      const [signature] = signers?.messages.sign(body, thought) ?? thought.map(() => "unbound")
      return written(messageOf(contentOf(answer, signature, count), envelope(count), more))
    },
  }
}

/** `POST /v1/chat/completions`. */
export const completions = (body: Fields, setting: Setting): Refusal | Accepted => {
  const refusal = refused("openai", chatViolations(body, setting.chat), setting)
  if (refusal !== undefined) return refusal
  const last = fieldsOf(listOf(body["messages"]).at(-1))
  return {
    asked: {
      api: "openai",
      body,
      tools: toolNames(body["tools"]),
      afterResult: last["role"] === "tool",
    },
    reply: (answer, count) => {
      const envelope = { count, model: body["model"], inputTokens: tokensOf(body) }
      const counted = fieldsOf(body["stream_options"])["include_usage"] === true
      const takes = fieldsOfServer(setting.chat.server ?? "openai")
      return {
        body: completionOf(answer, envelope, takes),
        stream: completionStream(answer, envelope, counted, takes),
      }
    },
  }
}

/** `POST /v1/responses`. */
export const responses = (body: Fields, setting: Setting): Refusal | Accepted => {
  const { signers } = setting
  const refusal = refused("openai-responses", responsesViolations(body), setting)
  if (refusal !== undefined) return refusal
  if (body["previous_response_id"] != null || body["conversation"] != null) {
    return {
      status: 400,
      body: errorOf(
        "openai-responses",
        "Previous response not found: this server keeps none.",
        "previous_response_id",
      ),
      violations: [],
    }
  }
  // OpenAI drops such reasoning without an error, and says so in the response.
  const dropped = signers?.responses.check(body) ?? []
  const items = listOf(body["input"])
  const idAt = (path: string) => fieldsOf(items[Number(/\d+/.exec(path)?.[0])])["id"]
  const more =
    dropped.length === 0
      ? {}
      : {
          input_transformations: dropped.map(({ path }) => ({
            type: "reasoning",
            id: idAt(path),
            action: "removed",
            reason: "prefix_mismatch",
          })),
        }
  const envelope = (count: number) => ({ count, model: body["model"], inputTokens: tokensOf(body) })
  const written = (response: Fields): Reply => ({ body: response, stream: responseStream(response) })
  if (fieldsOf(items.at(-1))["type"] === "compaction_trigger") {
    return {
      asked: null,
      reply: (_, count) => {
        const item = {
          type: "compaction",
          id: `cmp_${count}`,
          encrypted_content: signers?.responses.compaction(body) ?? "unsigned",
        }
        return written(responseOf([item], body, envelope(count), more))
      },
    }
  }
  return {
    asked: {
      api: "openai-responses",
      body,
      tools: toolNames(body["tools"]),
      afterResult: String(fieldsOf(items.at(-1))["type"]).endsWith("_output"),
    },
    reply: (answer, count) => {
      const thought = answer.thinking === undefined ? [] : [answer.thinking]
      const [signature] = signers?.responses.sign(body, thought) ?? thought.map(() => "unbound")
      return written(responseOf(outputOf(answer, signature, count), body, envelope(count), more))
    },
  }
}

/** `POST /v1/responses/compact`: all user messages, and one item that stands for the rest. */
export const compact = (body: Fields, setting: Setting): Refusal | Accepted => {
  const { signers } = setting
  const refusal = refused("openai-responses", responsesViolations(body, "compact"), setting)
  if (refusal !== undefined) return refusal
  return {
    asked: null,
    reply: (_, count) => {
      const said = listOf(body["input"])
        .map(fieldsOf)
        .filter(({ role }) => role === "user")
        .map((item, index) => ({
          type: "message",
          id: `msg_${count}_${index}`,
          role: "user",
          status: "completed",
          content:
            typeof item["content"] === "string"
              ? [{ type: "input_text", text: item["content"] }]
              : item["content"],
        }))
      const item = {
        type: "compaction",
        id: `cmp_${count}`,
        encrypted_content: signers?.responses.compaction(body) ?? "unsigned",
      }
      const output: ReadonlyArray<Fields> = [...said, item]
      const answer = {
        id: `resp_${count}`,
        object: "response.compaction",
        created_at: 1_700_000_000,
        output,
        usage: usageOf(tokensOf(body), tokensOf(item)),
      }
      return { body: answer, stream: [] }
    },
  }
}
