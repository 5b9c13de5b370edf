/** The messages of a conversation, as users of the package see them. */
export * from "@memfold/message/Message"
export { withoutText } from "./history/redact.js"
