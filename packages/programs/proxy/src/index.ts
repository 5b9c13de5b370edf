/**
 * `@memfold/proxy`: a proxy in front of OpenAI and Anthropic that gives each request the memory of its session.
 *
 * @packageDocumentation
 */
export { exactText, isTooMuch, type Measured, measured, mostMeasured } from "@memfold/codec"
export type { Assembly } from "./answers.js"
export { type Upstreams, withoutSlashes } from "./address.js"
export type { Begins } from "./begins.js"
export { type Call, Calls } from "./Calls.js"
export type { Dialect, Provider, Usage } from "./dialects.js"
export {
  ask,
  type Ending,
  type Exchange,
  forward,
  type Outgoing,
  type Tap,
  UpstreamUnreachable,
} from "./forward.js"
export type { Followed } from "./place.js"
export { ambiguityIn, type Field } from "./headers.js"
export { type HandleOptions, Proxy, type ProxyParts } from "./Proxy.js"
export { agentHeaders, ownerOf, sessionHeaders } from "./names.js"
export type { ProxyRecord } from "./ProxyRecord.js"
export { BodyTooLarge, NoRoom, readBody } from "./readBody.js"
export { type Counted, pricesOf, Savings, type Totals } from "./Savings.js"
export { type SummaryOptions, upstreamSummarizer } from "./summarizer.js"
export {
  type ConversationMemory,
  type ConversationOptions,
  type ConversationRequest,
  type ConversationRoute,
  type ConversationRoutes,
  conversationRoutes,
  type ConversationUpstream,
  routeOf as conversationRouteOf,
  routes as conversationRouteTable,
} from "./conversations/index.js"
