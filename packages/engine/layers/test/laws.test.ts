import { describe, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { check, factProperties, title } from "@memfold/testing"
import { playedLayers } from "./played.js"

describe("the layers", () => {
  for (const law of factProperties({ layers: playedLayers }))
    it(title(law), () => check(law, { numRuns: often(25, 600) }))
})
