/** The port of memory layers, which learn facts from a conversation. */
export { LayersError, MemoryLayers, originOf } from "./layers/MemoryLayers.js"
export type { CompletedTurns, Moment, Query, Question, Recalled, Service } from "./layers/MemoryLayers.js"
