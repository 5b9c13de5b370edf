/** Before each test file: all properties of a run draw their inputs from the seed of the run (`vitest.config.ts`). */
import * as fc from "fast-check"
import { inject } from "vitest"

declare module "vitest" {
  export interface ProvidedContext {
    /** The seed of all generated inputs of this run. */
    readonly seed: number
  }
}

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: inject("seed") })
