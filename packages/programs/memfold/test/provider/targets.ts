/** The formats of the package, each as requests to its provider, and what the provider refuses in them. */
import { createAnthropic } from "@ai-sdk/anthropic"
import { createOpenAI } from "@ai-sdk/openai"
import { LanguageModel } from "@effect/ai"
import { AnthropicClient, AnthropicLanguageModel } from "@effect/ai-anthropic"
import { OpenAiClient, OpenAiLanguageModel } from "@effect/ai-openai"
import { HttpClient, HttpClientError } from "@effect/platform"
import { convertPromptToAnthropic } from "@langchain/anthropic"
import { type BaseMessage, SystemMessage } from "@langchain/core/messages"
import { ChatPromptValue } from "@langchain/core/prompt_values"
import { convertMessagesToCompletionsMessageParams, convertMessagesToResponsesInput } from "@langchain/openai"
import { encodeContext } from "@memfold/ai-sdk"
import { type ServerName, serverNames } from "@memfold/codec"
import type { Message } from "@memfold/core"
import * as EffectAi from "@memfold/effect-ai"
import * as LangChain from "@memfold/langchain"
import { atOnce } from "@memfold/log/breathe"
import * as Agents from "@memfold/openai-agents"
import {
  type Model,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  setTracingDisabled,
  withTrace,
} from "@openai/agents"
import {
  anthropicViolations,
  chatViolations,
  type Mismatch,
  modelMessageViolations,
  responsesViolations,
  signer,
  type Violation,
} from "@memfold/strict-providers"
import { generateText, type LanguageModel as AiModel, modelMessageSchema } from "ai"
import { Effect, Layer } from "effect"
import OpenAI from "openai"
import { codecs } from "@memfold/catalog"

/** The account that all signatures of these tests are made for. */
export const account = signer("an account")

/** A provider, and the format of its requests. */
export interface Target {
  readonly format: string
  /** The body of a request with this context. */
  readonly request: (messages: ReadonlyArray<Message.Message>) => Promise<unknown> | unknown
  readonly violations: (request: unknown) => ReadonlyArray<Violation>
  /** Signed reasoning that does not fit what stands before it; only where it was signed by this provider. */
  readonly mismatches: (request: unknown) => ReadonlyArray<Mismatch>
}

interface Provider extends Pick<Target, "violations" | "mismatches"> {
  readonly body: (context: unknown) => object
}

const openai: Provider = {
  body: (context) => ({
    model: "gpt-6.2-sol",
    ...(Array.isArray(context) ? { messages: context } : spread(context)),
  }),
  violations: chatViolations,
  mismatches: () => [],
}

const responses: Provider = {
  body: (context) => ({
    model: "gpt-6.2-sol",
    store: false,
    ...(Array.isArray(context) ? { input: context } : spread(context)),
  }),
  violations: (request) => responsesViolations(request),
  mismatches: () => [],
}

/** A context apart from its system messages; Chat Completions has no separate field for system messages. */
const spread = (context: unknown): object => {
  const { system: _, ...rest } = context as { readonly system?: unknown }
  return rest
}

/** How the context of each format becomes a request. */
const providers: Readonly<Record<string, Provider>> = {
  anthropic: {
    body: (context) => ({ model: "claude-sonnet-5-5", max_tokens: 1_000, ...(context as object) }),
    violations: (request) => anthropicViolations(request),
    mismatches: account.check,
  },
  openai,
  "openai-responses": responses,
}

/** Every format of the package that goes to a provider, with system messages in their place and apart. */
const formats: ReadonlyArray<Target> = Object.entries(codecs)
  .filter(([format]) => format !== "memfold")
  .flatMap(([format, { encode, encodeApart }]): ReadonlyArray<Target> => {
    const provider = providers[format]
    if (provider === undefined) throw new Error(`there is no validator for the format "${format}"`)
    const target = { format, ...provider }
    const inline: Target = {
      ...target,
      request: (messages) => provider.body(atOnce(encode(messages, {})).messages),
    }
    // The Messages API has them apart anyway. The marks of the prompt cache may stand behind any message.
    if (format === "anthropic") {
      const marks = (last: number) => [0, Math.floor(last / 2), last]
      const request: Target["request"] = (messages) =>
        provider.body(
          atOnce(encode(messages, { cacheControl: { behind: marks(messages.length - 1) } })).messages,
        )
      return [{ ...inline, request }]
    }
    const apart: Target = {
      ...target,
      format: `${format}, apart`,
      request: (messages) => provider.body(atOnce(encodeApart(messages, {})).messages),
    }
    return [inline, apart]
  })

/** A provider for Chat Completions of another server than OpenAI's. */
const providerOf = (server: ServerName): Provider => ({
  ...openai,
  violations: (request) => chatViolations(request, { server }),
})

/** Our own codec with every server that is known. */
const servers: ReadonlyArray<Target> = serverNames.map((server) => {
  const provider = providerOf(server)
  const { encode } = codecs["openai"]!
  return {
    ...provider,
    format: `openai, ${server}`,
    request: (messages) => provider.body(atOnce(encode(messages, { server })).messages),
  }
})

/** Servers that want nothing beyond the API that the libraries' packages for Chat Completions do not write. */
const plainServers = ["any", "anthropic", "bedrock", "groq", "mistral", "scaleway"] as const

/** What the schema of the AI SDK itself refuses; it lets unknown fields pass. */
const refusedBySchema = (messages: ReadonlyArray<unknown>): ReadonlyArray<Violation> =>
  messages.flatMap((message, index) => {
    const { error } = modelMessageSchema.safeParse(message)
    if (error === undefined) return []
    const source = "modelMessageSchema"
    return [
      { rule: "schema", path: `messages[${index}]`, source, message: "The schema refuses the message." },
    ]
  })

/** The AI SDK, which checks the messages itself before any provider gets them. */
const aiSdk: Target = {
  format: "ai-sdk",
  request: (messages) => encodeContext(messages),
  violations: (request) => {
    const { messages } = request as ReturnType<typeof encodeContext>
    // A call of the AI SDK has a message; it is not the context that has none before the first one.
    return messages.length === 0
      ? []
      : [...modelMessageViolations({ messages }), ...refusedBySchema(messages)]
  },
  mismatches: () => [],
}

/** A `fetch` that reads a request where it would leave, and what it read: nothing, if the library refused to write one. */
const reading = async (ask: (fetch: typeof globalThis.fetch) => Promise<unknown>): Promise<unknown> => {
  let written: unknown
  let refused: unknown
  const fetch: typeof globalThis.fetch = async (_address, init) => {
    written = JSON.parse(String(init?.body))
    throw new Error("The request was read.")
  }
  await ask(fetch).catch((error: unknown) => {
    refused = error
  })
  if (written === undefined) throw refused
  return written
}

/** The packages of providers for the AI SDK, which write the requests; an empty context is never sent. */
const aiSdkProviders: ReadonlyArray<Target> = [
  ...plainServers.map((server) => ({
    provider: providerOf(server),
    name: `Chat Completions of ${server}`,
    server,
    model: (fetch: typeof globalThis.fetch): AiModel =>
      createOpenAI({ apiKey: "none", fetch }).chat("a-model"),
  })),
  {
    provider: providers["anthropic"]!,
    name: "Anthropic",
    server: "anthropic",
    model: (fetch: typeof globalThis.fetch): AiModel =>
      createAnthropic({ apiKey: "none", fetch })("claude-sonnet-5-5"),
  },
  {
    provider: openai,
    name: "Chat Completions",
    server: "openai",
    model: (fetch: typeof globalThis.fetch): AiModel =>
      createOpenAI({ apiKey: "none", fetch }).chat("gpt-6.2-sol"),
  },
  {
    provider: responses,
    name: "Responses",
    server: "openai",
    model: (fetch: typeof globalThis.fetch): AiModel =>
      createOpenAI({ apiKey: "none", fetch }).responses("gpt-6.2-sol"),
  },
].map(({ provider, name, model, server }) => ({
  ...provider,
  format: `ai-sdk, ${name}`,
  request: (messages) => {
    const { system, messages: given } = encodeContext(messages, { server })
    return reading((fetch) =>
      generateText({
        model: model(fetch),
        messages: given,
        maxRetries: 0,
        providerOptions: { openai: { store: false } },
        ...(system === undefined ? {} : { system }),
      }),
    )
  },
  // The signatures of these tests are made for the requests of our own codec.
  mismatches: () => [],
}))

setTracingDisabled(true)

/** A part as an item that all APIs have: a custom tool is one of the Responses API alone. */
const plain = (part: Message.Part): Message.Part => {
  if (part.type !== "tool-call" && part.type !== "tool-result") return part
  const { providerData: _own, ...rest } = part
  return rest
}

/** Without items of the Responses API, which the library itself sends to no other API: a session stays with one. */
const withoutItems = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Message.Message> =>
  messages.map((message) => ({
    ...message,
    parts: message.parts.filter(({ type }) => type !== "opaque").map(plain),
  }))

/** The models of the Agents SDK, which write the requests. */
const agents: ReadonlyArray<Target> = [
  { provider: openai, name: "Chat Completions", Model: OpenAIChatCompletionsModel },
  { provider: responses, name: "Responses", Model: OpenAIResponsesModel },
].map(({ provider, name, Model }) => ({
  ...provider,
  format: `openai-agents, ${name}`,
  request: (messages) =>
    reading((fetch) => {
      const client = new OpenAI({ apiKey: "none", maxRetries: 0, fetch })
      const model: Model = new Model(
        client as unknown as ConstructorParameters<typeof Model>[0],
        "gpt-6.2-sol",
      )
      const input = Agents.encodeContext(provider === openai ? withoutItems(messages) : messages).items
      const modelSettings = { store: false }
      return withTrace("read", () =>
        model.getResponse({
          input,
          modelSettings,
          tools: [],
          handoffs: [],
          outputType: "text",
          tracing: false,
        }),
      )
    }),
  mismatches: () => [],
}))

/** A context as LangChain hands it to the package of a provider. */
const forLangChain = (
  messages: ReadonlyArray<Message.Message>,
  provider: string,
  server?: string,
): Array<BaseMessage> => {
  const { system, messages: given } = LangChain.encodeContext(messages, { provider, server })
  return system === undefined ? given : [new SystemMessage({ content: system }), ...given]
}

/** LangChain, whose packages write the requests; an empty context is never sent. */
const langchain: ReadonlyArray<Target> = [
  ...plainServers.map((server): Target => {
    const { body, violations, mismatches } = providerOf(server)
    return {
      violations,
      mismatches,
      format: `langchain, Chat Completions of ${server}`,
      request: (messages) =>
        body(
          convertMessagesToCompletionsMessageParams({ messages: forLangChain(messages, "openai", server) }),
        ),
    }
  }),
  {
    ...providers["anthropic"]!,
    format: "langchain, Anthropic",
    request: (messages) =>
      providers["anthropic"]!.body(
        convertPromptToAnthropic(new ChatPromptValue(forLangChain(messages, "anthropic"))),
      ),
    // The signatures of these tests are made for the requests of our own codec.
    mismatches: () => [],
  },
  {
    ...openai,
    format: "langchain, Chat Completions",
    request: (messages) =>
      openai.body(convertMessagesToCompletionsMessageParams({ messages: forLangChain(messages, "openai") })),
  },
  {
    ...responses,
    format: "langchain, Responses",
    request: (messages) =>
      responses.body(
        convertMessagesToResponsesInput({
          messages: forLangChain(messages, "openai-responses"),
          zdrEnabled: false,
          model: "gpt-6.2-sol",
        }),
      ),
  },
]

/** A context as the package of a provider writes it; what the package refuses is an error. */
const writtenByEffectAi = (
  messages: ReadonlyArray<Message.Message>,
  provider: string,
  model: Layer.Layer<LanguageModel.LanguageModel, never, HttpClient.HttpClient>,
): unknown => {
  const { prompt } = EffectAi.encodeContext(messages, { provider })
  let written: unknown
  // The request is read where it would leave.
  const client = HttpClient.make((request) => {
    if (request.body._tag === "Uint8Array") written = JSON.parse(new TextDecoder().decode(request.body.body))
    return new HttpClientError.RequestError({ request, reason: "Transport" })
  })
  const asked = LanguageModel.generateText({ prompt }).pipe(
    Effect.catchTag("HttpRequestError", () => Effect.void),
    Effect.provide(model.pipe(Layer.provide(Layer.succeed(HttpClient.HttpClient, client)))),
  )
  Effect.runSync(asked)
  return written
}

/** Effect AI, whose packages write the requests; an empty context is never sent. */
const effectAi: ReadonlyArray<Target> = [
  {
    ...providers["anthropic"]!,
    format: "effect-ai, Anthropic",
    request: (messages) =>
      writtenByEffectAi(
        messages,
        "anthropic",
        AnthropicLanguageModel.layer({ model: "claude-sonnet-5-5", config: { max_tokens: 1_000 } }).pipe(
          Layer.provide(AnthropicClient.layer({})),
        ),
      ),
    // The signatures of these tests are made for the requests of our own codec.
    mismatches: () => [],
  },
  {
    ...responses,
    format: "effect-ai, Responses",
    request: (messages) =>
      writtenByEffectAi(
        messages,
        "openai",
        OpenAiLanguageModel.layer({ model: "gpt-6.2-sol" }).pipe(Layer.provide(OpenAiClient.layer({}))),
      ),
  },
]

/** Every format that goes to a provider or a library. */
export const targets: ReadonlyArray<Target> = [
  ...formats,
  ...servers,
  aiSdk,
  ...aiSdkProviders,
  ...langchain,
  ...effectAi,
  ...agents,
]
