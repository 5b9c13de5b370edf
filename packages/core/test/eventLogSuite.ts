/** The laws of stores, as the tests of the stores here run them. */
import type { Layer } from "effect"
import type { EventLog } from "../src/index.js"
import { eventLogLaws } from "../../testing/src/vitest.js"

/** Registers them under a name; `layer` is called for every input, and gives a layer over a log that is empty. */
export const eventLogSuite = (name: string, layer: () => Layer.Layer<EventLog.EventLog, unknown>): void =>
  eventLogLaws({ name, layer, numRuns: 25 })
