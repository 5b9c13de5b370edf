/** The end of the queue that workers are at. */
import type { Dispatcher } from "@memfold/log"
import { Deferred, Effect, Exit, FiberSet, Schedule } from "effect"
import { type Ask, type Data, handOn, rowsOf } from "./Boss.js"
import type { Settings } from "./Options.js"

interface Taken {
  readonly id: string
  readonly data: Data
}

/** Ending a job is tried a few times: otherwise its look would be handled once more. */
const fewTimes = { times: 3, schedule: Schedule.exponential("100 millis") } as const

/** Removes a job that is done, or marks it as failed. */
const settle = (
  ask: Ask,
  settings: Settings,
  { id, data: { session } }: Taken,
  exit: Exit.Exit<void, Dispatcher.LookFailed>,
) =>
  ask("work", session, async (boss) => {
    // Done jobs would stay in the table for hours, and every statement on it would read past them.
    if (Exit.isSuccess(exit)) return boss.deleteJob(settings.queue, id)
    const failure = exit.cause._tag === "Fail" ? exit.cause.error : null
    if (failure?.final === true) {
      const last = "UPDATE TABLE SET retry_limit = retry_count WHERE name = $1 AND id = $2"
      await rowsOf(boss, settings, last, [settings.queue, id])
    }
    return boss.fail(settings.queue, id, {
      message: failure?.reason ?? "the look threw, or its worker was stopped",
    })
  }).pipe(Effect.retry(fewTimes), Effect.ignoreLogged)

/** Makes what works for the queue. */
export const worksFor =
  (ask: Ask, settings: Settings): Dispatcher.Queue["work"] =>
  (handle, { concurrency, shutdown }) =>
    Effect.gen(function* () {
      const { queue, lease, pollInterval } = settings
      const active = new Map<string, Taken>()
      const fibers = yield* FiberSet.make<void>()
      yield* Effect.addFinalizer(() =>
        FiberSet.awaitEmpty(fibers).pipe(Effect.interruptible, Effect.timeoutOption(shutdown)),
      )
      let ended = yield* Deferred.make<void>()

      const handled = (taken: Taken): Effect.Effect<void> =>
        Effect.uninterruptibleMask((restore) =>
          restore(handle(taken.data)).pipe(
            Effect.exit,
            Effect.flatMap((exit) => settle(ask, settings, taken, exit)),
            Effect.zipRight(
              Effect.suspend(() => {
                active.delete(taken.id)
                // Taking jobs sorts all that wait, so it is not done for each place that becomes free.
                return active.size * 2 > concurrency ? Effect.void : Deferred.succeed(ended, undefined)
              }),
            ),
          ),
        )

      const take = Effect.gen(function* () {
        ended = yield* Deferred.make<void>()
        const free = concurrency - active.size
        const taken =
          free === 0
            ? []
            : yield* ask("work", null, (boss) => boss.fetch<Data>(queue, { batchSize: free, priority: true }))
        for (const one of taken) {
          active.set(one.id, one)
          yield* FiberSet.run(fibers, handled(one))
        }
        if (taken.length === free && free > 0) return
        yield* Effect.timeoutOption(Deferred.await(ended), pollInterval)
      }).pipe(
        // The database may be back later.
        Effect.catchAll(() => Effect.sleep(pollInterval)),
      )

      /** Renews what this worker owns, and hands on what others have left behind. */
      const lookAfter = ask("work", null, async (boss) => {
        const renew =
          "UPDATE TABLE SET started_on = now() WHERE name = $1 AND id = ANY($2::uuid[]) AND state = 'active'"
        if (active.size > 0) await rowsOf(boss, settings, renew, [queue, [...active.keys()]])
        await rowsOf(boss, settings, handOn, [queue])
        await boss.maintain()
      }).pipe(Effect.ignore, Effect.zipLeft(Effect.sleep(lease / 3)))

      yield* Effect.forkScoped(Effect.interruptible(Effect.forever(lookAfter)))
      yield* Effect.forkScoped(Effect.interruptible(Effect.forever(take)))
    })
