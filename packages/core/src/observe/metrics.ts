/**
 * Counters and timers of the engine. They cost next to nothing until somebody reads them: add a layer that exports
 * Effect's metrics (OpenTelemetry, Prometheus), and they are there. No metric carries a session's id or any text.
 */
import { type Effect, Metric, MetricBoundaries, MetricLabel } from "effect"

/** 1 ms to about a minute, each bound twice the one before. */
const milliseconds = MetricBoundaries.exponential({ start: 1, factor: 2, count: 17 })

/** Messages that became durable. */
export const messagesAppended = Metric.counter("memfold_messages_appended", {
  description: "Messages that became durable",
  incremental: true,
})

/** Appends that were answered from an earlier one with the same commit id. */
export const duplicateAppends = Metric.counter("memfold_appends_duplicate", {
  description: "Appends with a commit id that had been applied before",
  incremental: true,
})

/** How long an append took, in milliseconds, compactions that ran inline included. */
export const appendDuration = Metric.histogram("memfold_append_ms", milliseconds)

/** Compactions by how they ended (`outcome`), by `strategy`, and by `reason`: why they began, or why they failed. */
export const compactions = Metric.counter("memfold_compactions", {
  description: "Compactions by how they ended",
  incremental: true,
})

/** How long a compaction took from its start to its commit or failure, in milliseconds. */
export const compactionDuration = Metric.histogram("memfold_compaction_ms", milliseconds)

/** Calls of summarizers, failed ones included. */
export const summarizerCalls = Metric.counter("memfold_summarizer_calls", {
  description: "Calls of summarizers",
  incremental: true,
})

/** Failed calls of summarizers, by `reason`. */
export const summarizerFailures = Metric.counter("memfold_summarizer_failures", {
  description: "Failed calls of summarizers",
  incremental: true,
})

/** Tokens that contexts became smaller by. */
export const tokensSaved = Metric.counter("memfold_tokens_saved", {
  description: "Tokens that compactions took out of contexts",
  incremental: true,
})

/** Tokens of contexts as they were rendered. */
export const contextTokens = Metric.histogram(
  "memfold_context_tokens",
  MetricBoundaries.exponential({ start: 128, factor: 2, count: 14 }),
)

/** What went wrong in the background, by `kind`: nobody was there to be told. */
export const backgroundFailures = Metric.counter("memfold_background_failures", {
  description: "Background work that could not be done",
  incremental: true,
})

/** Decisions of a shadow strategy, by whether the acting one decided alike (`agrees`). */
export const shadowDecisions = Metric.counter("memfold_shadow_decisions", {
  description: "Decisions of the shadow strategy",
  incremental: true,
})

/** Counts one, under labels. */
export const count = (
  counter: Metric.Metric.Counter<number>,
  labels: Readonly<Record<string, string>> = {},
): Effect.Effect<void> =>
  Metric.increment(
    Metric.taggedWithLabels(
      counter,
      Object.entries(labels).map(([name, value]) => MetricLabel.make(name, value)),
    ) as Metric.Metric.Counter<number>,
  )
