/** OpenAI's conversations and stored responses, over any upstream and any store. */
export {
  type ConversationOptions,
  type ConversationRequest,
  type ConversationRoutes,
  conversationRoutes,
} from "./routes.js"
export { type ConversationRoute, routeOf, routes } from "./table.js"
export type { ConversationMemory } from "./Store.js"
export type { ConversationUpstream } from "./upstream.js"
