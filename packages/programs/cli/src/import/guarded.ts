/** A conversation of another program, as a guard leaves it: its messages, and the texts of its summaries. */
import { Guard, Message } from "@memfold/core"
import { Effect } from "effect"
import type { Imported } from "./events.js"
import type { OldSession } from "./programs.js"

/** What a guard leaves of a conversation, and its events with what was left out of each message. */
export interface GuardedSession extends OldSession {
  readonly noted: (imported: Imported) => Imported
}

export const guardedSession = (
  guard: Guard.BeforeAppend,
  { state, ...rest }: OldSession,
  session: string,
): Effect.Effect<GuardedSession, Guard.GuardRefused> =>
  Effect.gen(function* () {
    const left = yield* Guard.guardedBy(guard, state.messages, { session })
    const textOf = (text: string) =>
      Effect.map(Guard.guardedBy(guard, [Message.user(text)], { session }), ([one]) =>
        Message.text(one!.message),
      )
    const messages = left.map(({ message }) => message)
    const guarded: OldSession["state"] =
      "summaries" in state
        ? {
            messages,
            summaries: yield* Effect.forEach(state.summaries, (one) =>
              Effect.gen(function* () {
                const text = yield* textOf(one.text)
                return one.turnPrefix === undefined
                  ? { ...one, text }
                  : { ...one, text, turnPrefix: yield* textOf(one.turnPrefix) }
              }),
            ),
          }
        : { ...state, messages, text: state.text === null ? null : yield* textOf(state.text) }
    return {
      ...rest,
      state: guarded,
      noted: (imported) => ({
        ...imported,
        events: imported.events.map(({ time, event }) => {
          const counts = event._tag === "MessageAppended" ? left[event.index]?.guarded : undefined
          return { time, event: counts === undefined ? event : { ...event, guarded: counts } }
        }),
      }),
    }
  })
