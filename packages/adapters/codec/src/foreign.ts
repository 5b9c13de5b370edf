/**
 * Recognizes messages of other libraries. A codec that stored them as unknown data would lose what they say, so it
 * refuses them and names the package or the format that reads them.
 */
import { Item } from "@memfold/message"
import { type Fields, isFields } from "./fields.js"
import type { Problem } from "./problem.js"

const libraries = {
  openai: { name: "Chat Completions", use: '@memfold/openai (format "openai")' },
  "openai-responses": { name: "OpenAI Responses", use: '@memfold/openai (format "openai-responses")' },
  anthropic: { name: "Anthropic Messages", use: '@memfold/anthropic (format "anthropic")' },
  memfold: { name: "memfold", use: '@memfold/core (format "memfold")' },
  "ai-sdk": { name: "the AI SDK", use: "@memfold/ai-sdk" },
  "ai-sdk-4": { name: "AI SDK 4", use: 'readTranscripts of "@memfold/cli/transcripts"' },
  langchain: { name: "LangChain", use: "@memfold/langchain" },
  "openai-agents": { name: "the OpenAI Agents SDK", use: "@memfold/openai-agents" },
  mastra: { name: "Mastra", use: "@memfold/mastra" },
  "effect-ai": { name: "Effect AI", use: "@memfold/effect-ai" },
} as const

/** A library or provider whose messages {@link foreignProblem} recognizes. */
export type Library = keyof typeof libraries

const has = (fields: Fields, ...names: ReadonlyArray<string>): boolean =>
  names.some((name) => Object.hasOwn(fields, name))

const typeOf = (fields: Fields): string => (typeof fields["type"] === "string" ? fields["type"] : "")

const hasType = (api: Item.ItemApi, type: string): boolean => Object.hasOwn(Item.items[api], type)
const isWithin = (api: Item.ItemApi, type: string): boolean => Item.items[api][type]?.within === true

/** The APIs whose messages have content of a type. In Responses, content stands within items of the type `message`. */
const apisOf = (type: string): ReadonlyArray<Item.ItemApi> =>
  (Object.keys(Item.items) as ReadonlyArray<Item.ItemApi>).filter(
    (api) => hasType(api, type) && (api === "openai-responses" || !isWithin(api, type)),
  )

/** Whether the Responses API has items of a type. */
const isResponsesItem = (type: string): boolean =>
  hasType("openai-responses", type) && !isWithin("openai-responses", type)

/** The library that a content part belongs to; none where several have such parts. */
const libraryOfPart = (part: Fields): Library | undefined => {
  const type = typeOf(part)
  switch (type) {
    case "thinking":
      // A list of texts here is Mistral's, in the format of Chat Completions.
      return typeof part["thinking"] === "string" ? "anthropic" : undefined
    case "image":
      if (has(part, "source")) return "anthropic"
      return has(part, "image") ? "ai-sdk" : undefined
    case "document":
      return has(part, "source") ? "anthropic" : undefined
    case "file":
      if (has(part, "file")) return "openai"
      return has(part, "mediaType", "mimeType") ? (has(part, "options") ? "effect-ai" : "ai-sdk") : undefined
    case "text":
      return has(part, "providerOptions") ? "ai-sdk" : undefined
    case "reasoning":
      return has(part, "text") ? (has(part, "options") ? "effect-ai" : "ai-sdk") : undefined
    case "tool-call":
    case "tool-result":
    case "tool-approval-request":
    case "tool-approval-response":
      if (has(part, "toolCallId", "approvalId")) return "ai-sdk"
      if (has(part, "params", "result")) return "effect-ai"
      return has(part, "arguments", "output") ? "memfold" : undefined
    default: {
      const [api, ...others] = apisOf(type)
      // Audio of Chat Completions and of Responses has one form; the message says which it is.
      return others.length === 0 || type === "input_audio" ? api : undefined
    }
  }
}

/** The library whose messages have `parts` instead of `content`. */
const libraryOfParts = (message: Fields, parts: ReadonlyArray<unknown>): Library => {
  const types = parts.filter(isFields)
  const neutral = types.some((part) => has(part, "arguments", "output", "uri") && has(part, "id", "uri"))
  return neutral || types.some((part) => typeOf(part) === "opaque") || !has(message, "id")
    ? "memfold"
    : "ai-sdk"
}

const langchainTypes = new Set(["human", "ai", "system", "tool", "function", "generic"])

const isLangchain = (message: Fields): boolean =>
  typeof message["_getType"] === "function" ||
  typeof message["getType"] === "function" ||
  (message["lc"] === 1 && Array.isArray(message["id"])) ||
  Array.isArray(message["lc_namespace"]) ||
  (langchainTypes.has(typeOf(message)) && isFields(message["data"]) && has(message["data"], "content"))

/** Calls of AI SDK 4 are in a field that no later library reads, or in parts of a type that only it has. */
const hasInvocations = ({ toolInvocations, parts }: Fields): boolean =>
  (Array.isArray(toolInvocations) && toolInvocations.length > 0) ||
  (Array.isArray(parts) && parts.some((part) => isFields(part) && typeOf(part) === "tool-invocation"))

/** The library that a whole message belongs to, by its own fields. */
const libraryOfMessage = (message: Fields): Library | undefined => {
  if (isLangchain(message)) return "langchain"
  if (hasInvocations(message)) return "ai-sdk-4"
  const { parts, content, object, role } = message as { readonly [key: string]: unknown }
  const type = typeOf(message)
  if (object === "chat.completion") return "openai"
  if (object === "response") return "openai-responses"
  if (isFields(content) && content["format"] === 2) return "mastra"
  if (content === undefined && Array.isArray(parts) && typeof role === "string") {
    return libraryOfParts(message, parts)
  }
  if (type !== "" && has(message, "callId")) return "openai-agents"
  if (type === "message") {
    return has(message, "stop_reason", "stop_sequence") ? "anthropic" : "openai-responses"
  }
  if (role === undefined && type !== "") {
    return isResponsesItem(type) ? "openai-responses" : undefined
  }
  if (has(message, "tool_call_id", "tool_calls", "function_call")) return "openai"
  return undefined
}

/** The Responses API has audio parts of the same form as Chat Completions. */
const isAudio = (part: unknown): boolean => isFields(part) && part["type"] === "input_audio"

/** Where the message has something of another library, and of which. */
const find = (
  message: Fields,
  own: Library,
): { readonly library: Library; readonly path: string } | undefined => {
  const whole = libraryOfMessage(message)
  // With calls in fields of its own, a message is of Chat Completions, whatever a server puts into its content.
  if (whole === own && own === "openai") return undefined
  const { content } = message
  if (Array.isArray(content) && whole !== "langchain") {
    for (const [index, part] of content.entries()) {
      const library = isFields(part) ? libraryOfPart(part) : undefined
      if (library !== undefined && library !== own && !(own === "openai-responses" && isAudio(part)))
        return { library, path: `content[${index}]` }
    }
  }
  return whole === undefined || whole === own ? undefined : { library: whole, path: "" }
}

/**
 * The problem with a message of another library; `undefined` if it may be one of `own`. Messages that several libraries
 * have in common, such as plain text, belong to all of them.
 *
 * @example
 * ```ts
 * import { foreignProblem } from "@memfold/codec"
 *
 * const message = { role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", toolName: "f", input: {} }] }
 * console.log(foreignProblem(message, "openai")?.use) // @memfold/ai-sdk
 * ```
 */
export const foreignProblem = (
  input: unknown,
  own: Library,
): (Problem & { readonly use: string }) | undefined => {
  const found = isFields(input) ? find(input, own) : undefined
  if (found === undefined) return undefined
  const { name, use } = libraries[found.library]
  return {
    path: found.path,
    problem: found.path === "" ? `is one of ${name}` : `has a part of ${name} at ${found.path}`,
    allowed: `messages of ${libraries[own].name}; for messages of ${name}, use ${use}`,
    use,
  }
}
