/** Limits: how much work a token may ask for in a second, and how many sessions a tenant may have. */
import { type Problem, problem } from "@memfold/client/api"
import { EventLog, type Memory } from "@memfold/core"
import type { Measured } from "@memfold/proxy"
import { Effect, Either, type Scope } from "effect"
import type { TenantMemory } from "./TenantMemory.js"

/** How many items of a body, and how many of its characters, are about a second of work. */
const perSecondOfWork = { items: 30_000, characters: 4 * 2 ** 20 }

/** About how long a body keeps the process busy, in seconds: with its parsing, its storing, and what is summarized of it. */
export const workOf = (text: string, { items }: Pick<Measured, "items">): number =>
  items / perSecondOfWork.items + text.length / perSecondOfWork.characters

/** The longest time for which a token is refused because of one request, in seconds. */
const longestDebt = 10

/**
 * Limits the requests of each key: so many at once, and so many a second after that. A request that is much work counts as many as
 * its time has room for.
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
  /**
   * @param now - the time, in milliseconds
   * @param work - seconds of work, of a request that was counted before; without, it is counted now
   */
  return (key: string, now: number, work?: number): Either.Either<void, Problem> => {
    if (perSecond === null) return Either.void
    const { left, time } = buckets.get(key) ?? { left: perSecond, time: now }
    const filled = Math.min(perSecond, left + (Math.max(now - time, 0) / 1_000) * perSecond)
    // Whoever has none left asks for more than its turn; the request itself has been counted.
    const isRefused = work === undefined ? filled < 1 : filled < 0
    const cost = isRefused ? 0 : work === undefined ? 1 : work * perSecond
    buckets.set(key, { left: Math.max(filled - cost, -longestDebt * perSecond), time: now })
    return isRefused ? Either.left(refused) : Either.void
  }
}

/** What is there for all: bytes of bodies that are not whole yet, places of subscribers. */
export interface Room {
  /** Takes so many for a key; `false` if there are not so many left. */
  readonly take: (key: string, count: number) => boolean
  readonly give: (key: string, count: number) => void
}

/**
 * Limits what all keys have together; one key has half of it at most.
 *
 * @param most - how many, of all keys
 */
export const makeRoom = (most: number): Room => {
  const taken = new Map<string, number>()
  let all = 0
  const add = (key: string, bytes: number): void => {
    const left = (taken.get(key) ?? 0) + bytes
    all += bytes
    if (left === 0) taken.delete(key)
    else taken.set(key, left)
  }
  return {
    take: (key, bytes) => {
      if (all + bytes > most || (taken.get(key) ?? 0) + bytes > most / 2) return false
      add(key, bytes)
      return true
    },
    give: (key, bytes) => add(key, -bytes),
  }
}

/** Takes one place of a room until the response is over; fails with a problem if there is none. */
export const onePlace = (
  room: Room,
  key: string,
  refused: Problem,
): Effect.Effect<void, Problem, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.suspend(() => (room.take(key, 1) ? Effect.void : Effect.fail(refused))),
    () => Effect.sync(() => room.give(key, 1)),
  )

/** Checks that one more session, or group of the feed, may begin, if this one does not exist yet. */
export type MayBegin = (
  memory: TenantMemory,
  tenant: string | null,
  name: string,
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

export interface GroupLimit {
  readonly mayBegin: MayBegin
  /** A group of a tenant was deleted: another one may begin. */
  readonly deleted: (tenant: string | null) => void
}

/**
 * Limits the groups of the feed that this process begins for each tenant. No list has groups, so those of other processes are not counted.
 *
 * @param most - the most groups of a tenant; `null` for any number
 */
export const makeGroupLimit = (most: number | null): GroupLimit => {
  const begun = new Map<string | null, number>()
  const refused = problem(
    429,
    "TooManySessions",
    `${most} groups of the feed have begun, and no more are allowed; take one of them, or delete one`,
  )
  return {
    mayBegin: (memory, tenant, group) =>
      Effect.gen(function* () {
        // What cannot be the name of a group is refused behind this.
        if (most === null || !EventLog.isName(group) || (yield* memory.hasGroup(group))) return
        const count = begun.get(tenant) ?? 0
        if (count >= most) return yield* Effect.fail(refused)
        begun.set(tenant, count + 1)
      }),
    deleted: (tenant) => void begun.set(tenant, Math.max((begun.get(tenant) ?? 0) - 1, 0)),
  }
}
