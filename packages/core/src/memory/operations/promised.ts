/** The operations with Promises. */
import type { Effect, Stream } from "effect"
import type { MemoryError } from "../MemoryOptions.js"
import type { Service } from "../MemoryService.js"
import type { Face, Promises } from "./Face.js"
import type { Operations } from "./Operations.js"
import { callOperation, eachOperation } from "./table.js"

/** How operations are run. */
export interface Runner<Name extends keyof Operations<Face>> {
  /** The operations that there are to be; all by default. */
  readonly names?: ReadonlyArray<Name>
  /** Runs the effect of an operation. With `finishes`, it goes on when the memory is closed. */
  readonly run: <A>(
    use: (memory: Pick<Service, Name>) => Effect.Effect<A, Error>,
    options: { readonly finishes: boolean },
  ) => Promise<A>
  /** Loops over the stream of an operation. Without it, there are no operations with streams. */
  readonly iterate?: <A>(
    use: (memory: Pick<Service, Name>) => Stream.Stream<A, MemoryError>,
  ) => AsyncIterable<A>
  /** What an argument is for the memory; it stays as it is by default. */
  readonly argument?: (given: unknown) => unknown
}

/**
 * The operations of a memory with Promises, by a function that runs them.
 *
 * @example
 * ```ts
 * import { Memory } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * export const reading = (memory: Memory.Service) =>
 *   Memory.promised({ names: ["context", "messages"], run: (use) => Effect.runPromise(use(memory)) })
 * ```
 */
export const promised = <Name extends keyof Operations<Face>, F extends Face = Promises>({
  names,
  run,
  iterate,
  argument = (given) => given,
}: Runner<Name>): Pick<Operations<F>, Name> =>
  eachOperation((name, { streams = false, finishes = false, effectsOnly = false }) => {
    if (effectsOnly || names?.includes(name as Name) === false) return undefined
    const called = (given: ReadonlyArray<unknown>) => (memory: object) =>
      callOperation(memory, name, given.map(argument)) as never
    if (!streams) return (...given) => run(called(given), { finishes })
    return iterate && ((...given) => iterate(called(given)))
  })
