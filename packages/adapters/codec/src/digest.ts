/** Names for what has none. */
import { Effect, Random } from "effect"

/** 64 bits of FNV-1a as hexadecimal digits: the same text always has the same digest. */
export const digest = (text: string): string =>
  [0x811c9dc5, 0x01000193]
    .map((seed) => {
      let value = seed
      for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
      return (value >>> 0).toString(16).padStart(8, "0")
    })
    .join("")

/** 128 random bits as hexadecimal digits. */
export const randomId: Effect.Effect<string> = Effect.map(
  Effect.replicateEffect(Random.nextIntBetween(0, 2 ** 32), 4),
  (numbers) => numbers.map((one) => one.toString(16).padStart(8, "0")).join(""),
)
