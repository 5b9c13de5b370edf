/** Finding the state that an edit goes back to. */
import { Effect, type Stream } from "effect"
import type { RecordedEvent } from "../event/EventCodec.js"
import { isOnBranch } from "../session/branches.js"
import type { SessionState } from "../session/SessionState.js"
import { reaches } from "../session/switchBranch.js"
import { replay } from "./replay.js"

/**
 * The newest state that has the first `index` messages of the branch in force, with a summary that covers nothing beyond them;
 * `null` if there is none, because the log says less than the state.
 *
 * @param now - the state now
 * @param read - reads the events of the session, from the first one up to a version
 */
export const stateReaching = <E>(
  { session, version: newest, clears, gaps }: SessionState,
  index: number,
  read: (to: number) => Stream.Stream<RecordedEvent, E>,
): Effect.Effect<SessionState | null, E> =>
  Effect.map(
    replay(session, (to = newest) => read(to), {
      start: () => ({ place: null as number | null, found: null as SessionState | null }),
      step: ({ place, found }, { recorded: { event, version }, after }) => {
        const isPlace =
          event._tag === "MessageAppended" && event.index === index - 1 && isOnBranch(gaps, version)
        const at = isPlace ? version : place
        const hasPlace = index === 0 || (at !== null && isOnBranch(after.gaps, at))
        return {
          place: at,
          found: hasPlace && after.clears === clears && reaches(after, index) ? after : found,
        }
      },
    }),
    ({ collected }) => collected.found,
  )
