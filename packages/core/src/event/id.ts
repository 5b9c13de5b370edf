import { Clock, Effect, Random } from "effect"

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

const base32 = (value: number, digits: number): string => {
  let text = ""
  for (let rest = value, digit = 0; digit < digits; digit++) {
    text = alphabet[rest % 32] + text
    rest = Math.floor(rest / 32)
  }
  return text
}

/**
 * Makes a new id: the time in ten base-32 digits, then 80 random bits. Ids sort by age. Time and randomness come from
 * `Clock` and `Random`: the same seed and clock give the same ids.
 */
export const makeId: Effect.Effect<string> = Effect.gen(function* () {
  const millis = yield* Clock.currentTimeMillis
  let text = base32(Math.max(Math.trunc(millis), 0), 10)
  for (let piece = 0; piece < 4; piece++) text += base32(yield* Random.nextIntBetween(0, 2 ** 20), 4)
  return text
})
