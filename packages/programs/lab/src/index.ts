/**
 * `@memfold/lab`: replays conversations of your own under several memory policies, and reports what each one costs and
 * what it keeps. No model and no network is used, and the same input gives the same report.
 */
export type { Answered, Answers, AnswerSum } from "./answered.js"
export { type Conversation, ofTranscript, type Question } from "./Conversation.js"
export { type Curve, curveOf } from "./curve.js"
export { DataSetError, readDataSet } from "./datasets/index.js"
export { identifiersIn, recentMessages } from "./identifiers.js"
export {
  type Setup,
  type Executor,
  inThisThread,
  type Policy,
  type PrepareJob,
  type ReplayJob,
} from "./jobs.js"
export { page } from "./page/index.js"
export { fullHistory, prepare, type Prepared, type FoundWords } from "./prepare.js"
export { withoutPromptSize } from "./recordedUsage.js"
export { type CallPoint, replay, type Replayed, type ReplayOptions } from "./replay.js"
export {
  type AnswerCoverage,
  type AnswerShare,
  answersOf,
  type CostParts,
  costOf,
  type EvidenceCoverage,
  evidenceOf,
  type IdentifierCoverage,
  type PolicyCost,
  type PolicyReport,
  type ReplayReport,
  type Report,
} from "./report.js"
export { type Progress, reference, run, type RunOptions } from "./run.js"
export type { MakeLayers } from "./stage.js"
export * as TranscriptClock from "./TranscriptClock.js"
export { serve, startWorkers, WorkerError, type Workers } from "./workers.js"
