import { Effect } from "effect"
import { learnFacts } from "../layers/learnFacts.js"
import { turnsToLearn, type Service as MemoryLayers } from "../layers/MemoryLayers.js"
import type { SessionError, Sessions } from "../session/Sessions.js"
import type { SessionState } from "../session/SessionState.js"

/** When facts are learned from a session: from each turn once it has ended, before a compaction covers it. */
export interface Learning {
  /** Whether there are turns to learn from. In constant time. */
  readonly isDue: (state: SessionState) => boolean
  /** Learns from the turns that are due. When the layers fail, the turns are tried again after the next one. */
  readonly learnDue: (session: string) => Effect.Effect<void, SessionError>
  /** Forgets the failures of a session that is deleted. */
  readonly forget: (session: string) => void
}

const noLearning: Learning = { isDue: () => false, learnDue: () => Effect.void, forget: () => undefined }

/** Keeps track of failures. Without layers, nothing is ever due. */
export const make = (sessions: Sessions, layers: MemoryLayers | null): Learning => {
  if (layers === null) return noLearning
  /** The end of the turns that the layers failed to learn from. It differs as soon as another turn has ended. */
  const failedTo = new Map<string, number>()

  const dueIn = (state: SessionState) => {
    const range = turnsToLearn(state)
    return range === null || range.to === failedTo.get(state.session) ? null : range
  }

  return {
    isDue: (state) => dueIn(state) !== null,
    learnDue: (session) =>
      Effect.gen(function* () {
        const range = dueIn(yield* sessions.load(session))
        if (range === null) return
        const learned = yield* learnFacts(sessions, layers, session)
        if (learned) failedTo.delete(session)
        else failedTo.set(session, range.to)
      }),
    forget: (session) => void failedTo.delete(session),
  }
}
