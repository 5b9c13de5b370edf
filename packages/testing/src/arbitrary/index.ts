/** Arbitraries of conversations, batches, events, records, strategies, faults and interleavings. */
export { chat, conversation, oneMessage, startOfTime, text } from "./conversation.js"
export { disorder, event } from "./event.js"
export { faultScript } from "./fault.js"
export { batched, batchSizes, inBatches, interleaving } from "./interleaving.js"
export { batch, oddSessions, record, sessions } from "./record.js"
export { keep, prune, pruningStrategy, strategy } from "./strategy.js"
