/** Which tool calls of a conversation have their results, folded message by message. */
export { addMessage, answeredCall, empty, waitsFrom, withCalls } from "@memfold/message/Structure"
export type { OpenCall, Placement, Structure } from "@memfold/message/Structure"
