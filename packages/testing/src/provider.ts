/**
 * `@memfold/testing/provider`: what the providers of models accept. Validators of their published rules, signatures that
 * bind reasoning to what stands before it, and a local HTTP server that is as strict as they are. For Node.js.
 */
export { anthropicViolations } from "./provider/anthropic.js"
export type { AnthropicOptions } from "./provider/anthropic.js"
export { anthropicRules } from "./provider/anthropicRules.js"
export type { AnthropicRule } from "./provider/anthropicRules.js"
export { chatViolations } from "./provider/chat.js"
export { chatRules } from "./provider/chatRules.js"
export type { ChatRule } from "./provider/chatRules.js"
export { responsesViolations } from "./provider/responses.js"
export { responsesRules } from "./provider/responsesRules.js"
export type { ResponsesRule } from "./provider/responsesRules.js"
export { modelMessageViolations } from "./provider/aiSdk.js"
export { aiSdkRules } from "./provider/aiSdkRules.js"
export type { AiSdkRule } from "./provider/aiSdkRules.js"
export type { Rule, Violation } from "./provider/violation.js"

export { cacheMiss } from "./provider/cacheMiss.js"
export { signer } from "./provider/binding.js"
export type { Mismatch, Signer } from "./provider/binding.js"

export { scripted, seeded } from "./provider/answers.js"
export type { Answer, AnsweredCall, Answering, Api, Asked } from "./provider/answers.js"
export { providerServer } from "./provider/server.js"
export type { ProviderServer, Received, ServerOptions } from "./provider/server.js"
