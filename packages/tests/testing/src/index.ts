/**
 * `@memfold/testing`: the laws of memfold as properties, to test a strategy or a store of your own. Nothing here needs a
 * test runner; `@memfold/testing/vitest` registers the laws in Vitest. Generated input is in `@memfold/testing/arbitrary`,
 * fakes are in `@memfold/testing/fakes`, and the models that the laws compare with are in `@memfold/testing/oracle`.
 */
export { check, examine, LawBroken, title } from "./law/check.js"
export type { CheckOptions, Verdict } from "./law/check.js"
export type { Law } from "./law/Law.js"

export { strategyProperties } from "./strategy/strategyProperties.js"
export type { TurnsClaim, StrategyPropertiesOptions, Subject } from "./strategy/input.js"
export { decisions, ofTokens, oneByOne, rehearse, summaryTokens } from "./strategy/rehearse.js"
export type {
  Arriving,
  Batch,
  DecidedCompaction,
  Moment,
  Rehearsal,
  RehearsalOptions,
} from "./strategy/rehearse.js"

export { eventLogProperties } from "./log/eventLogProperties.js"
export type { EventLogPropertiesOptions, LogLayer } from "./log/input.js"

export { vectorIndexProperties } from "./vectors/vectorIndexProperties.js"
export type { VectorIndexLayer, VectorIndexPropertiesOptions } from "./vectors/input.js"

export { factProperties } from "./law/facts.js"
export type { FactPropertiesOptions, PlayedFact, PlayedLayers } from "./law/facts.js"
export { memoryProperties } from "./memory/memoryProperties.js"
export { memoryCommands } from "./memory/commands.js"
export type { MemoryCommand, RealMemory } from "./memory/commands.js"
export { ExpectedMemory } from "./memory/ExpectedMemory.js"
export type { ExpectedEntry, ExpectedSession } from "./memory/ExpectedMemory.js"
export { inWorld } from "./memory/world.js"
export type { MemoryPropertiesOptions } from "./memory/input.js"
export type { Opening, World } from "./memory/world.js"
export type { VirtualClock } from "./memory/VirtualClock.js"
export { compactions, runOf, runSession } from "./memory/run.js"
export type { Run, RunMoment } from "./memory/run.js"

export { decides, given } from "./given/given.js"
export type { Given, Happened, Then } from "./given/given.js"
export {
  after,
  appended,
  cleared,
  committed,
  failed,
  invalidated,
  pruned,
  started,
  stateOf,
  unmarked,
} from "./given/events.js"
