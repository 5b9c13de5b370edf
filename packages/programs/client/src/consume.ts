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
  /** Whether to wait for what is new at the end, `true` by default. */
  readonly follow?: boolean
  /** Ends the consumption; what is not done by then comes to the next consumer. */
  readonly signal?: AbortSignal
}

/** What is done with events: with all of them, if it does not say else; up to a `position`; or with `null`, with none yet. */
export type Consumer = (
  events: ReadonlyArray<schemas.FedEvent>,
) => Promise<string | null | void> | string | null | void

/** How long a consumer waits where the service does not answer, in milliseconds. */
const pause = 1_000

/** How long a request waits for the turn and for events, in seconds. */
const longest = 20

const isLost = (error: unknown): boolean => error instanceof ServiceError && error.error === "TurnLost"

/** Consumes the feed as one of a group, until it is stopped, its consumer fails, or the feed ends for one that does not follow it. */
export const consume = async (
  { requests: { log }, once }: Calls,
  group: string,
  handle: Consumer,
  options: ConsumeOptions,
): Promise<void> => {
  const { batch, lease = 30, from, follow = true, signal = new AbortController().signal } = options
  for (const [name, count] of Object.entries({ batch, lease }))
    if (count !== undefined && !(count > 0))
      throw refused(`"${name}" must be a number above 0; nothing was sent`)
  const path = { group: inPath("group", group) }
  let state: Pick<typeof schemas.Consume.Type, "turn" | "done" | "after"> = {}
  const ask = (payload: typeof schemas.Consume.Type, stop?: AbortSignal) =>
    once(log.consume({ path, payload: { ...state, ...payload } }), stop)
  /** Hands events over, and keeps the turn for as long as that takes. */
  const handled = async (events: ReadonlyArray<schemas.FedEvent>) => {
    const renewing = setInterval(
      () => void ask({ limit: 0, lease }).catch(() => undefined),
      (lease * 1_000) / 3,
    )
    try {
      return await handle(events)
    } finally {
      clearInterval(renewing)
    }
  }
  const next = () =>
    ask({ limit: batch, lease, from, wait: follow ? longest : 0 }, signal).catch(async (error: unknown) => {
      if (signal.aborted) return null
      if (isLost(error)) state = {}
      else if (error instanceof ServiceError && isPassing(error)) await wait(pause, signal)
      else throw error
      return null
    })
  try {
    while (!signal.aborted) {
      const answer = await next()
      if (answer === null) continue
      const { turn, events, after } = answer
      if (turn === null) {
        if (!follow) await wait(pause, signal)
        continue
      }
      state = { ...state, turn }
      if (events.length === 0) {
        if (follow) continue
        return
      }
      const done = await handled(events)
      if (after !== null) state = { ...state, after }
      if (done !== null) state = { ...state, done: done ?? events.at(-1)!.position }
    }
  } finally {
    if (state.turn !== undefined) await ask({ limit: 0, lease: 0 }).catch(() => undefined)
  }
}
