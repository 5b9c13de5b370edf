import { Effect, Exit, Option, Schema, Stream } from "effect"
import { Fact, FactEnded, type FactsLearned, FoundBy } from "../event/Event.js"
import { logError, warn } from "../observe/logs.js"
import type { Strategy } from "../policy/Strategy.js"
import type { Context } from "../render/Render.js"
import type { SessionError, Sessions } from "./Sessions.js"
import { isOnBranch } from "../session/branches.js"
import { type SessionState, tokensBetween } from "../session/SessionState.js"
import { isCapReached, noSpend, type Spend } from "./Spend.js"
import { marginOf, type Service as TokenCounter } from "@memfold/message/TokenCounter"
import {
  type CompletedTurns,
  type Learned,
  type MessagePlace,
  originOf,
  turnsToLearn,
  type Service as MemoryLayers,
} from "../layers/MemoryLayers.js"
import { describeFailure } from "../layers/describeFailure.js"

/** A layer that returns an invalid fact has failed: it could not be stored. */
const FactsOfLayer = Schema.Struct({
  facts: Schema.Array(Fact),
  ended: Schema.optional(Schema.Array(FactEnded)),
  refused: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.NonNegativeInt })),
  by: Schema.optional(FoundBy),
  usage: Schema.optional(Schema.Struct({ input: Schema.Number, output: Schema.Number })),
})

/** How long the layers may take. Compactions wait for them, since they may cover the same turns. */
const timeout = "2 minutes"

/** Whether the messages of a range are in a later state as they were. */
const untouched = (
  before: SessionState,
  now: SessionState,
  { from, to }: Pick<CompletedTurns, "from" | "to">,
): boolean => before.uncovered.slice(from, to).every((entry) => entry === now.uncovered.at(entry.index))

const redactedBetween = (
  sessions: Sessions,
  session: string,
  after: number,
  toVersion: number,
): Effect.Effect<ReadonlyArray<MessagePlace>, SessionError> =>
  sessions.events(session, { fromVersion: after + 1, toVersion }).pipe(
    Stream.filterMap(({ event }) =>
      event._tag === "MessageRedacted" ? Option.some(event.version) : Option.none(),
    ),
    Stream.flatMap((version) => sessions.events(session, { fromVersion: version, toVersion: version })),
    Stream.filterMap(({ event, version }) =>
      event._tag === "MessageAppended" ? Option.some({ index: event.index, version }) : Option.none(),
    ),
    Stream.runCollect,
    Effect.map((places) => [...places]),
  )

export interface LearningParts {
  readonly sessions: Sessions
  readonly counter: TokenCounter
  readonly spend: Spend
  /** The context of a session, for extractors that ask at its end. */
  readonly contextOf?: (state: SessionState, strategy: Strategy) => Effect.Effect<Pick<Context, "messages">>
}

/** The most tokens that a model writes for some turns. */
const mostWritten = 1_000

/** What the prompt of an extractor says besides the turns and the facts, in tokens. */
const promptTokens = 600

/** What is learned from turns, as a call that costs something. */
export const charged = <E extends Error>(
  { counter, spend }: LearningParts,
  turns: CompletedTurns,
  learned: Effect.Effect<Learned, E>,
): Effect.Effect<Learned, Error> => {
  const run = learned.pipe(Effect.flatMap(Schema.validate(FactsOfLayer)), Effect.timeout(timeout))
  const tokensOf = (facts: ReadonlyArray<Pick<Fact, "text">>): number =>
    facts.reduce((sum, { text }) => sum + counter.count(text), 0)
  const read = tokensBetween(turns.state, turns.from, turns.to) + tokensOf(turns.state.facts) + promptTokens
  const input = Math.ceil(read * marginOf(counter))
  return spend.charge(
    turns.state.session,
    { part: "extractor", most: { input, output: mostWritten }, run },
    Exit.match({
      // Nobody knows what a model wrote before the layers failed.
      onFailure: () => ({ input, output: mostWritten }),
      onSuccess: ({ facts, usage }) => usage ?? { input, output: tokensOf(facts) },
    }),
  )
}

const askLayers = (parts: LearningParts, layers: MemoryLayers, turns: CompletedTurns) =>
  charged(
    layers.isFree === true ? { ...parts, spend: noSpend } : parts,
    turns,
    Effect.suspend(() => layers.learn(turns)),
  )

/**
 * Learns facts from the turns that have ended since the last time, and returns how that ended. When the layers
 * fail, the turns are tried again together with the next one, as long as their messages are uncovered; when a cap of the spend is
 * reached (`waits`), they are tried again when something looks at the session.
 *
 * The facts are thrown away and learned again when another process has learned from some of the turns meanwhile, since
 * no turn is learned from twice, and when one of their messages was redacted (law L15).
 */
export const learnFacts = (
  parts: LearningParts,
  layers: MemoryLayers,
  session: string,
  strategy?: Strategy,
): Effect.Effect<"learned" | "failed" | "waits", SessionError> =>
  Effect.gen(function* () {
    const { sessions } = parts
    const state = yield* sessions.load(session)
    const range = turnsToLearn(state)
    if (range === null) return "learned"
    const messages = state.uncovered.slice(range.from, range.to).map(({ message }) => message)
    const last = state.uncovered.at(range.to - 1)
    const context =
      strategy === undefined || parts.contextOf === undefined
        ? {}
        : { context: Effect.map(parts.contextOf(state, strategy), (context) => context.messages) }
    const found = yield* askLayers(parts, layers, { state, ...range, messages, ...context }).pipe(
      Effect.catchAllCause((cause) =>
        isCapReached(cause)
          ? Effect.succeed("waits" as const)
          : Effect.as(
              warn("no facts were learned from a turn", { session, why: describeFailure(cause) }),
              "failed" as const,
            ),
      ),
    )
    if (typeof found === "string") return found
    const known = found.facts.map((fact) => ({
      ...fact,
      origin: fact.origin ?? originOf({ from: range.from, messages }, fact),
    }))
    const { ended = [], refused, by } = found
    const learned: FactsLearned = {
      _tag: "FactsLearned",
      ...range,
      facts: known,
      ...(refused === undefined || Object.keys(refused).length === 0 ? {} : { refused }),
      ...(by === undefined ? {} : { by }),
    }
    let checked: number | null = null
    for (;;) {
      const { answer, state: now } = yield* sessions.transact(session, (now) => {
        const nothing = (why: "gone" | "overtaken" | "touched") => ({ events: [], answer: why })
        // The session was cleared, or deleted and started again: these turns are gone.
        if (now.clears !== state.clears || now.startTime !== state.startTime) return nothing("gone")
        // The conversation goes on from an earlier place.
        if (!isOnBranch(now.gaps, last?.version ?? 0)) return nothing("gone")
        if (now.version !== checked && !untouched(state, now, range)) return nothing("touched")
        if (now.learnedTo > state.learnedTo) return nothing("overtaken")
        return { events: [learned, ...ended], answer: "learned" as const }
      })
      if (answer === "overtaken") return yield* learnFacts(parts, layers, session, strategy)
      if (answer !== "touched") return "learned"
      const redacted = (yield* redactedBetween(sessions, session, state.version, now.version)).filter(
        ({ index }) => range.from <= index && index < range.to,
      )
      if (redacted.length > 0) {
        yield* Effect.forEach(redacted, (place) => layers.forgetMessage(state, place)).pipe(
          Effect.catchAllCause((cause) =>
            logError("facts learned from a redacted message could not be erased", {
              session,
              why: describeFailure(cause),
            }),
          ),
        )
        return yield* learnFacts(parts, layers, session, strategy)
      }
      // The messages were compacted, pruned or loaded again. The facts are still right.
      checked = now.version
    }
  })
