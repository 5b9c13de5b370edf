import { Recall, VectorIndex } from "@memfold/core"
import { Layer } from "effect"
import { often } from "@memfold/harness/depth"
import { memoryProperties } from "../src/index.js"
import { lawSuite, vectorIndexLaws } from "../src/vitest.js"

const layer = Layer.sync(VectorIndex.VectorIndex, () => Recall.vectorsInProcess())

vectorIndexLaws({ name: "in the process", layer, numRuns: often(12, 300) })
lawSuite(
  "recall by meaning",
  memoryProperties({ numRuns: often(4, 200) }).filter(({ name }) => name.startsWith("recall by meaning")),
)
