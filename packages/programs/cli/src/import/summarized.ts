import {
  SummaryMode,
  InMemoryEventLog,
  Memory,
  type Message,
  Strategy,
  Summarizer,
  Trigger,
} from "@memfold/core"
import { Effect } from "effect"

/** A summary that was written now, or the reason why there is none. */
export type Summarized =
  | { readonly _tag: "Written"; readonly text: string; readonly calls: number }
  | { readonly _tag: "Raw"; readonly why: string }

/**
 * Summarizes the messages `[0, to)` with one compaction in a temporary memory: with chunks and retries, and without a
 * result that is empty or not smaller. `messages` must reach far enough that `to` is a boundary.
 */
export const summarized = (
  messages: ReadonlyArray<Message.Message>,
  to: number,
  { session, summarizer }: { readonly session: string; readonly summarizer: Summarizer.Service },
): Effect.Effect<Summarized, Memory.MemoryError> =>
  Effect.gen(function* () {
    const strategy = Strategy.make({
      name: "import",
      when: Trigger.never,
      keep: { describe: `the messages from ${to} on`, from: () => to },
      summaryMode: SummaryMode.rolling,
    })
    const memory = yield* Memory.make({ strategy, compaction: { mode: "manual" } }).pipe(
      Effect.provideService(Summarizer.Summarizer, summarizer),
    )
    yield* Effect.catchTags(memory.append(session, messages), {
      IdempotencyKeyReused: Effect.die,
      GuardRefused: Effect.die,
      OwnerMismatch: Effect.die,
      VersionMismatch: Effect.die,
    })
    const outcome = yield* memory.compact(session)
    switch (outcome._tag) {
      case "Committed": {
        const { segments, calls } = outcome.committed
        return { _tag: "Written", text: segments.map(({ text }) => text).join("\n\n"), calls } as const
      }
      case "Failed":
        return {
          _tag: "Raw",
          why: `the summarizer failed (${outcome.error.reason}): ${outcome.error.detail}`,
        } as const
      case "Idle":
      case "Lost":
      case "Pruned":
        return { _tag: "Raw", why: "there was nothing to summarize" } as const
    }
  }).pipe(Effect.scoped, Effect.provide(InMemoryEventLog.layer))
