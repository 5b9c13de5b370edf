import { Cause, Effect, Option, Predicate } from "effect"
import { logError } from "../observe/logs.js"
import * as metrics from "../observe/metrics.js"

/** The message of a typed error. Of a defect, it only says that something threw: a thrown value may quote anything. */
export const whyFailed = (cause: Cause.Cause<unknown>): string =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => "it threw",
    onSome: (error) => (error instanceof Error ? error.message : "it failed"),
  })

/**
 * Logs and counts a failure of background work, since no caller waits for it. The messages stay uncovered.
 *
 * The log has the message of a typed error, which never quotes a conversation.
 */
export const logBackgroundFailure =
  (session: string) =>
  (cause: Cause.Cause<unknown>): Effect.Effect<void> =>
    Effect.zipRight(
      metrics.count(metrics.backgroundFailures, {
        kind: Option.match(Cause.failureOption(cause), {
          onNone: () => "defect",
          onSome: (error) => (Predicate.hasProperty(error, "_tag") ? String(error._tag) : "error"),
        }),
      }),
      logError("a compaction could not run", { session, why: whyFailed(cause) }),
    )

/** Logs the failures of what runs beside an operation and must not fail it. Interruption passes. */
export const logFailures =
  (session: string) =>
  <E>(effect: Effect.Effect<void, E>): Effect.Effect<void> =>
    Effect.catchAllCause(effect, (cause) =>
      Cause.isInterruptedOnly(cause) ? Effect.interrupt : logBackgroundFailure(session)(cause),
    )
