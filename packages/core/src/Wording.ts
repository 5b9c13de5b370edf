/** The words that introduce a summary in a context. */
export {
  asData,
  conversationSummary,
  earlierConversation,
  presets,
  separately,
  texts,
  sessionMemory,
  Wording,
  write,
} from "./summary/Wording.js"
export type { SummaryContent } from "./summary/Wording.js"
