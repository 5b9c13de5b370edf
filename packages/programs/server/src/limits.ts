/** Limits: how many requests a token may make in a second, and how many sessions a tenant may have. */
import { type Problem, problem } from "@memfold/client/api"
import type { Memory } from "@memfold/core"
import { Effect, Either } from "effect"
import type { TenantMemory } from "./TenantMemory.js"

/**
 * Limits the requests of each key: so many at once, and so many a second after that.
 *
 * @param perSecond - how many requests a second; `null` for any number
 */
export const makeRate = (perSecond: number | null) => {
  const buckets = new Map<string, { left: number; time: number }>()
  const refused = problem(
    429,
    "TooManyRequests",
    `More than ${perSecond} requests a second; wait a second, and try again`,
  )
  /** @param now - the time, in milliseconds */
  return (key: string, now: number): Either.Either<void, Problem> => {
    if (perSecond === null) return Either.void
    const { left, time } = buckets.get(key) ?? { left: perSecond, time: now }
    const filled = Math.min(perSecond, left + (Math.max(now - time, 0) / 1_000) * perSecond)
    buckets.set(key, { left: Math.max(filled - 1, 0), time: now })
    return filled < 1 ? Either.left(refused) : Either.void
  }
}

/** Checks that one more session may begin, if this one does not exist yet. */
export type MayBegin = (
  memory: TenantMemory,
  tenant: string | null,
  session: string,
) => Effect.Effect<void, Problem | Memory.MemoryError>

/**
 * Limits the sessions of each tenant. They are counted in the store when the limit may be reached, and otherwise by what this
 * process has started: with several processes, a tenant can have a few more.
 *
 * @param most - the most sessions of a tenant; `null` for any number
 */
export const makeSessionLimit = (most: number | null): MayBegin => {
  const counts = new Map<string | null, number>()
  const refused = problem(
    429,
    "TooManySessions",
    `There are ${most} sessions, and no more are allowed; delete some first`,
  )
  return (memory, tenant, session) =>
    Effect.gen(function* () {
      if (most === null || (yield* memory.state(session)).version > 0) return
      const known = counts.get(tenant)
      const count = known !== undefined && known < most ? known : (yield* memory.list({ limit: most })).length
      if (count >= most) return yield* Effect.fail(refused)
      counts.set(tenant, count + 1)
    })
}
