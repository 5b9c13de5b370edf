/**
 * The port of the memory layers beside the session's own messages (reference design 2): what is known of the user,
 * and of the scope the session belongs to. After each round, facts are learned from it; into each context, the ones
 * that matter to the current message are recalled.
 *
 * Nothing that goes wrong here loses a message, or makes an append or a context fail (law L8). An implementation
 * that keeps facts as events is in `@memfold/layers`.
 */
import { Context, type Effect, Schema } from "effect"
import type { Fact } from "../event/Event.js"
import type { Message } from "../message/Message.js"
import type { KnownFact, SessionState } from "../session/SessionState.js"

/** Rounds that have ended and have not been looked through yet: the messages in `[from, to)`. */
export interface Rounds {
  readonly state: SessionState
  readonly from: number
  readonly to: number
  readonly messages: ReadonlyArray<Message>
}

/** What to recall for: a session as it is, and the message that is to be answered, if there is one. */
export interface Query {
  readonly state: SessionState
  readonly current: Message | null
  /** For a context of the past: nothing that was learned after this time, in milliseconds since the epoch. */
  readonly until?: number
}

/** What is known and to the point, in the order it should be read. */
export interface Recalled {
  readonly user: ReadonlyArray<KnownFact>
  readonly scope: ReadonlyArray<KnownFact>
}

/** A layer could not do its work. The text never contains what was said in the conversation. */
export class LayersError extends Schema.TaggedError<LayersError>()("LayersError", {
  session: Schema.String,
  operation: Schema.Literal("learn", "recall", "facts", "retire", "forget"),
  detail: Schema.String,
}) {
  override get message(): string {
    return `The memory layers failed at ${this.operation} for session "${this.session}": ${this.detail}`
  }
}

export interface Service {
  /**
   * Learns from rounds, and answers with the facts that belong in the session's own log; what belongs elsewhere it
   * has put there itself. It may be called again for the same rounds when an answer was lost.
   */
  readonly learn: (rounds: Rounds) => Effect.Effect<ReadonlyArray<Fact>, LayersError>
  readonly recall: (query: Query) => Effect.Effect<Recalled, LayersError>
  /** Every fact in force for a session, of both layers. */
  readonly facts: (state: SessionState) => Effect.Effect<ReadonlyArray<KnownFact>, LayersError>
  /** Takes a fact out of force; `false` if no such fact is in force for the session. */
  readonly retire: (
    state: SessionState,
    fact: { readonly id: string; readonly reason: string },
  ) => Effect.Effect<boolean, LayersError>
  /** Forgets, words and all, what was learned from a message of the session and is kept outside its log (law L15). */
  readonly forget: (state: SessionState, index: number) => Effect.Effect<void, LayersError>
}

/** The layers in use; none unless provided. */
export class MemoryLayers extends Context.Reference<MemoryLayers>()("@memfold/core/MemoryLayers", {
  defaultValue: (): Service | null => null,
}) {}

/**
 * The rounds that can be learned from: those that have ended, from where the last look ended. `null` when there is
 * nothing new, which is found in constant time. What a summary has covered meanwhile is gone from the state, so a
 * round is learned from before it is compacted, or not at all.
 */
export const due = (state: SessionState): { readonly from: number; readonly to: number } | null => {
  const { round, open } = state.structure
  if (round === null) return null
  const to = round.ended && open === null ? state.total : round.from
  const from = Math.max(state.learnedThrough, state.through)
  // What stands before the first round, a system prompt mostly, is no round.
  const first = state.compressedThroughRound === 0 ? (state.roundStarts.at(0) ?? 0) : 0
  return to > Math.max(from, first) ? { from, to } : null
}
