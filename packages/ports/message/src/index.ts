/**
 * The messages of a conversation, neutral of providers: their parts, the items of providers that they keep, the groups and turns
 * that they form, the fields of requests, and counters of their tokens.
 *
 * Each module can be imported by itself: `@memfold/message/Message`.
 */
export * as Message from "./Message.js"
export * as Origin from "./Origin.js"
export * as Item from "./Item.js"
export * as Structure from "./Structure.js"
export * as TokenCounter from "./TokenCounter.js"
export { known, type KnownFields, type KnownInside, type KnownTypes, requestFields } from "./requestFields.js"
