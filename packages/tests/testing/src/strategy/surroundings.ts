/**
 * Runs a function with another time of day and other random numbers. The result of a pure function does not change.
 *
 * Works for one synchronous call at a time, and restores everything afterwards.
 */

/** The surroundings of a call: the clock and the random numbers. */
export interface Surroundings {
  readonly now: number
  readonly chance: number
}

/** Far apart, one in each quarter of the day in every time zone, with odd and even times. */
export const worlds: ReadonlyArray<Surroundings> = [
  { now: 0, chance: 0 },
  { now: 1_700_028_000_001, chance: 0.25 },
  { now: 4_102_488_000_002, chance: 0.5 },
  { now: 4_102_509_600_003, chance: 0.999_999 },
]

/** The result of a function, and which impure functions it called. */
export interface ObservedAnswer<A> {
  readonly answer: A
  readonly asked: ReadonlyArray<string>
}

/** Runs something in other surroundings. */
export const inSurroundings = <A>({ now, chance }: Surroundings, run: () => A): ObservedAnswer<A> => {
  const asked = new Set<string>()
  const { Date: RealDate, Math: realMath } = globalThis
  const { performance } = globalThis as { readonly performance?: { now: () => number } }
  const real = { random: realMath.random, now: performance?.now }
  let reads = 0
  // Time goes on while a decision is made.
  const time = (name: string) => {
    asked.add(name)
    return now + 7 * reads++
  }
  const OtherDate = new Proxy(RealDate, {
    construct: (target, args: Array<unknown>): Date =>
      args.length === 0 ? new target(time("new Date()")) : (Reflect.construct(target, args) as Date),
    apply: (target) => new target(time("Date()")).toString(),
    get: (target, key, receiver) =>
      key === "now" ? () => time("Date.now()") : Reflect.get(target, key, receiver),
  })
  try {
    globalThis.Date = OtherDate
    realMath.random = () => {
      asked.add("Math.random()")
      return chance
    }
    if (performance !== undefined) performance.now = () => time("performance.now()")
    const answer = run()
    return { answer, asked: [...asked] }
  } finally {
    globalThis.Date = RealDate
    realMath.random = real.random
    if (performance !== undefined && real.now !== undefined) performance.now = real.now
  }
}
