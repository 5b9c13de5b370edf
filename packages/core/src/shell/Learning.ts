import { Effect } from "effect"
import { learnFacts, type LearningParts } from "./learnFacts.js"
import { turnsToLearn, type Service as MemoryLayers } from "../layers/MemoryLayers.js"
import type { Strategy } from "../policy/Strategy.js"
import type { SessionError } from "./Sessions.js"
import type { Entry, SessionState } from "../session/SessionState.js"

/** When facts are learned from a session: from each turn once it has ended, or in batches, before a compaction covers it. */
export interface Learning {
  /** Whether turns are to be learned from by themselves, and not only when they are about to be compacted. In constant time. */
  readonly isDue: (state: SessionState) => boolean
  /** Learns from the turns that are due. When the layers fail, the turns are tried again after the next one. */
  readonly learnDue: (session: string, strategy?: Strategy) => Effect.Effect<void, SessionError>
  readonly forget: (session: string) => void
}

const noLearning: Learning = { isDue: () => false, learnDue: () => Effect.void, forget: () => undefined }

const lastOf = ({ uncovered }: SessionState, { to }: { readonly to: number }) => uncovered.at(to - 1)

/** Keeps track of failures. Without layers, nothing is ever due. */
export const make = (parts: LearningParts, layers: MemoryLayers | null): Learning => {
  if (layers === null) return noLearning
  const { sessions } = parts
  /**
   * The last message of the turns that the layers failed to learn from. It is another one as soon as another turn has
   * ended, and also in a session that was deleted or cleared and begun anew, whoever did that.
   */
  const failures = new Map<string, Entry | undefined>()

  const dueIn = (state: SessionState) => {
    const range = turnsToLearn(state)
    if (range === null) return null
    const failedBefore = failures.has(state.session) && failures.get(state.session) === lastOf(state, range)
    return failedBefore ? null : range
  }

  return {
    isDue: (state) => layers.inBatches !== true && dueIn(state) !== null,
    learnDue: (session, strategy) =>
      Effect.gen(function* () {
        const state = yield* sessions.load(session)
        const range = dueIn(state)
        if (range === null) return
        const learned = yield* learnFacts(parts, layers, session, strategy)
        if (learned === "waits") return
        if (learned === "learned") failures.delete(session)
        else failures.set(session, lastOf(state, range))
      }),
    forget: (session) => void failures.delete(session),
  }
}
