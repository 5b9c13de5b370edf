/**
 * `@memfold/testing/oracle`: what the laws compare an engine with. Each is written from the design, reads a whole
 * conversation or a whole log, and shares no code with the engine; for a simulation of your own.
 */
export { compactionFindings } from "./compaction.js"
export type { Reach } from "./compaction.js"
export {
  contentsFinding,
  contentsOf,
  contextFinding,
  growthFinding,
  layoutFinding,
  orphanFinding,
  prefixFinding,
} from "./context.js"
export type { Contents } from "./context.js"
export { boundaries, boundaryBefore, turnComplete, turnStarts } from "./groups.js"
export { readSession, shownFormsTo, stateFinding } from "./session.js"
export type { Finding, NaiveSession, NaiveSummary } from "./session.js"
export { makeSigner } from "./signing.js"
export type { Signer } from "./signing.js"
