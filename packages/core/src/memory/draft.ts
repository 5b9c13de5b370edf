/** Messages that a context shows before they are in the log. */
import { Clock, Effect } from "effect"
import { edited, stateAfter } from "../engine/goBack.js"
import type { Strategy } from "../policy/Strategy.js"
import type { SessionState } from "../session/SessionState.js"
import type { SessionError } from "../shell/Sessions.js"
import { counted } from "./entrance.js"
import { findSwitch } from "./branching.js"
import { checkCount, checkMessages, type InvalidInput, refuse } from "./input.js"
import type { MemoryParts } from "./MemoryParts.js"
import type { ContextOptions } from "./MemoryOptions.js"

/** The state as it would be if the draft of a request were appended; the state itself without one. */
export const withDraft = (
  { sessions, counter }: Pick<MemoryParts, "sessions" | "counter">,
  state: SessionState,
  strategy: Strategy,
  { draft, atVersion }: Pick<ContextOptions, "draft" | "atVersion">,
): Effect.Effect<SessionState, SessionError | InvalidInput> =>
  Effect.gen(function* () {
    if (draft === undefined) return state
    const { session, total } = state
    if (atVersion !== undefined)
      return yield* refuse(session, "a draft stands behind the newest version, not `atVersion`")
    const messages = yield* checkMessages(session, draft.messages)
    const { from = total } = draft
    yield* checkCount(session, "draft.from", from)
    if (from > total)
      return yield* refuse(session, `"draft.from" is ${from}, and there are ${total} messages`)
    const goBack = yield* findSwitch(sessions, state, from, messages.length === 0).pipe(
      Effect.catchTag("UnknownMessage", ({ message }) => refuse(session, message)),
    )
    const time = yield* Clock.currentTimeMillis
    const events = edited(state, goBack, {
      messages: yield* counted(
        counter,
        messages.map((message) => ({ message })),
      ),
      strategy,
      time,
    })
    return stateAfter(state, events, time, goBack?.states)
  })
