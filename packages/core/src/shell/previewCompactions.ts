/**
 * What compactions would do to a state: the steps of a compaction, on states that are written nowhere. The summarizer is called as
 * for a compaction, so that what a preview shows is what a compaction would write.
 */
import { Clock, Duration, Effect, Either } from "effect"
import { breathe } from "@memfold/log/breathe"
import { begin, commit, fail, invalidateDamaged } from "../engine/compaction.js"
import { stateAfter } from "../engine/goBack.js"
import type { Strategy } from "../policy/Strategy.js"
import { type SessionState, withoutPinned } from "../session/SessionState.js"
import type { Segment } from "../summary/Summary.js"
import type { CompactionOutcome, IdleOutcome } from "./CompactionOutcome.js"
import { type CompactionParts, dueFor, endOf } from "./runCompaction.js"
import { writeSummary } from "./writeSummary.js"

/** What a compaction would replace. */
export interface Replaced {
  /** How many messages its summary takes the place of; pinned messages stay. */
  readonly messages: number
  /** The tokens of these messages. */
  readonly tokens: number
  /** The segments of the earlier summary whose texts are merged into the new one. */
  readonly segments: ReadonlyArray<Segment>
}

/** A compaction that would run. */
export interface PreviewedCompaction {
  /** How it would end. Its ids belong to the preview: a real compaction has others. */
  readonly outcome: Extract<CompactionOutcome, { readonly _tag: "Committed" | "Pruned" | "Failed" }>
  readonly replaced: Replaced
}

/** Compactions that would run, the state behind them, and why no other one would; `null` if only one was asked for. */
export interface PreviewedCompactions {
  readonly compactions: ReadonlyArray<PreviewedCompaction>
  readonly state: SessionState
  readonly idle: IdleOutcome["reason"] | null
}

export interface PreviewRequest {
  readonly strategy: Strategy
  /** One compaction, whether it is due or not; or all that are due. */
  readonly onDemand: boolean
  readonly instructions?: string | undefined
  readonly takeOver?: boolean | undefined
}

export const previewCompactions = (
  parts: Omit<CompactionParts, "sessions" | "hooks">,
  start: SessionState,
  { strategy, onDemand, instructions, takeOver }: PreviewRequest,
): Effect.Effect<PreviewedCompactions> =>
  Effect.gen(function* () {
    const compactions: Array<PreviewedCompaction> = []
    let state = stateAfter(start, invalidateDamaged(start), yield* Clock.currentTimeMillis)
    for (;;) {
      // Strategies without a summarizer never pause by themselves, and whoever asked may be gone.
      yield* breathe
      const now = yield* Clock.currentTimeMillis
      const due = dueFor(parts, { strategy, onDemand, takeOver }, state, now)
      if (due._tag === "Idle") return { compactions, state, idle: due.reason }
      const leaseUntil = now + Duration.toMillis(parts.settings.lease)
      // As every summary of a session, each has an id of its own, however many previews there are in a row.
      const compaction = `preview-${state.version + 1}`
      const { lock, events } = begin(state, due.plan, { compaction, strategy, leaseUntil })
      const { started, before } = lock
      const locked = stateAfter(state, events, now)
      const written = yield* Effect.either(writeSummary(parts, lock, { strategy, instructions }))
      if (Either.isLeft(written)) {
        const { reason, detail } = written.left
        const backOff = Duration.toMillis(parts.settings.backOff)
        const failure = fail(locked, started, { reason, detail, time: now, backOff })
        const replaced = { messages: 0, tokens: 0, segments: [] }
        const failed = { outcome: { _tag: "Failed", started, error: written.left }, replaced } as const
        return { compactions: [...compactions, failed], state: stateAfter(locked, failure, now), idle: null }
      }
      const { carried, coveredTo } = written.right
      yield* breathe
      const done = commit(lock, written.right, { summary: compaction, strategy, counter: parts.counter })
      const outcome = endOf(lock, done)
      yield* breathe
      state = stateAfter(locked, done.events, now)
      if (outcome === null) return { compactions, state, idle: "nothing-to-take" }
      const covered =
        outcome._tag === "Pruned" ? [] : withoutPinned(before.uncovered.slice(started.from, coveredTo))
      compactions.push({
        outcome,
        replaced: {
          messages: covered.length,
          tokens: covered.reduce((sum, { tokens }) => sum + tokens, 0),
          segments: outcome._tag === "Pruned" ? [] : (before.summary?.segments.slice(carried) ?? []),
        },
      })
      if (onDemand) return { compactions, state, idle: null }
    }
  })
