import { setTimeout as sleep } from "node:timers/promises"

const every = 25

/** Waits for something to become true: for 15 seconds at most, if nothing else is said. */
export const eventually = async <A>(
  what: string,
  look: () => Promise<A | undefined | false>,
  seconds = 15,
): Promise<A> => {
  const mostTries = (seconds * 1_000) / every
  let cause: unknown
  for (let tries = 0; tries < mostTries; tries++) {
    const found = await look().catch((error: unknown) => {
      cause = error
      return undefined
    })
    if (found !== undefined && found !== false) return found
    await sleep(every)
  }
  throw new Error(`${what}: not within ${seconds} s`, { cause })
}
