import { Context, Effect, Random } from "effect"
import { nowOf } from "./clock.js"

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

const base32 = (value: number, digits: number): string => {
  let text = ""
  for (let rest = value, digit = 0; digit < digits; digit++) {
    text = alphabet[rest % 32] + text
    rest = Math.floor(rest / 32)
  }
  return text
}

/** So many random bits are in half of the random digits of an id. */
const halfBits = 2 ** 40

const half = (random: number): string => base32(Math.min(Math.floor(random * halfBits), halfBits - 1), 8)

/**
 * Makes a new id: the time in ten base-32 digits, then 80 random bits. Ids sort by age. Time and randomness come from
 * `Clock` and `Random`: the same seed and clock give the same ids.
 */
export const makeId: Effect.Effect<string> = Effect.withFiberRuntime((fiber) => {
  const { next } = Context.get(fiber.currentDefaultServices, Random.Random)
  const millis = nowOf(fiber)
  const time = base32(Math.max(Math.trunc(millis), 0), 10)
  // `zipWith` would take twice as many steps.
  return Effect.flatMap(next, (one) => Effect.map(next, (other) => time + half(one) + half(other)))
})
