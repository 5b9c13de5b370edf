import { Effect, Option, Schema, Stream } from "effect"
import { Fact, type FactsLearned } from "../event/Event.js"
import type { SessionError, Sessions } from "../session/Sessions.js"
import type { SessionState } from "../session/SessionState.js"
import { due, type Service as MemoryLayers } from "./MemoryLayers.js"
import { whyOf } from "./whyOf.js"

/** What is no fact could not be written down: a layer that says such a thing has failed. */
const checkFacts = Schema.validate(Schema.Array(Fact))

/** So long compactions wait for what is learned from the rounds they may cover. */
const patience = "2 minutes"

interface Range {
  readonly from: number
  readonly to: number
}

/** Whether the messages in a range are still raw, and just as they were. */
const untouched = (before: SessionState, now: SessionState, { from, to }: Range): boolean => {
  for (let index = from; index < to; index++) if (before.raw.at(index) !== now.raw.at(index)) return false
  return true
}

/** The messages that were redacted after a version, up to another one. */
const redactedBetween = (
  sessions: Sessions,
  session: string,
  after: number,
  to: number,
): Effect.Effect<ReadonlyArray<number>, SessionError> =>
  sessions.events(session, { from: after + 1, to }).pipe(
    Stream.filterMap(({ event }) =>
      event._tag === "MessageRedacted" ? Option.some(event.seq) : Option.none(),
    ),
    Stream.flatMap((seq) => sessions.events(session, { from: seq, to: seq })),
    Stream.filterMap(({ event }) =>
      event._tag === "MessageAppended" ? Option.some(event.index) : Option.none(),
    ),
    Stream.runCollect,
    Effect.map((indices) => [...indices]),
  )

/**
 * Has the layers learn from the rounds that have ended since the last time. When they fail, the rounds are looked at
 * again with the next one, as long as they are raw.
 *
 * What was found is dropped, and the rounds are looked at anew, when another engine was faster with a part of them
 * (no round is learned from twice), and when one of their messages was redacted meanwhile (law L15).
 *
 * Answers whether the layers did what they were asked.
 */
export const learn = (
  sessions: Sessions,
  layers: MemoryLayers,
  session: string,
): Effect.Effect<boolean, SessionError> =>
  Effect.gen(function* () {
    const state = yield* sessions.load(session)
    const range = due(state)
    if (range === null) return true
    const messages = state.raw.slice(range.from, range.to).map(({ message }) => message)
    const facts = yield* Effect.suspend(() => layers.learn({ state, ...range, messages })).pipe(
      Effect.flatMap(checkFacts),
      Effect.timeout(patience),
      Effect.catchAllCause((cause) =>
        Effect.logWarning("nothing was learned from a round").pipe(
          Effect.annotateLogs({ session, why: whyOf(cause) }),
          Effect.as(null),
        ),
      ),
    )
    if (facts === null) return false
    const learned: FactsLearned = { _tag: "FactsLearned", ...range, facts: [...facts] }
    let checked: number | null = null
    for (;;) {
      const { answer, state: now } = yield* sessions.transact(session, (now) => {
        const nothing = (why: "gone" | "overtaken" | "touched") => ({ events: [], answer: why })
        // Cleared, or deleted and begun anew: these rounds are no more.
        if (now.clears !== state.clears || now.startedAt !== state.startedAt) return nothing("gone")
        if (now.version !== checked && !untouched(state, now, range)) return nothing("touched")
        if (now.learnedThrough > state.learnedThrough) return nothing("overtaken")
        return { events: [learned], answer: "learned" as const }
      })
      if (answer === "overtaken") return yield* learn(sessions, layers, session)
      if (answer !== "touched") return true
      const redacted = (yield* redactedBetween(sessions, session, state.version, now.version)).filter(
        (index) => range.from <= index && index < range.to,
      )
      if (redacted.length > 0) {
        yield* Effect.forEach(redacted, (index) => layers.forget(state, index)).pipe(
          Effect.catchAllCause((cause) =>
            Effect.logError("what was learned from a redacted message may still be known").pipe(
              Effect.annotateLogs({ session, why: whyOf(cause) }),
            ),
          ),
        )
        return yield* learn(sessions, layers, session)
      }
      // Compacted or pruned, or folded anew: nothing to worry about.
      checked = now.version
    }
  })
