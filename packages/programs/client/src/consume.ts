/** The feed for one of a group of consumers, over connections and turns that may be lost. */
import { type Calls, inPath, refused } from "./call.js"
import { wait } from "./changes.js"
import type * as schemas from "./schemas.js"
import { isPassing, ServiceError } from "./ServiceError.js"

/** How a consumer consumes the feed. */
export interface ConsumeOptions {
  /** Where a new group begins: with the first event of the store (`start`, the default), or with what comes from now on. */
  readonly from?: "start" | "end"
  /** The most events in one call, 1 to 1,000; 100 by default. */
  readonly batch?: number
  /** After how many seconds another consumer takes over when this one was killed; 30 by default. */
  readonly lease?: number
  /**
   * How often `handle` is called with events that it fails for, with growing pauses, before they are given up and the group goes on behind
   * them. By default, a call that fails ends the consumption with its error.
   */
  readonly attempts?: number
  /** Whether to wait for what is new at the end, `true` by default. */
  readonly follow?: boolean
  /** Ends the consumption; what is not done by then comes to the next consumer. */
  readonly signal?: AbortSignal
}

/** What is done with events: with all of them, if it does not say else; up to a `position`; or with `null`, with none yet. */
export type Consumer = (
  events: ReadonlyArray<schemas.FedEvent>,
) => Promise<string | null | void> | string | null | void

/** How long a request waits for the turn and for events, in seconds. */
const longest = 20

/** How long a consumer waits where the service does not answer, and before it hands events over again, in milliseconds: at first, and at the most. */
const pauses = { first: 1_000, most: 60_000 }

/** Why a call failed, without its message, which may quote what was said. */
const reasonOf = (error: unknown): string => {
  const { reason, name } = Object(error) as { readonly reason?: unknown; readonly name?: unknown }
  const known = [reason, name].find((one) => typeof one === "string") ?? "a failure without a name"
  return String(known).slice(0, 500)
}

const isLost = (error: unknown): boolean => error instanceof ServiceError && error.error === "TurnLost"

/** Consumes the feed as one of a group, until it is stopped, its consumer fails, or the feed ends for one that does not follow it. */
export const consume = async (
  { requests: { log }, once }: Calls,
  group: string,
  handle: Consumer,
  options: ConsumeOptions,
): Promise<void> => {
  const { attempts, batch, lease = 30, from, follow = true, signal = new AbortController().signal } = options
  for (const [name, count] of Object.entries({ attempts, batch, lease }))
    if (count !== undefined && !(count > 0))
      throw refused(`"${name}" must be a number above 0; nothing was sent`)
  const path = { group: inPath("group", group) }
  let state: Pick<typeof schemas.Consume.Type, "turn" | "done" | "after" | "givenUp"> = {}
  const ask = (payload: typeof schemas.Consume.Type, stop?: AbortSignal) =>
    once(log.consume({ path, payload: { ...state, ...payload } }), stop)
  /** What is done with events, or given up. */
  const outcomeOf = async (
    events: ReadonlyArray<schemas.FedEvent>,
  ): Promise<Pick<typeof state, "done" | "givenUp">> => {
    const last = events.at(-1)!.position
    for (let tries = 1, pause = pauses.first; ; tries++, pause = Math.min(pause * 2, pauses.most))
      try {
        const done = await handle(events)
        return done === null ? {} : { done: done ?? last }
      } catch (error) {
        if (attempts === undefined) throw error
        const failed = { attempts: tries, reason: reasonOf(error) }
        if (tries >= attempts)
          return {
            done: last,
            givenUp: events.map(({ session, version, position }) => ({
              session,
              version,
              position,
              ...failed,
            })),
          }
        await wait(pause, signal)
        // Nothing is given up that may still be tried: whoever consumes next has it.
        if (signal.aborted) return {}
      }
  }
  /** Hands events over, and keeps the turn for as long as that takes. */
  const handled = async (events: ReadonlyArray<schemas.FedEvent>) => {
    const renewing = setInterval(
      () => void ask({ limit: 0, lease }).catch(() => undefined),
      (lease * 1_000) / 3,
    )
    try {
      return await outcomeOf(events)
    } finally {
      clearInterval(renewing)
    }
  }
  const next = () =>
    ask({ limit: batch, lease, from, wait: follow ? longest : 0 }, signal).catch(async (error: unknown) => {
      if (signal.aborted) return null
      if (isLost(error)) state = {}
      else if (error instanceof ServiceError && isPassing(error)) await wait(pauses.first, signal)
      else throw error
      return null
    })
  try {
    while (!signal.aborted) {
      const answer = await next()
      if (answer === null) continue
      const { turn, events, after } = answer
      if (turn === null) {
        if (!follow) await wait(pauses.first, signal)
        continue
      }
      // What was given up is kept with this answer.
      const { givenUp: _kept, ...mine } = state
      state = { ...mine, turn }
      if (events.length === 0) {
        if (follow) continue
        return
      }
      const outcome = await handled(events)
      if (after !== null) state = { ...state, after }
      state = { ...state, ...outcome }
    }
  } finally {
    if (state.turn !== undefined) await ask({ limit: 0, lease: 0 }).catch(() => undefined)
  }
}

/** What came of an event that a group had given up: it was taken, is gone from the store, or has failed again and stays given up. */
export interface Redelivered {
  readonly session: string
  readonly version: number
  readonly outcome: "delivered" | "gone" | "failed"
  /** Why it failed: the `reason` of its error, or the name. */
  readonly reason?: string
}

/** How many events are listed at once. */
const listed = 100

/** Hands over what a group has given up, each event once, the oldest first; what was taken is no longer given up. */
export const redeliver = async function* (
  { requests: { log }, safely }: Calls,
  group: string,
  handle: (events: ReadonlyArray<schemas.FedEvent>) => unknown,
): AsyncGenerator<Redelivered> {
  const path = { group: inPath("group", group) }
  for (let after = 0; ;) {
    const { givenUp } = await safely(log.givenUp({ path, urlParams: { after, limit: listed } }))
    for (const { id, session, version, position } of givenUp) {
      after = id
      const urlParams = { fromVersion: version, toVersion: version }
      let outcome: Pick<Redelivered, "outcome" | "reason"> = { outcome: "delivered" }
      try {
        const { events } = await safely(
          log.events({ path: { session: inPath("session", session) }, urlParams }),
        )
        if (events.length === 0) outcome = { outcome: "gone" }
        else await handle(events.map((event) => ({ ...event, position })))
      } catch (error) {
        outcome =
          error instanceof ServiceError && error.error === "Erased"
            ? { outcome: "gone" }
            : { outcome: "failed", reason: reasonOf(error) }
      }
      if (outcome.outcome !== "failed") await safely(log.deleteGivenUp({ path: { ...path, id } }))
      yield { session, version, ...outcome }
    }
    if (givenUp.length < listed) return
  }
}
