/**
 * Before each test file: all properties of a run draw their inputs from the seed of the run (`vitest.config.ts`), and a
 * property without a number of inputs gets the number of the run.
 */
import * as fc from "fast-check"
import { inject } from "vitest"
import { often } from "@memfold/harness/depth"

declare module "vitest" {
  export interface ProvidedContext {
    /** The seed of all generated inputs of this run. */
    readonly seed: number
  }
}

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: inject("seed"), numRuns: often(40, 100) })
