/** The port of memory layers, which learn facts from a conversation; when facts are true, and what they rest on. */
export { evidenceOf, readIn, restsOn } from "./layers/evidence.js"
export type { Evidence, EvidenceOptions, Refusal } from "./layers/evidence.js"
export { factsDiff, isLearnedAgain, placeOf, sayingOf, shareSource } from "./layers/factsDiff.js"
export type { ChangedFacts } from "./layers/factsDiff.js"
export { withoutFacts } from "./layers/withoutFacts.js"
export type { ErasedFacts } from "./layers/withoutFacts.js"
export { inTime, isTrueAt, sameText } from "./layers/inTime.js"
export type { FactInTime } from "./layers/inTime.js"
export { LayersError, MemoryLayers, originOf } from "./layers/MemoryLayers.js"
export type {
  AnyExtractor,
  CompletedTurns,
  FactChange,
  FactsDiff,
  FactsQuery,
  Learned,
  MessagePlace,
  Moment,
  Query,
  Question,
  Rebuilding,
  Recalled,
  Service,
} from "./layers/MemoryLayers.js"
