/** How far the full-text index of a session in a store is behind its log. */
import { Effect } from "effect"
import type { LogError, Service as EventLog } from "@memfold/log/EventLog"
import { indexKind, listIn, partsKey } from "../recall/storedIndex.js"
import { eventsBehind } from "../recall/Upkeep.js"

/**
 * Counts the events of a session that its full-text index in the store does not have, where a search would have to bring the index up
 * first: it says meanwhile how many messages it has not searched. 0 for a session that is near its index, or too short for one.
 *
 * @param log - The store.
 * @param session - The id of the session.
 *
 * @example
 * ```ts
 * import { EventLog, Verify } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * export const behind = Effect.flatMap(EventLog.EventLog, (log) => Verify.unindexed(log, "chat-1"))
 * ```
 */
export const unindexed = (log: EventLog, session: string): Effect.Effect<number, LogError> =>
  Effect.gen(function* () {
    const [listed] = yield* log.projections.get(session, indexKind, { keys: [partsKey] })
    const version = (yield* log.head(session))?.version ?? 0
    const behind = version - (listIn(listed).parts.at(-1)?.version ?? 0)
    return behind < eventsBehind ? 0 : behind
  })
