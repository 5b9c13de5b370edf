/** Operations of a memory in a transaction of the application. */
import { Effect } from "effect"
import { LogError } from "../log/EventLog.js"
import * as metrics from "../observe/metrics.js"
import { span } from "../observe/spans.js"
import type { Strategy } from "../policy/Strategy.js"
import { describe } from "../session/description.js"
import { type Answered, make as makeSessions } from "../shell/Sessions.js"
import { appendMessages } from "./appendMessages.js"
import { edit, regenerate } from "./branching.js"
import { checkDescription, checkSession, type InvalidInput } from "./input.js"
import type { MemoryParts } from "./MemoryParts.js"
import type { StrategyOptions, TransactionMemory } from "./MemoryService.js"
import { readMessages } from "./readMessages.js"
import { readState } from "./readState.js"

/** How many sessions of a transaction are kept in memory. */
const cachedSessions = 100

/**
 * The memory as a transaction of the application sees it. It has a cache of its own, which ends with it: the memory itself knows
 * nothing of what may be rolled back.
 */
export const within = (
  parts: MemoryParts,
  transaction: unknown,
): Effect.Effect<TransactionMemory, LogError> =>
  Effect.gen(function* () {
    const { schedule, underWay, strategyOf } = parts
    if (parts.log.within === undefined) {
      const reason =
        "this store cannot join a transaction of the application; @memfold/store-postgres can, in its own database"
      return yield* new LogError({ operation: "within", reason })
    }
    const log = yield* parts.log.within(transaction)
    const sessions = makeSessions(log, { capacity: cachedSessions })
    const inside: MemoryParts = { ...parts, log, sessions }

    const write = <A, E>(
      operation: string,
      session: string,
      request: StrategyOptions,
      run: (strategy: Strategy) => Effect.Effect<Answered<A>, E>,
    ): Effect.Effect<A, E | InvalidInput> =>
      Effect.gen(function* () {
        yield* checkSession(session)
        const strategy = yield* strategyOf(session, request)
        const { answer, state } = yield* run(strategy)
        yield* schedule.checkOnceCommitted(state, strategy)
        return answer
      }).pipe(underWay.finished, span(`memfold.${operation}`, { session }))

    return {
      append: (session, messages, request = {}) =>
        write("append", session, request, (strategy) =>
          appendMessages(inside, session, messages, { ...request, strategy }),
        ).pipe(metrics.recordAppend),
      edit: (session, from, messages, request = {}) =>
        write("edit", session, request, (strategy) =>
          edit(inside, session, from, messages, { ...request, strategy }),
        ),
      regenerate: (session, request = {}) =>
        write("regenerate", session, request, (strategy) =>
          regenerate(inside, session, { ...request, strategy }),
        ),
      describe: (session, change) =>
        Effect.gen(function* () {
          yield* checkSession(session)
          yield* checkDescription(session, change)
          yield* sessions.transact(session, (before) => ({
            events: describe(before.description, change),
            answer: undefined,
          }))
        }),
      messages: (session, page) => readMessages(sessions, session, page),
      state: (session, at) => readState(sessions, session, at),
    }
  })
