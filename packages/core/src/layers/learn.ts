import { Effect } from "effect"
import type { FactsLearned } from "../event/Event.js"
import type { SessionError, Sessions } from "../session/Sessions.js"
import { due, type Service as MemoryLayers } from "./MemoryLayers.js"

/**
 * Has the layers learn from the rounds that have ended since the last time. When they fail, the rounds are looked at
 * again with the next one, as long as they are raw. When another engine was faster with a part of them, what was
 * found is dropped and the rest is looked at anew, so that no round is learned from twice.
 */
export const learn = (
  sessions: Sessions,
  layers: MemoryLayers,
  session: string,
): Effect.Effect<void, SessionError> =>
  Effect.gen(function* () {
    const state = yield* sessions.load(session)
    const range = due(state)
    if (range === null) return
    const messages = state.raw.slice(range.from, range.to).map(({ message }) => message)
    const facts = yield* Effect.suspend(() => layers.learn({ state, ...range, messages })).pipe(
      Effect.catchAllCause((cause) =>
        Effect.logWarning("nothing was learned from a round", cause).pipe(
          Effect.annotateLogs({ session }),
          Effect.as(null),
        ),
      ),
    )
    if (facts === null) return
    const learned: FactsLearned = { _tag: "FactsLearned", ...range, facts: [...facts] }
    const { answer } = yield* sessions.transact(session, (now) => {
      // Cleared, or deleted and begun anew: these rounds are no more.
      const gone = now.clears !== state.clears || now.startedAt !== state.startedAt
      const overtaken = !gone && now.learnedThrough > state.learnedThrough
      return { events: gone || overtaken ? [] : [learned], answer: { overtaken } }
    })
    if (answer.overtaken) yield* learn(sessions, layers, session)
  })
