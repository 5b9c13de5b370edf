/** Calls of a language model, one level below the messages of the AI SDK: their prompts, and what comes back. */
import { type Fields, isFields, parseExactly, present } from "@memfold/codec"
import type { ModelMessage } from "ai"
import type { AiSdkContext, Major } from "./encode.js"
import { usageOf } from "./steps.js"

/** A message of a prompt, as far as all versions have it: like a `ModelMessage`, with its content as a list. */
export interface PromptMessage {
  readonly role: "system" | "user" | "assistant" | "tool"
  readonly content: string | ReadonlyArray<Fields>
  readonly [field: string]: unknown
}

/** What is handed to a model. */
export interface CallParams {
  readonly prompt: ReadonlyArray<PromptMessage>
  readonly [field: string]: unknown
}

/** What a model gives, whole. */
export interface Generated {
  readonly content: ReadonlyArray<Fields>
  readonly usage?: unknown
  readonly finishReason?: unknown
}

const toURL = (text: string): URL | string =>
  /^https?:/i.test(text) && URL.canParse(text) ? new URL(text) : text

/** The data of a file without the tag of version 7, and its type if an inline address says it. */
const untagged = (data: unknown): { readonly value: unknown; readonly mediaType?: string } => {
  const inside = isFields(data) && !(data instanceof URL) && !(data instanceof Uint8Array) ? data : {}
  const { type } = inside as { readonly type?: unknown }
  const value = type === "data" || type === "url" ? inside[type] : data
  if (typeof value !== "string") return { value }
  const [, mediaType, base64] = /^data:([^;,]+);base64,(.*)$/s.exec(value) ?? []
  return base64 === undefined ? { value: toURL(value) } : { value: base64, mediaType: mediaType! }
}

/** A file as a model takes it: version 7 tags its data, and knows texts and references of providers. */
const filePart = ({ image, ...part }: Fields, major: Major): Fields => {
  const data = image ?? part["data"]
  const { value, mediaType: inline } = untagged(data)
  const mediaType = inline ?? part["mediaType"] ?? "image/*"
  const isPlain = typeof value === "string" || value instanceof URL || value instanceof Uint8Array
  const tagged = value instanceof URL ? { type: "url", url: value } : { type: "data", data: value }
  return {
    ...part,
    type: part["type"] === "image" ? "file" : part["type"],
    mediaType,
    data: major < 7 || !isPlain ? value : tagged,
  }
}

/** Approvals are between the application and the AI SDK; a model gets the results. */
const isForModel = ({ type }: Fields): boolean =>
  type !== "tool-approval-request" && type !== "tool-approval-response"

const promptParts = (content: unknown, major: Major): ReadonlyArray<Fields> =>
  typeof content === "string"
    ? [{ type: "text", text: content }]
    : (content as ReadonlyArray<Fields>)
        .filter(isForModel)
        .map((part) =>
          part["type"] === "file" || part["type"] === "image" || part["type"] === "reasoning-file"
            ? filePart(part, major)
            : part,
        )

/** A context as the prompt of a model, behind the system messages that the call has itself. */
export const promptOf = (
  { system, messages }: AiSdkContext,
  own: ReadonlyArray<PromptMessage>,
  major: Major,
): ReadonlyArray<PromptMessage> => [
  ...own,
  ...(system === undefined ? [] : [{ role: "system" as const, content: system }]),
  ...(messages as ReadonlyArray<ModelMessage>)
    .map((message) => ({ ...message, content: promptParts(message.content, major) }))
    .filter(({ content }) => content.length > 0),
]

const parsed = (text: unknown): unknown => {
  try {
    return parseExactly(String(text))
  } catch {
    return text
  }
}

/** A part of an answer as a part of a `ModelMessage`; none for sources, which no model gets back. */
const answerPart = ({ providerMetadata, ...part }: Fields): ReadonlyArray<Fields> => {
  const options = present({ providerOptions: providerMetadata })
  switch (part["type"]) {
    case "text":
      return part["text"] === "" && providerMetadata === undefined ? [] : [{ ...part, ...options }]
    case "reasoning":
    case "reasoning-file":
    case "file":
    case "custom":
      return [{ ...part, ...options }]
    case "tool-call":
      return [{ ...part, input: parsed(part["input"]), ...options }]
    case "tool-result": {
      const { result, isError, ...rest } = part as Record<string, unknown>
      return [
        { ...rest, output: { type: isError === true ? "error-json" : "json", value: result }, ...options },
      ]
    }
    default:
      return []
  }
}

/** An answer of the model as an assistant message; `undefined` if the answer is empty. */
export const answerOf = (content: ReadonlyArray<Fields>): PromptMessage | undefined => {
  const parts = content.flatMap(answerPart)
  return parts.length === 0 ? undefined : { role: "assistant", content: parts }
}

/** The ids of the calls that the application answers. */
export const openCalls = ({ content }: PromptMessage): ReadonlyArray<string> =>
  typeof content === "string"
    ? []
    : content.flatMap((part) =>
        part["type"] === "tool-call" && part["providerExecuted"] !== true ? [String(part["toolCallId"])] : [],
      )

const count = (tokens: unknown): number | undefined => {
  const total = isFields(tokens) ? tokens["total"] : tokens
  return typeof total === "number" ? total : undefined
}

/** The token counts of a call; from version 6 on, each is an object. */
export const usageOfCall = (usage: unknown) => {
  if (!isFields(usage)) return undefined
  const { inputTokens, outputTokens, reasoningTokens } = usage as Record<string, unknown>
  const reasoning = isFields(outputTokens) ? outputTokens["reasoning"] : reasoningTokens
  return usageOf({
    inputTokens: count(inputTokens),
    outputTokens: count(outputTokens),
    reasoningTokens: count(reasoning),
  })
}

/** Puts the parts of a stream together. */
export class Collected {
  readonly content: Array<Fields> = []
  usage: unknown
  /** Whether the model has ended its answer, without an error. */
  isWhole = false
  private hasFailed = false
  private readonly open = new Map<string, number>()

  add(chunk: Fields): void {
    const { type, id, delta, providerMetadata } = chunk
    const options = present({ providerMetadata })
    const [kind, step] = /^(text|reasoning)-(start|delta|end)$/.exec(String(type))?.slice(1) ?? []
    const key = `${kind} ${String(id)}`
    if (step === "start") {
      this.open.set(key, this.content.length)
      this.content.push({ type: kind, text: "", ...options })
    } else if (step !== undefined) {
      const at = this.open.get(key)
      const before = at === undefined ? undefined : this.content[at]
      if (at === undefined || before === undefined) return
      const text = String(before["text"]) + (step === "delta" ? String(delta) : "")
      // What a provider says at the end of a part is all that it says.
      this.content[at] = { ...before, text, ...options }
    } else if (type === "finish") {
      this.usage = chunk["usage"]
      this.isWhole = !this.hasFailed
    } else if (type === "error") {
      this.hasFailed = true
      this.isWhole = false
    } else {
      this.content.push(chunk)
    }
  }
}
