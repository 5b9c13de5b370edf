import { Cause, Effect, Option, Predicate } from "effect"
import * as metrics from "./metrics.js"

/** Nobody waits for what goes wrong in the background: it is logged and counted, and the messages stay raw. */
export const couldNotRun =
  (session: string) =>
  (cause: Cause.Cause<unknown>): Effect.Effect<void> =>
    Effect.zipRight(
      metrics.count(metrics.backgroundFailures, {
        kind: Option.match(Cause.failureOption(cause), {
          onNone: () => "defect",
          onSome: (error) => (Predicate.hasProperty(error, "_tag") ? String(error._tag) : "error"),
        }),
      }),
      Effect.logError("a compaction could not run").pipe(
        Effect.annotateLogs({
          session,
          // What was thrown may quote anything; typed errors have no words of a conversation.
          why: Option.match(Cause.failureOption(cause), {
            onNone: () => "it threw",
            onSome: (error) => (error instanceof Error ? error.message : "it failed"),
          }),
        }),
      ),
    )
