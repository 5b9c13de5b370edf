/**
 * The event log as a port: what a store, an index of vectors and a queue implement, what can be read over any store, and a log in
 * memory.
 *
 * Each module can be imported by itself: `@memfold/log/EventLog`.
 */
export * as EventLog from "./EventLog.js"
export * as InMemoryEventLog from "./InMemoryEventLog.js"
export * as VectorIndex from "./VectorIndex.js"
export * as Dispatcher from "./Dispatcher.js"
export { sleepUntil, tellIfSlow } from "./clock.js"
