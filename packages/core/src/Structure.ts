/** Which tool calls of a conversation have their results, folded message by message. */
export { answeredCall, withCalls } from "./message/pairs.js"
export type { OpenCall } from "./message/pairs.js"
export { addMessage, empty, waitsFrom } from "./message/Structure.js"
export type { Placement, Structure } from "./message/Structure.js"
