/** The words that introduce a summary in a context. */
export {
  asData,
  conversationSummary,
  earlierConversation,
  material,
  presets,
  separately,
  texts,
  sessionMemory,
  Wording,
  write,
  written,
} from "./summary/Wording.js"
export type { ContentOf, Piece, SummaryContent, WrittenText } from "./summary/Wording.js"
