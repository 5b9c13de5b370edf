/** Contexts as prompts: what Mastra hands to a language model of version 2, 3 or 4 of the AI SDK's specification. */
import { encodeContext, type Major } from "@memfold/ai-sdk/codec"
import { type Fields, isFields, leavingOut, type Omitted, type Sendable, serverOf } from "@memfold/codec"
import type { Message } from "@memfold/core"
import { MessageList } from "@mastra/core/agent"
import type { ProcessLLMRequestArgs } from "@mastra/core/processors"

/** The messages of a request to a language model. */
export type Prompt = ProcessLLMRequestArgs["prompt"]

/** What a request is for: the version of its prompt, its provider, and the addresses that the model reads by itself. */
export type Target = Pick<
  ProcessLLMRequestArgs["model"],
  "specificationVersion" | "provider" | "supportedUrls"
>

/** A prompt without the instructions of the agent, and what it leaves out. */
export interface EncodedPrompt {
  readonly prompt: Prompt
  readonly omitted: ReadonlyArray<Omitted>
}

/** The version of the AI SDK that writes prompts of a version. */
const majors: Readonly<Record<string, Major>> = { v2: 5, v3: 6, v4: 7 }

/** Parts of model messages that prompts do not have. */
const unsent = new Set(["tool-approval-request", "tool-approval-response"])

const isFile = (part: unknown): boolean =>
  isFields(part) && (part["type"] === "file" || part["type"] === "image")

/** Providers that serve Anthropic's models, by the names of their packages. */
const servesAnthropic = /anthropic|vertex|bedrock|gateway/iu

/** Whether only Anthropic takes the part, and servers that want reasoning back. */
const isOfAnthropic = (part: Message.Part): boolean => {
  if (part.type === "reasoning") return true
  if (part.type !== "opaque" || part.bound !== true) return false
  if (part.provider === "anthropic") return true
  const data = isFields(part.data) ? part.data : {}
  const page = isFields(data["ui"]) ? data["ui"] : data
  const options = page["providerOptions"] ?? page["providerMetadata"]
  return isFields(options) && Object.hasOwn(options, "anthropic")
}

/**
 * The messages without the thinking of Anthropic and of other models, which some packages send to any provider, in a field that most
 * of them refuse.
 */
const withoutThinking = (messages: ReadonlyArray<Message.Message>, { provider }: Target): Sendable => {
  if (servesAnthropic.test(provider)) return { messages, omitted: [] }
  const takesReasoning = serverOf(provider).reasoning !== undefined
  const read = leavingOut(
    messages,
    (part) =>
      isOfAnthropic(part) && !(takesReasoning && part.type === "reasoning" && part.signature === undefined),
  )
  return { ...read, omitted: read.omitted.map((one) => ({ ...one, part: "reasoning" })) }
}

/** The part without the date that Mastra puts into it. */
const undated = (part: Fields): Fields => {
  const { providerOptions, ...rest } = part as Record<string, unknown>
  const { mastra: _mastra, ...options } = (isFields(providerOptions) ? providerOptions : {}) as Fields
  return Object.keys(options).length === 0 ? rest : { ...rest, providerOptions: options }
}

/**
 * A user message with files, as Mastra writes it: Mastra fetches files that the model does not read by their address. All
 * versions of Mastra do this in the same way.
 */
const withFiles = async (message: Fields, { supportedUrls }: Target): Promise<ReadonlyArray<unknown>> => {
  const list = new MessageList().add(message as unknown as Parameters<MessageList["add"]>[0], "input")
  const urls = await supportedUrls
  const [written] = await list.get.all.aiV5.llmPrompt(urls === undefined ? {} : { supportedUrls: urls })
  return Array.isArray(written?.content)
    ? written.content.map((part) => undated(part as unknown as Fields))
    : []
}

/** What is written of a message: at once, unless it has files. In a process of Mastra, each promise takes as long as the rest of it. */
const contentOf = (
  message: Fields,
  target: Target,
): ReadonlyArray<unknown> | Promise<ReadonlyArray<unknown>> => {
  const { role, content } = message as { readonly [key: string]: unknown }
  if (!Array.isArray(content)) return [{ type: "text", text: content }]
  if (role === "user" && content.some(isFile)) return withFiles(message, target)
  return content.filter((part) => !isFields(part) || !unsent.has(String(part["type"])))
}

/**
 * Encodes the messages of a context as the prompt of a language model. The system messages of the session, the summary among
 * them, are one system message in front.
 */
export const encodePrompt = async (
  messages: ReadonlyArray<Message.Message>,
  target: Target,
): Promise<EncodedPrompt> => {
  const read = withoutThinking(messages, target)
  const encoded = encodeContext(read.messages, {
    major: majors[target.specificationVersion] ?? 7,
    server: target.provider,
  })
  const { system } = encoded
  const said: Array<Fields> = []
  for (const message of encoded.messages) {
    const fields = message as unknown as Fields
    const written = contentOf(fields, target)
    // oxlint-disable-next-line no-await-in-loop -- files are few, and of nearly all messages nothing is awaited
    const content = written instanceof Promise ? await written : written
    if (content.length > 0) said.push({ ...fields, content })
  }
  return {
    prompt: [
      ...(system === undefined ? [] : [{ role: "system", content: system }]),
      ...said,
    ] as unknown as Prompt,
    omitted: [...read.omitted, ...encoded.omitted],
  }
}
