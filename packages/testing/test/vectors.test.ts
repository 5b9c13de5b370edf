import { Recall, VectorIndex } from "@memfold/core"
import { Layer } from "effect"
import { memoryProperties } from "../src/index.js"
import { lawSuite, vectorIndexLaws } from "../src/vitest.js"

const layer = Layer.sync(VectorIndex.VectorIndex, () => Recall.vectorsInProcess())

vectorIndexLaws({ name: "in the process", layer })
lawSuite(
  "recall by meaning",
  memoryProperties({}).filter(({ name }) => name.startsWith("recall by meaning")),
)
