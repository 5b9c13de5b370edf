/** The messages that the benchmarks of stores write, and the output of their ratios. */
import { type Event, Message } from "@memfold/core"

export const turn = (index: number) => {
  const text = `Message ${index} of a long conversation; it is about as long as people's messages are on average.`
  return index % 2 === 0 ? Message.user(text) : Message.assistant(text)
}

export const event = (index: number): Event.MessageAppended => ({
  _tag: "MessageAppended",
  index,
  message: turn(index),
  tokens: 24,
})

/** An id as long as the engine's. */
export const commitOf = (index: number): string => `0bench0000${String(index).padStart(16, "0")}`

/** The value that a part of some values, from 0 to 1, is not above; 0 of none. */
export const percentile = (values: ReadonlyArray<number>, part: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * part)] ?? 0

export const median = (values: ReadonlyArray<number>): number => percentile(values, 0.5)

/** Prints a claim. Returns whether it holds. */
export const claim = (what: string, ratio: number, bound: number): boolean => {
  const beside = Number.isFinite(bound) ? `(bound ${bound}×)` : "(no bound)"
  console.log(`  ${what.padEnd(66)}${`${ratio.toFixed(2)}×`.padStart(8)}  ${beside}`)
  return ratio <= bound
}

/** Prints a time. Returns whether it is within its bound. */
export const within = (what: string, time: number, bound: number): boolean => {
  told(what, `${Math.round(time)} ms  (bound ${bound} ms)`)
  return time <= bound
}

export const told = (what: string, value: string): void =>
  console.log(`  ${what.padEnd(66)}${value.padStart(8)}`)

export const milliseconds = async (work: () => unknown): Promise<number> => {
  const before = performance.now()
  await work()
  return performance.now() - before
}
