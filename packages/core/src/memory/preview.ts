/** What `compact` would do: a plan, the summary it would write, and the contexts before and behind it. Nothing is written. */
import { Clock, Effect, Stream } from "effect"
import { recordedAfter } from "../event/EventCodec.js"
import { takenBack, withContinuations } from "../history/revert.js"
import { span } from "../observe/spans.js"
import type { Context } from "../render/Render.js"
import type { SessionState } from "../session/SessionState.js"
import type { IdleOutcome } from "../shell/CompactionOutcome.js"
import type { PreviewedCompaction } from "../shell/previewCompactions.js"
import { replay } from "../shell/replay.js"
import { retryTransient } from "../shell/retry.js"
import type { SessionError } from "../shell/Sessions.js"
import type { Service as Summarizer } from "../summarize/Summarizer.js"
import { checkRequest } from "./compact.js"
import type { MemoryParts } from "./MemoryParts.js"
import type { MemoryError, StrategyOptions } from "./MemoryOptions.js"
import { refuse } from "./input.js"
import { contextNow } from "./plainContext.js"
import { readState } from "./readState.js"
import { isSummarizer } from "./options.js"

export type { PreviewedCompaction, Replaced } from "../shell/previewCompactions.js"

/** Which compactions are previewed. */
export interface PreviewOptions extends StrategyOptions {
  /**
   * - `next` (default): one compaction, whatever the trigger says
   * - `due`: every compaction that is due
   * - `all`: all compactions anew from the messages, as if every earlier one had been taken back
   */
  readonly which?: "next" | "due" | "all"
  /** Instructions for the summarizer; only for `next`. */
  readonly instructions?: string | undefined
  /** As if the lock of a compaction that runs were taken; only for `next`. */
  readonly takeOver?: boolean | undefined
  /**
   * Writes the summaries of the preview, instead of the memory's summarizer. A model costs what it costs, and writes another text
   * when the compaction runs; the extractive summarizer costs nothing.
   */
  readonly summarizer?: Summarizer | undefined
}

/** What `compact` would do. */
export interface Preview {
  /** The version of the session that the preview is for. */
  readonly version: number
  readonly strategy: string
  /** The name of the summarizer that has written the summaries of the preview. */
  readonly summarizer: string
  /** The compactions that would run, in their order; none if nothing would be done. */
  readonly compactions: ReadonlyArray<PreviewedCompaction>
  /** Why nothing would be done, or nothing more; `null` behind the one compaction of `next`, and behind a failed one. */
  readonly idle: IdleOutcome["reason"] | null
  /** What the model gets now, rendered by the strategy of the preview. */
  readonly before: Context
  /** What the model would get behind these compactions. */
  readonly after: Context
}

/** The newest state, as if every compaction had been taken back. */
const withoutCompactions = (
  { sessions }: MemoryParts,
  session: string,
): Effect.Effect<SessionState, SessionError> =>
  Effect.gen(function* () {
    for (;;) {
      const state = yield* sessions.load(session)
      // Where nothing was ever committed, paused or left, the log need not be read.
      const isUntouched = state.totalAtCommit === 0 && state.running === null && state.branches.length === 0
      if (isUntouched && state.pausedUntil <= state.total) return state
      const { commits, left, version } = yield* sessions.history(session)
      // Another writer came in between.
      if (version !== state.version) continue
      const time = yield* Clock.currentTimeMillis
      const gone = takenBack(state, withContinuations(commits, left), { reason: "recompacted", pauseFor: 0 })
      if (gone.length === 0) return state
      const events = recordedAfter(
        state,
        "preview",
        gone.map((event) => ({ time, event })),
      )
      const read = () =>
        Stream.concat(sessions.events(session, { toVersion: version }), Stream.fromIterable(events))
      const replayed = yield* retryTransient(replay(session, read, { start: () => null, step: () => null }))
      return replayed.state
    }
  })

/** Previews compactions. It reads, and calls the summarizer; it appends nothing. */
export const previewOf = (
  parts: MemoryParts,
  session: string,
  request: PreviewOptions = {},
): Effect.Effect<Preview, MemoryError> =>
  Effect.gen(function* () {
    const { which = "next", instructions, takeOver, summarizer } = request
    const now = yield* readState(parts.sessions, session)
    const strategy = yield* parts.strategyOf(session, request)
    yield* checkRequest(session, request)
    if (summarizer !== undefined && !isSummarizer(summarizer))
      return yield* refuse(session, '"summarizer" must have a name and a function summarize')
    const start = which === "all" ? yield* withoutCompactions(parts, session) : now
    const { compactions, state, idle } = yield* parts.schedule.preview(start, {
      strategy,
      onDemand: which === "next",
      instructions,
      takeOver,
      summarizer,
    })
    return {
      version: now.version,
      strategy: strategy.name,
      summarizer: (summarizer ?? parts.summarizer).name,
      compactions,
      idle,
      before: yield* contextNow(parts, now, strategy),
      after: yield* contextNow(parts, state, strategy),
    }
  }).pipe(parts.previews, span("memfold.preview", { session }))
