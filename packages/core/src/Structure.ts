/** Which tool calls of a conversation have their results, folded message by message. */
export { addMessage, answeredCall, empty } from "./message/Structure.js"
export type { OpenCall, Structure } from "./message/Structure.js"
