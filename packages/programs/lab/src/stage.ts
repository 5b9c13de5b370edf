/** Where a conversation is replayed: in a memory over a log of its own, or, where nothing has to be stored, on states alone. */
import {
  type CompactionOutcome,
  type EventLog,
  FullTextIndex,
  InMemoryEventLog,
  Memory,
  MemoryLayers,
  Message,
  Recall,
  type Render,
  type Session,
  type Strategy,
  Summarizer,
  TokenCounter,
} from "@memfold/core"
import { Clock, Effect, Layer, type Scope } from "effect"

/** Makes memory layers over the log of a replay, as `make` of `@memfold/layers` does. */
export type MakeLayers = Effect.Effect<MemoryLayers.Service, never, EventLog.EventLog>

/** The session that is replayed. It compacts when it is asked to. */
export interface Stage {
  readonly state: Effect.Effect<Session.SessionState, Error>
  readonly append: (
    message: Message.Message,
    prefix?: Render.Context["prefix"],
  ) => Effect.Effect<unknown, Error>
  readonly compactDue: Effect.Effect<ReadonlyArray<CompactionOutcome>, Error>
  readonly context: Effect.Effect<Render.Context, Error>
  /** The context that a question would be answered from, without the question. */
  readonly contextFor: (question: string, name: string) => Effect.Effect<Render.Context, Error>
}

export interface StageParts {
  readonly strategy: Strategy.Strategy
  readonly summarizer: Summarizer.Service
  /** The tokens that each context recalls by itself, from 1; without it, none. */
  readonly automaticRecall?: number | undefined
  readonly layers?: MakeLayers | undefined
}

/** The session has this name. Its forks have other names. */
const session = "s"

/**
 * A full-text index of the session that answers for its forks as well: they have its messages, in the same places, and only
 * what was said before the question is searched. Otherwise, it would be built again for each fork.
 */
const indexForForks = (): FullTextIndex.Service => {
  const index = Recall.inProcess()
  let own: FullTextIndex.Source | null = null
  return {
    lookUp: (source, lookup) => {
      if (source.session === session) own = source
      return index.lookUp(own ?? source, lookup)
    },
    forget: () => Effect.void,
  }
}

const inMemory = ({ strategy, summarizer, automaticRecall, layers }: StageParts) => {
  const recall = automaticRecall === undefined ? {} : { recall: { tokens: automaticRecall } }
  return Effect.map(Memory.make({ strategy, compaction: { mode: "manual" } }), (memory): Stage => ({
    state: memory.state(session),
    append: (message, prefix) => memory.append(session, message, prefix === undefined ? {} : { prefix }),
    compactDue: memory.compact(session, { which: "due" }),
    context: memory.context(session, recall),
    // In a fork, the question is the newest message: automatic recall searches with it.
    contextFor: (question, name) =>
      Effect.gen(function* () {
        const fork = `${session}-${name}`
        yield* memory.fork(session, fork)
        yield* memory.append(fork, Message.user(question, { time: yield* Clock.currentTimeMillis }))
        const context = yield* memory.context(fork, recall)
        yield* memory.delete(fork)
        const newest = context.messages.length - 1
        return {
          ...context,
          messages: context.messages.slice(0, newest),
          sources: context.sources.slice(0, newest),
          tokens: context.tokens - TokenCounter.ofMessage(TokenCounter.estimating, context.messages[newest]!),
        }
      }),
  })).pipe(
    Effect.provide(layers === undefined ? Layer.empty : Layer.effect(MemoryLayers.MemoryLayers, layers)),
    Effect.provide(Layer.sync(FullTextIndex.FullTextIndex, indexForForks)),
    Effect.provideService(Summarizer.Summarizer, summarizer),
  )
}

/** Makes a stage. Facts and recall need a log; all else is rehearsed without one, in a fraction of the time. */
export const makeStage = (parts: StageParts): Effect.Effect<Stage, never, Scope.Scope> => {
  const { strategy, summarizer, automaticRecall, layers } = parts
  const made: Effect.Effect<Stage, never, EventLog.EventLog | Scope.Scope> =
    automaticRecall !== undefined || layers !== undefined
      ? inMemory(parts)
      : Memory.rehearse(session, { strategy }).pipe(
          Effect.map((rehearsal): Stage => ({ ...rehearsal, contextFor: () => rehearsal.context })),
          Effect.provideService(Summarizer.Summarizer, summarizer),
        )
  return Effect.provide(made, InMemoryEventLog.layer)
}
