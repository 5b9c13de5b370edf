/**
 * `@memfold/strict-providers`: what the providers of models accept. Validators of their published rules, signatures that
 * bind reasoning to what stands before it, and a local HTTP server that is as strict as they are. For Node.js.
 */
export { anthropicViolations } from "./anthropic.js"
export type { AnthropicOptions } from "./anthropic.js"
export { anthropicRules } from "./anthropicRules.js"
export type { AnthropicRule } from "./anthropicRules.js"
export { chatViolations } from "./chat.js"
export type { ChatOptions } from "./chat.js"
export type { ChatServer } from "./chatServers.js"
export { chatRules } from "./chatRules.js"
export type { ChatRule } from "./chatRules.js"
export { responsesViolations } from "./responses.js"
export { responsesRules } from "./responsesRules.js"
export type { ResponsesRule } from "./responsesRules.js"
export { modelMessageViolations } from "./aiSdk.js"
export { aiSdkRules } from "./aiSdkRules.js"
export type { AiSdkRule } from "./aiSdkRules.js"
export type { Rule, Violation } from "./violation.js"

export { cacheMiss } from "./cacheMiss.js"
export { signer } from "./binding.js"
export type { Mismatch, Signer } from "./binding.js"

export { scripted, seeded } from "./answers.js"
export type { Answer, AnsweredCall, Answering, Api, ModelRequest } from "./answers.js"
export { providerServer } from "./server.js"
export type { ProviderServer, Received, ServerOptions } from "./server.js"
