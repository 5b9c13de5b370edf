/** The input of the laws of a memory. */
import type { EventLog, Memory, Message, Strategy, Summarizer } from "@memfold/core"
import { Effect, type Layer } from "effect"
import * as fc from "fast-check"
import { strategy as anyStrategy } from "../arbitrary/strategy.js"
import type { LogLayer } from "../log/input.js"
import type { VectorIndexLayer } from "../vectors/input.js"
import { said } from "../strategy/picture.js"

/**
 * Options of the laws of a memory.
 *
 * - `layer`: a layer that builds a new, empty log each time, or a function that returns one; by default in memory
 * - `memory`: the engine; by default memfold's own
 * - `vectorIndex`: a layer that builds a new, empty vector index each time, or a function that returns one; by default in the
 *   process
 * - `strategies`: the strategies to use; by default random ones
 * - `summarizer`: writes the summaries for the law that no summary raises trust; by default, one that repeats every word that it reads
 * - `numRuns` (50): how many inputs each law is checked with
 */
export interface MemoryPropertiesOptions {
  readonly layer?: LogLayer | (() => LogLayer) | undefined
  readonly memory?:
    | ((
        options: Memory.Options,
      ) => Layer.Layer<Memory.Memory, never, EventLog.EventLog | Summarizer.Summarizer>)
    | undefined
  readonly vectorIndex?: VectorIndexLayer | (() => VectorIndexLayer) | undefined
  readonly strategies?: fc.Arbitrary<Strategy.Strategy> | ReadonlyArray<Strategy.Strategy> | undefined
  readonly summarizer?: Summarizer.Service | undefined
  readonly numRuns?: number | undefined
}

/** The values and helpers that the laws of a memory share. */
export interface MemoryKit {
  readonly options: MemoryPropertiesOptions
  readonly strategies: fc.Arbitrary<Strategy.Strategy>
  readonly numRuns: number
}

/** The values and helpers that the laws of a memory share. */
export const memoryKitOf = (options: MemoryPropertiesOptions): MemoryKit => {
  const { strategies = anyStrategy, numRuns = 50 } = options
  return {
    options,
    numRuns,
    strategies: "generate" in strategies ? strategies : fc.constantFrom(...strategies),
  }
}

/** The session that the laws of a memory work on. */
export const session = "s"

/** Messages in the batches they are appended in. */
export type Batches = ReadonlyArray<ReadonlyArray<Message.Message>>

/** Batches, a message a line. */
export const listOf = (batches: Batches): string =>
  batches
    .map((batch) => batch.map((message) => `  ${message.role} ${said(message)}`).join("\n"))
    .join("\n  --\n")

/** Appends batches one after another, each until it is acknowledged; `who` makes the idempotency keys. */
export const appendAll = (memory: Memory.Service, batches: Batches, who: string) =>
  Effect.forEach(
    batches,
    (batch, position) =>
      memory
        .append(session, batch, { idempotencyKey: `${who}${position}` })
        .pipe(Effect.retry({ while: (error) => error._tag === "LogError", times: 100 })),
    { discard: true },
  )
