/** Durable, compacted sessions for the OpenAI Agents SDK, and the codec of its items. */
export { AgentsDecodeError, decodeItems } from "./decode.js"
export { encodeContext, type EncodedContext, encodeItems } from "./encode.js"
export { HistoryChanged } from "./HistoryChanged.js"
export { openaiAgents, type OpenAIAgentsMemory } from "./openaiAgents.js"
export { type HistoryMutations, type HistoryTransaction, MemfoldSession } from "./session.js"
