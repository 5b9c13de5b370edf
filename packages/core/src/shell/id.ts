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
export const makeId: Effect.Effect<string> = Effect.flatMap(Clock.currentTimeMillis, (now) =>
  Effect.map(Random.next, (random) => base32(now) + base32(random * most)),
)

const ofMakeId = new RegExp(`^[${alphabet}]{${2 * digits}}$`)

/** What {@link derivedId} has added to another id. */
const added = new RegExp(`-[${alphabet}]{${digits}}$`)

/** A hash of 50 bits: two halves of 32 bits, mixed like cyrb53. */
const hash50 = (text: string): number => {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    high = Math.imul(high ^ unit, 2654435761)
    low = Math.imul(low ^ unit, 1597334677)
  }
  const mixed = (one: number, other: number): number =>
    Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(other ^ (other >>> 13), 3266489909)
  high = mixed(high, low)
  low = mixed(low, high)
  return (high >>> 14) * 2 ** 32 + (low >>> 0)
}

/**
 * The id that a copy in another session has. It follows from the id and the session, so a copy that is made again is
 * equal. The time of an id stays, and copies sort by age, too.
 */
export const derivedId = (id: string, session: string): string => {
  const own = base32(hash50(`${session}\n${id}`))
  return ofMakeId.test(id) ? id.slice(0, digits) + own : `${id.replace(added, "")}-${own}`
}
