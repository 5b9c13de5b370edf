/** How patient compactions are. */
import type { Duration } from "effect"

/** The settings of the protocol. They affect how soon a compaction succeeds, never its correctness. */
export interface CompactionSettings {
  /** How long one call of the summarizer may take; 2 minutes by default. */
  readonly summarizerTimeout: Duration.DurationInput
  /** How often a failed call is retried, with growing pauses; twice by default. */
  readonly summarizerRetries: number
  /**
   * How long a compaction owns the session's lock without a sign of life; then others may take over. It is renewed after
   * each half of this time while the compaction is at work. 30 seconds by default; more than 0, at most an hour.
   */
  readonly lease: Duration.DurationInput
  /** The pause after a failed compaction; 1 minute by default. It doubles with each further failure, up to an hour. */
  readonly backOff: Duration.DurationInput
}
