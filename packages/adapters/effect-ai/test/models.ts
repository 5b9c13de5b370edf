/** Real models of Effect AI against the strict local server, and memories to talk with. */
import { AnthropicClient, AnthropicLanguageModel } from "@effect/ai-anthropic"
import { OpenAiClient, OpenAiLanguageModel } from "@effect/ai-openai"
import { type LanguageModel, type Model, Tool, Toolkit } from "@effect/ai"
import { FetchHttpClient } from "@effect/platform"
import type { Memory } from "@memfold/core"
import { withMemory } from "@memfold/harness/engine"
import { type ProviderServer, providerServer, type ServerOptions } from "@memfold/strict-providers"
import { Effect, Layer, Redacted, Schema } from "effect"
import { Rounds } from "@memfold/strategy-rounds"

const apiKey = Redacted.make("local")

export type LocalModel = Layer.Layer<LanguageModel.LanguageModel | Model.ProviderName>

/** The models of each provider's package. */
export const models = {
  anthropic: (server: ProviderServer): LocalModel =>
    AnthropicLanguageModel.model("claude-sonnet-5-5", { max_tokens: 4_000 }).pipe(
      Layer.provide(AnthropicClient.layer({ apiUrl: server.anthropicURL, apiKey })),
      Layer.provide(FetchHttpClient.layer),
    ),
  openai: (server: ProviderServer): LocalModel =>
    OpenAiLanguageModel.model("gpt-6.2-sol").pipe(
      Layer.provide(OpenAiClient.layer({ apiUrl: server.openaiURL, apiKey })),
      Layer.provide(FetchHttpClient.layer),
    ),
}

const lookUp = Tool.make("lookUp", {
  description: "Looks up what is known about a request.",
  parameters: { request: Schema.String, depth: Schema.Number },
  success: Schema.Unknown,
  failure: Schema.String,
  failureMode: "return",
})

export const toolkit = Toolkit.make(lookUp)

/** Finds something, fails for a depth of 7, and finds a plain text for a depth of 6. */
export const handlers = toolkit.toLayer({
  lookUp: ({ request, depth }) => {
    if (depth === 7) return Effect.fail("nothing is known")
    return Effect.succeed(depth === 6 ? `only ${request}` : { request, depth })
  },
})

export const rounds = Rounds({ fullContextTurns: 2, cachedContextTurns: 2 })

/** A memory of its own, of the Effect service. */
export const memoryOf = (options: Omit<Memory.Options, "strategy"> = { compaction: { mode: "inline" } }) =>
  withMemory({ strategy: rounds, ...options })

/** A server that ends with the scope. */
export const served = (options: ServerOptions = {}) =>
  Effect.acquireRelease(
    Effect.promise(() => providerServer(options)),
    (server) => Effect.promise(() => server.close()),
  )
