import type { Law } from "../law/Law.js"
import { memoryLawsOf } from "./laws.js"
import type { MemoryPropertiesOptions } from "./world.js"

/**
 * The laws of a whole memory over a log, as properties for any test runner; `memoryLaws` of `@memfold/testing/vitest`
 * makes tests of them. For a store, they say that the engine works over it; for strategies, that the engine works
 * with them.
 *
 * @example
 * ```ts
 * import { check, memoryProperties } from "@memfold/testing"
 * import { RollingBuffer } from "@memfold/strategy-rolling-buffer"
 *
 * for (const law of memoryProperties({ strategies: [RollingBuffer({ bufferSize: 2 })] })) await check(law)
 * ```
 */
export const memoryProperties = (options: MemoryPropertiesOptions = {}): ReadonlyArray<Law> =>
  memoryLawsOf(options)
