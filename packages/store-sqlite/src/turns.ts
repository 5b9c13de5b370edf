/**
 * Waiting for the lock of other processes. SQLite has no queue for its lock, and its own waiting blocks the thread. So the lock
 * is tried without waiting, and tried again by a timer; and a process that writes without a break leaves it free now and then.
 * Time is real time, also where a test has a clock of its own: the other processes do not know that clock.
 */
import type { SqlError } from "@effect/sql/SqlError"
import { pause, tryingAgain } from "@memfold/store-sql"
import { Effect } from "effect"

/** How long a process writes without a break, and how long it leaves the lock free then, in milliseconds. */
const longestTurn = 50
const breakLength = 2

/** The bounds of the wait until the lock is tried again, in milliseconds. */
const tryAgain = { atLeast: 1, atMost: 4 }

type Around = <A, E>(work: Effect.Effect<A, E | SqlError>) => Effect.Effect<A, E | SqlError>

/**
 * Makes functions that run a read or a write of a connection whose `busy_timeout` is 0.
 *
 * @param isBusy - whether an error says that another connection has a lock
 * @param patience - how long to wait for the lock, in milliseconds
 */
export const turns = (
  isBusy: (error: unknown) => boolean,
  patience: number,
): { readonly reading: Around; readonly writing: Around } => {
  let turnSince = 0
  let lastWrite = 0

  const reading: Around = tryingAgain(isBusy, { total: patience, ...tryAgain })

  const writing: Around = (work) => {
    const noted = Effect.ensuring(
      reading(work),
      Effect.sync(() => {
        lastWrite = performance.now()
      }),
    )
    return Effect.suspend(() => {
      const now = performance.now()
      if (now - lastWrite >= breakLength) turnSince = now
      if (now - turnSince < longestTurn) return noted
      turnSince = now + breakLength
      return Effect.zipRight(pause(breakLength), noted)
    })
  }
  return { reading, writing }
}
