/** The input of the laws of a vector index. */
import { VectorIndex } from "@memfold/core"
import { Cause, Effect, Exit, Layer } from "effect"

/** A layer over a vector index. */
export type VectorIndexLayer = Layer.Layer<VectorIndex.VectorIndex, unknown>

/**
 * The vector index to check.
 *
 * - `layer`: a layer that builds a new, empty index each time, or a function that returns such a layer
 * - `reopen`: for an index that outlives its process, a function that returns a layer over a new file each time it is called;
 *   building that layer again opens the same file again
 * - `numRuns` (100): how many inputs each law is checked with
 */
export interface VectorIndexPropertiesOptions {
  readonly layer: VectorIndexLayer | (() => VectorIndexLayer)
  readonly reopen?: (() => VectorIndexLayer) | undefined
  readonly numRuns?: number | undefined
}

/** Runs a program with an index that is built for it and closed after it; throws the program's defect. */
export const withIndex = async <A>(
  layer: VectorIndexLayer,
  program: (index: VectorIndex.Service) => Effect.Effect<A, unknown>,
): Promise<A> => {
  const exit = await Effect.runPromiseExit(
    Effect.scoped(
      Effect.flatMap(Layer.build(Layer.fresh(layer)), (built) =>
        Effect.provide(
          Effect.flatMap(VectorIndex.VectorIndex, (index) =>
            index === null ? Effect.dieMessage("the layer has no vector index") : program(index),
          ),
          built,
        ),
      ),
    ),
  )
  if (Exit.isSuccess(exit)) return exit.value
  throw Cause.squash(exit.cause)
}
