/**
 * The port of the memory layers: facts about the user, and about the scope that the session belongs to. Facts are learned
 * from each turn when it has ended. The facts that matter to the newest user message are recalled into each context.
 *
 * A failing layer loses no message, and fails no append and no context (law L8). `@memfold/layers` has an
 * implementation that keeps facts as events.
 */
import { Context, type Effect, Schema } from "effect"
import type { Fact, FactEnded, FoundBy } from "../event/Event.js"
import type { Message, Origin } from "@memfold/message/Message"
import { lowest, of } from "@memfold/message/Origin"
import type { SessionState } from "../session/SessionState.js"
import type { ChangedFacts } from "./factsDiff.js"
import type { FactInTime } from "./inTime.js"

/** Ended turns that nothing was learned from yet: the messages in `[from, to)`. */
export interface CompletedTurns {
  readonly state: SessionState
  readonly from: number
  readonly to: number
  readonly messages: ReadonlyArray<Message>
  /**
   * The newest context of the session, word for word as `context` gives it. It begins with what the newest call of the model was sent,
   * so its provider reads it from its prompt cache. Missing for turns that are learned from anew.
   */
  readonly context?: Effect.Effect<ReadonlyArray<Message>>
}

/** A moment of a session. Facts learned later were not known then. */
export interface Moment {
  /** In milliseconds since the epoch. */
  readonly time: number
  /** How many messages the session had; facts that it learned from later ones were not known, whatever the clock said. */
  readonly total: number
}

/** The lowest origin of the messages that something was learned from. */
export const originOf = (
  { from, messages }: Pick<CompletedTurns, "from" | "messages">,
  range: { readonly from: number; readonly to: number },
): Origin => lowest(messages.slice(range.from - from, range.to - from).map(of)) ?? "external"

/** What facts are recalled for. */
export interface Question {
  /** The message that the model has to answer; `null` if there is none. */
  readonly current: Message | null
  /** When it was asked. Facts that were not known then are left out. */
  readonly asked: Moment
  /** For the newest question: facts learned since then are not left out. */
  readonly orLater?: true
}

/**
 * The session to recall facts for, and the questions in the messages that a context shows. Facts stand where they
 * were recalled first, so the older questions are asked again for each context.
 */
export interface Query {
  readonly state: SessionState
  readonly questions: ReadonlyArray<Question>
  /** For a context of the past: leaves out facts learned after this time, in milliseconds since the epoch. */
  readonly untilTime?: number
}

/** The facts that matter to a question, each list in reading order. */
export interface Recalled {
  readonly user: ReadonlyArray<FactInTime>
  readonly scope: ReadonlyArray<FactInTime>
}

/** An operation of the memory layers failed. The text never quotes the conversation. */
export class LayersError extends Schema.TaggedError<LayersError>()("LayersError", {
  session: Schema.String,
  operation: Schema.Literal("learn", "recall", "facts", "change", "forget", "rebuild"),
  detail: Schema.String,
}) {
  override get message(): string {
    return `The memory layers failed at ${this.operation} for session "${this.session}": ${this.detail}`
  }
}

/**
 * What was learned from turns.
 *
 * - `facts`, `ended`: the facts that belong in the session's own log, and the ends of such; a fact without an `origin` gets the one of
 *   its messages
 * - `refused`: how many facts were not taken, by why, see `Refusal`
 * - `by`: what has found them
 * - `usage`: the tokens that a model has read and written, if that is known
 */
export interface Learned {
  readonly facts: ReadonlyArray<Fact>
  readonly ended?: ReadonlyArray<FactEnded> | undefined
  readonly refused?: Readonly<Record<string, number>> | undefined
  readonly by?: FoundBy | undefined
  readonly usage?: { readonly input: number; readonly output: number } | undefined
}

/**
 * Which facts are asked for.
 *
 * - `at`: those that are true in the world at this time, in milliseconds since the epoch; `null` for all, those that are no longer true
 *   as well. Now by default
 * - `untilTime`: as they were known at this time
 */
export interface FactsQuery {
  readonly at?: number | null | undefined
  readonly untilTime?: number | undefined
}

/**
 * A change of a fact.
 *
 * - `ended`: it was true until `until` (milliseconds since the epoch), now by default
 * - `retracted`: it was never true
 * - `redacted`: it must not be known, and is erased
 * - `confirmed`: somebody has judged that it is true
 * - `reverted`: its newest end or retraction is taken back
 */
export interface FactChange {
  readonly fact: string
  readonly as: "ended" | "retracted" | "redacted" | "confirmed" | "reverted"
  readonly until?: number | undefined
  readonly reason: string
}

/** Any extractor of facts: what memory layers take as one. */
export interface AnyExtractor {
  readonly name: string
  readonly version?: string | undefined
  readonly extract: (material: never) => unknown
}

/**
 * What would become of the facts of an owner if what was learned anew were taken.
 *
 * - `by`: the extractor that has learned it
 * - `refused`: how many facts it found that were not taken, by why
 */
export interface FactsDiff extends ChangedFacts {
  readonly by: FoundBy
  readonly refused: Readonly<Record<string, number>>
}

/**
 * Facts that are learned anew, beside those in force. They are kept in the log that has the facts about the user: `home`, see `logOf`, or
 * a session that has its own.
 */
export interface Rebuilding {
  /**
   * Learns from all turns of sessions that were learned from, with an extractor or that of the layers. It takes the place of what was
   * learned anew before. `charged` runs what costs something.
   */
  readonly learn: (
    home: string,
    sessions: ReadonlyArray<string>,
    options: {
      readonly extractor?: AnyExtractor | undefined
      readonly charged: (
        turns: CompletedTurns,
        run: Effect.Effect<Learned, LayersError>,
      ) => Effect.Effect<Learned, LayersError>
    },
  ) => Effect.Effect<FactsDiff, LayersError>
  /** What was learned anew; `null` if nothing was, or it was taken or dropped. */
  readonly diff: (home: string) => Effect.Effect<FactsDiff | null, LayersError>
  /** Puts it in the place of the facts in force, or drops it; `false` if there is none. Taking that was cut off goes on where it was. */
  readonly end: (home: string, as: "taken" | "dropped") => Effect.Effect<boolean, LayersError>
}

/** A message: its index, and the version of the event that appended it. */
export interface MessagePlace {
  readonly index: number
  readonly version: number
}

/** An implementation of memory layers. */
export interface Service {
  /** Whether learning costs nothing, so that `spend` does not count it; `false` by default. */
  readonly isFree?: boolean
  /** Whether turns are learned from in batches, when they are about to be compacted; `false` by default: as soon as they have ended. */
  readonly inBatches?: boolean
  /** Learns from turns. What belongs elsewhere, it stores itself. It may be called again for the same turns, when an earlier result was lost. */
  readonly learn: (turns: CompletedTurns) => Effect.Effect<Learned, LayersError>
  /**
   * The facts that matter to each question, in the order of the questions. As long as the same facts are active, an older
   * question must always get the same facts: otherwise contexts change where a provider has them in its prompt cache.
   */
  readonly recall: (query: Query) => Effect.Effect<ReadonlyArray<Recalled>, LayersError>
  /** The facts of a session, of both layers. */
  readonly facts: (
    state: SessionState,
    query?: FactsQuery,
  ) => Effect.Effect<ReadonlyArray<FactInTime>, LayersError>
  /** Changes a fact; `false` if the session has no such fact, or there is nothing to change. */
  readonly change: (state: SessionState, change: FactChange) => Effect.Effect<boolean, LayersError>
  /**
   * Deletes the facts learned from a message that are kept outside the session's log, just before the message is redacted there, and
   * lets nobody write such facts who has read the message already. After a redaction, the text must not be in any fact (law L15).
   */
  readonly forgetMessage: (state: SessionState, place: MessagePlace) => Effect.Effect<void, LayersError>
  /** The id of the log that has the facts about a user, outside the logs of the user's sessions; `null` if there is none. */
  readonly logOf: (user: string) => string | null
  /** Learning anew; absent if these layers cannot. */
  readonly rebuilding?: Rebuilding
  /**
   * Deletes the facts learned in sessions that are kept outside their logs: nothing of an owner may stay. `owners` are others, to whom
   * sessions have passed: facts about them may rest on words from before.
   */
  readonly forgetSessions: (
    sessions: ReadonlySet<string>,
    owners?: ReadonlySet<string>,
  ) => Effect.Effect<void, LayersError>
}

/**
 * The memory layers in use. The default is `null`: no layers.
 *
 * @example
 * ```ts
 * import { MemoryLayers } from "@memfold/core"
 * import { Layer } from "effect"
 *
 * declare const mine: MemoryLayers.Service
 *
 * export const layers = Layer.succeed(MemoryLayers.MemoryLayers, mine)
 * ```
 */
export class MemoryLayers extends Context.Reference<MemoryLayers>()("@memfold/core/MemoryLayers", {
  defaultValue: (): Service | null => null,
}) {}

/**
 * The turns to learn from: all turns that have ended since facts were last learned. `null` if there are none; this check
 * takes constant time. The state no longer has the messages that a summary covers, so a turn is learned from before it is
 * compacted, or not at all.
 */
export const turnsToLearn = (state: SessionState): { readonly from: number; readonly to: number } | null => {
  const { turn, open } = state.structure
  if (turn === null) return null
  const to = turn.ended && open === null ? state.total : turn.from
  const from = Math.max(state.learnedTo, state.coveredTo)
  // Messages before the first turn, mostly a system prompt, are no turn.
  const first = state.compressedThroughRound === 0 ? (state.turnStarts.at(0) ?? 0) : 0
  return to > Math.max(from, first) ? { from, to } : null
}
