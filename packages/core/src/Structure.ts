/** Which tool calls of a conversation have their results, folded message by message. */
export { addMessage, empty, OpenCalls, waitsFrom } from "@memfold/message/Structure"
export type { OpenCall, Placement, Structure } from "@memfold/message/Structure"
