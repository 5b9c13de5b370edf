/** Mastra's types, without `exactOptionalPropertyTypes`: they refuse models that Mastra takes. */
import type { AgentConfig } from "@mastra/core/agent"

/** A model of the AI SDK as an agent takes it. */
export const loose = (model: { readonly specificationVersion: string }): AgentConfig["model"] =>
  model as unknown as AgentConfig["model"]
