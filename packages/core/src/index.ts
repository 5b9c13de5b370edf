/**
 * The public API of `@memfold/core`, in the order of the flow: message, event, log, session, policy, summarize, compact,
 * render. `Memory` connects them.
 */
export * as OptionGroup from "./options/OptionGroup.js"

export * as Message from "./Message.js"
export { Item, Origin } from "@memfold/message"
export * as Structure from "./Structure.js"
export * as TokenCounter from "./TokenCounter.js"

export * as Summary from "./Summary.js"
export * as Wording from "./Wording.js"

export * as Event from "./Event.js"
export * as EventCodec from "./EventCodec.js"

export { EventLog, InMemoryEventLog } from "@memfold/log"

export * as Session from "./Session.js"

export * as Guard from "./guard/Guard.js"
export { GuardRefused } from "./guard/Guard.js"

export * as Strategy from "./policy/Strategy.js"
export * as Trigger from "./policy/Trigger.js"
export * as Keep from "./policy/Keep.js"
export * as BatchSize from "./policy/BatchSize.js"
export * as SummaryMode from "./policy/SummaryMode.js"
export type { MergeBlocks, RecallBlocks, SummarySize } from "./policy/SummarySize.js"
export * as Split from "./policy/Split.js"
export * as Pin from "./policy/Pin.js"
export * as Prune from "./Prune.js"
export * as ToolNotes from "./policy/ToolNotes.js"
export * as Policy from "./Policy.js"
export { withMargin } from "./policy/withMargin.js"

export * as Summarizer from "./Summarizer.js"
export * as EchoSummarizer from "./summarize/EchoSummarizer.js"
export * as Prompt from "./summarize/Prompt.js"
export * as InContext from "./summarize/InContext.js"

export * as MemoryLayers from "./MemoryLayers.js"

export * as FullTextIndex from "./recall/FullTextIndex.js"
export * as Embedder from "./recall/Embedder.js"
export * as Reranker from "./Reranker.js"
export { VectorIndex } from "@memfold/log"
export * as Recall from "./recall/index.js"
export * as Search from "./Search.js"

export { whyIdle, type CompactionOutcome, type IdleOutcome } from "./shell/CompactionOutcome.js"
export type { Budget, BudgetOutcome } from "./shell/waitForBudget.js"
export type { HookDecision, Hooks, PlannedCompaction } from "./shell/Hooks.js"
export type { SubscribeOptions } from "./shell/subscribe.js"
export { UnknownSummary } from "./history/revert.js"
export { IdempotencyKeyReused, OwnerMismatch, VersionMismatch } from "./memory/appendMessages.js"
export { CannotRedact, type MessageName, UnknownMessage } from "./history/redact.js"
export { CannotFork } from "./history/fork.js"
export { sleepUntil } from "@memfold/log"
export * as Metrics from "./Metrics.js"

export * as Dispatcher from "./Dispatcher.js"

export * as Render from "./Render.js"

export * as Memory from "./Memory.js"

export * as Audit from "./Audit.js"
export * as Verify from "./Verify.js"
export * as Repair from "./verify/repair.js"
export { orphans } from "./verify/orphans.js"
