/** The parts of a memory in a transaction of the application. */
import { Effect } from "effect"
import { LogError } from "@memfold/log/EventLog"
import { make as makeSessions } from "../shell/Sessions.js"
import type { MemoryParts } from "./MemoryParts.js"

/** How many sessions of a transaction are kept in memory. */
const cachedSessions = 100

/**
 * The parts of a memory as a transaction of the application sees them. The cache is one of its own, which ends with it: the memory
 * itself knows nothing of what may be rolled back. What becomes due is looked at once the transaction is committed.
 */
export const inTransaction = (
  parts: MemoryParts,
  transaction: unknown,
): Effect.Effect<MemoryParts, LogError> =>
  Effect.gen(function* () {
    if (parts.log.within === undefined) {
      const reason =
        "this store cannot join a transaction of the application; @memfold/store-postgres can, in its own database"
      return yield* new LogError({ operation: "within", reason })
    }
    const log = yield* parts.log.within(transaction)
    const { schedule } = parts
    return {
      ...parts,
      log,
      sessions: makeSessions(log, { capacity: cachedSessions }),
      schedule: { ...schedule, check: schedule.checkOnceCommitted },
    }
  })
