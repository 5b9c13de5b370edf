/**
 * `@memfold/testing/arbitrary`: conversations, batches, events, records, strategies, faults, interleavings, and what
 * providers send.
 */
export { chat, conversation, oneMessage, startOfTime, text } from "./conversation.js"
export { byTag, damaged, disorder, event, recorded, stored } from "./event.js"
export { faultScript } from "./fault.js"
export { batched, batchSizes, inBatches, interleaving } from "./interleaving.js"
export { batch, oddSessions, record, sessions } from "./record.js"
export type { Batch } from "./record.js"
export type { Of } from "./event.js"
export type { Named } from "./strategy.js"
export { keep, prune, pruningStrategy, strategy } from "./strategy.js"
export { json, objectsWith, wireText } from "./wire.js"
