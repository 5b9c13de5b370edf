/**
 * `@memfold/proxy`: a proxy in front of OpenAI and Anthropic that gives each request the memory of its session.
 *
 * @packageDocumentation
 */
export {
  ask,
  type Ending,
  type Exchange,
  forward,
  type Outgoing,
  type Tap,
  UpstreamUnreachable,
} from "./forward.js"
export type { Field } from "./headers.js"
export {
  type ConversationMemory,
  type ConversationOptions,
  type ConversationRequest,
  type ConversationRoutes,
  conversationRoutes,
  type ConversationUpstream,
} from "./conversations/index.js"
