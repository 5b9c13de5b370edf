import { setTimeout as sleep } from "node:timers/promises"

const mostTries = 600
const every = 25

/** Waits for something to become true: for 15 seconds at most. */
export const eventually = async <A>(what: string, look: () => Promise<A | undefined | false>): Promise<A> => {
  let cause: unknown
  for (let tries = 0; tries < mostTries; tries++) {
    const found = await look().catch((error: unknown) => {
      cause = error
      return undefined
    })
    if (found !== undefined && found !== false) return found
    await sleep(every)
  }
  throw new Error(`${what}: not within ${(mostTries * every) / 1000} s`, { cause })
}
