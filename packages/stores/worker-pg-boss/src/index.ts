/**
 * A queue of looks at sessions, in pg-boss on PostgreSQL. Processes that append put looks into it, and workers take them out.
 *
 * A look is a job whose singleton key is the session's id, in a queue of the policy `short`: one job of a session waits, and its
 * time and priority become those of the most urgent look. A job that a worker has taken does not count: what is dispatched from
 * then on is a new job, and no write is missed.
 */
import { Dispatcher } from "@memfold/log"
import { Clock, Effect, Layer, type Scope } from "effect"
import type PgBoss from "pg-boss"
import { type Ask, type Data, deadLettersOf, deadRows, makeBoss, rowsOf } from "./Boss.js"
import { type Asked, gathered, putLooks } from "./put.js"
import { kinds, type Options, type Settings, withDefaults } from "./Options.js"
import { worksFor } from "./work.js"

export type { Options } from "./Options.js"

const dispatches = (ask: Ask, settings: Settings): Dispatcher.Service["dispatch"] => {
  const put = gathered((boss: PgBoss, looks: ReadonlyArray<Asked>) => putLooks(boss, settings, looks))
  return (look) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      ask("dispatch", look.session, (boss) =>
        put(boss, { ...look, startAfter: look.time > now ? new Date(look.time) : null }),
      ),
    )
}

interface DeadRow {
  readonly id: string
  readonly data: Data
  readonly output: { readonly message?: string; readonly value?: { readonly message?: string } } | null
  readonly attempts: number
  readonly time: string
}

const letterOf = ({ id, data: { session, fill }, output, attempts, time }: DeadRow) => ({
  id,
  session,
  fill,
  time: Number(time),
  attempts,
  reason: output?.message ?? output?.value?.message ?? "unknown",
})

/**
 * Opens a queue, which is closed with the scope. It does not wait for the database: while that is gone, looks are refused, and
 * whoever dispatches tries again. The first use makes the tables, if they are missing.
 *
 * @param options - The database, and how patient the queue is.
 *
 * @example
 * ```ts
 * import { Dispatcher, Memory } from "@memfold/core"
 * import * as PgBoss from "@memfold/worker-pg-boss"
 * import { Effect } from "effect"
 *
 * declare const strategy: Memory.Options["strategy"]
 *
 * export const worker = Effect.gen(function* () {
 *   const queue = yield* PgBoss.make({ url: "postgres://localhost/app" })
 *   const memory = yield* Effect.provideService(
 *     Memory.make({ strategy, compaction: { mode: "dispatch" } }),
 *     Dispatcher.Dispatcher,
 *     queue,
 *   )
 *   yield* Dispatcher.work(queue, memory)
 *   return yield* Effect.never
 * }).pipe(Effect.scoped)
 * ```
 */
export const make = (
  options: Options,
): Effect.Effect<Dispatcher.Queue, Dispatcher.DispatchError, Scope.Scope> =>
  Effect.gen(function* () {
    yield* Dispatcher.checkOptions({ ...options, url: options.url ?? null }, kinds)
    const settings = withDefaults(options)
    const ask = yield* makeBoss(settings)
    const dead = deadLettersOf(settings)
    const dispatch = dispatches(ask, settings)
    const find = (operation: "deadLetters" | "revive", session: string | null) =>
      ask(operation, session, async (boss) =>
        (await rowsOf<DeadRow>(boss, settings, deadRows, [dead])).map(letterOf),
      )
    return {
      dispatch,
      work: worksFor(ask, settings),
      ...Dispatcher.deadLettersOf(dispatch, find, (session, letters) =>
        ask("revive", session, (boss) =>
          boss.deleteJob(
            dead,
            letters.map(({ id }) => id),
          ),
        ),
      ),
    }
  })

/**
 * A layer that hands the work of a memory in the mode `dispatch` to a queue.
 *
 * @param options - The database, and how patient the queue is.
 *
 * @example
 * ```ts
 * import * as PgBoss from "@memfold/worker-pg-boss"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({
 *   store: "postgres://localhost/app",
 *   queue: PgBoss.layer({ url: "postgres://localhost/app", queue: "chats" }),
 *   compaction: { mode: "dispatch" },
 * })
 * await memory.close()
 * ```
 */
export const layer = (options: Options): Layer.Layer<Dispatcher.Dispatcher, Dispatcher.DispatchError> =>
  Layer.scoped(Dispatcher.Dispatcher, make(options))
