/** A conversation on states that are written nowhere: what a memory would do with it, at a fraction of the work. */
import { Clock, Effect, type Scope } from "effect"
import type { EventLog } from "@memfold/log/EventLog"
import type { Message } from "@memfold/message/Message"
import { appended } from "../engine/append.js"
import { stateAfter } from "../engine/goBack.js"
import { type Context, headOf } from "../render/Render.js"
import type { Prefix } from "../session/prefix.js"
import { empty, type SessionState } from "../session/SessionState.js"
import type { PreviewedCompaction } from "../shell/previewCompactions.js"
import type { Summarizer } from "../summarize/Summarizer.js"
import { counted } from "./entrance.js"
import type { Options } from "./MemoryOptions.js"
import { makeParts } from "./MemoryParts.js"
import { contextNow } from "./plainContext.js"

/** A session that is rehearsed. Its operations do what those of a memory in mode `manual` do, but without a log. */
export interface Rehearsal {
  readonly state: Effect.Effect<SessionState>
  /** Appends a message. `prefix` is that of the context which it answers. */
  readonly append: (message: Message, prefix?: Prefix) => Effect.Effect<void>
  /** Runs all compactions that are due, and returns how each has ended. */
  readonly compactDue: Effect.Effect<ReadonlyArray<PreviewedCompaction["outcome"]>>
  /** The next context, without facts and recalled messages. */
  readonly context: Effect.Effect<Context>
}

/**
 * Begins a session that is written nowhere. To replay a long conversation, what a memory stores, indexes and reads takes most of
 * its time. It has the states and contexts of a memory with these options; facts are not learned, and no guard looks at messages.
 *
 * @param session - The name of the session.
 * @param options - The options of the memory. It dies with an {@link InvalidOption} if one has a value that is not allowed.
 *
 * @example
 * ```ts
 * import { Memory, Message, type Strategy } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * export const sizeUnder = (strategy: Strategy.Strategy, messages: ReadonlyArray<Message.Message>) =>
 *   Effect.gen(function* () {
 *     const session = yield* Memory.rehearse("chat-1", { strategy })
 *     for (const message of messages) {
 *       yield* session.append(message)
 *       yield* session.compactDue
 *     }
 *     return (yield* session.context).tokens
 *   })
 * ```
 */
export const rehearse = (
  session: string,
  options: Options,
): Effect.Effect<Rehearsal, never, EventLog | Summarizer | Scope.Scope> =>
  Effect.gen(function* () {
    const parts = yield* makeParts({ ...options, compaction: { ...options.compaction, mode: "manual" } })
    const strategy = yield* Effect.orDie(parts.strategyOf(session))
    let state = empty(session)
    return {
      state: Effect.sync(() => state),
      append: (message, prefix) =>
        Effect.gen(function* () {
          const messages = yield* counted(parts.counter, [{ message }])
          const now = yield* Clock.currentTimeMillis
          const head = () => headOf(state, parts.styleOf(strategy, state, now))
          const events = appended(state, messages, {
            strategy,
            description: {},
            origin: () => ({ prefix, head: head() }),
          })
          state = stateAfter(state, events, now)
        }),
      compactDue: Effect.map(
        Effect.suspend(() => parts.schedule.preview(state, { strategy, onDemand: false })),
        (previewed) => {
          state = previewed.state
          return previewed.compactions.map(({ outcome }) => outcome)
        },
      ),
      context: Effect.suspend(() => contextNow({ ...parts, layers: null }, state, strategy)),
    }
  })
