import { Clock, Effect, Random } from "effect"

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

/** An id has this many base-32 digits for its time, and this many random ones: 50 bits each. */
const digits = 10
const most = 32 ** digits

const base32 = (value: number): string => {
  let text = ""
  for (let rest = Math.min(Math.max(Math.floor(value), 0), most - 1), digit = 0; digit < digits; digit++) {
    text = alphabet[rest % 32] + text
    rest = Math.floor(rest / 32)
  }
  return text
}

/**
 * Makes a new id: the time in ten base-32 digits, then ten random ones. Ids sort by age. Two ids from the same millisecond
 * are equal once in 10^15 times, and need to differ within a session only. Time and randomness come from `Clock`
 * and `Random`: the same seed and clock give the same ids.
 */
export const makeId: Effect.Effect<string> = Effect.zipWith(
  Clock.currentTimeMillis,
  Random.next,
  (now, random) => base32(now) + base32(random * most),
)
