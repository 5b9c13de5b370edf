/** The laws of every store over shards in memory. */
import { EventLog, InMemoryEventLog } from "@memfold/core"
import { often } from "@memfold/harness/depth"
import { eventLogLaws } from "@memfold/testing/vitest"
import { Effect, Layer } from "effect"
import { makeSharded, type Placing } from "../src/index.js"

const inMemory = (placing: Placing) =>
  Layer.effect(
    EventLog.EventLog,
    Effect.map(
      Effect.forEach(["a", "b", "c"], (name) => Effect.map(InMemoryEventLog.make, (log) => ({ name, log }))),
      (shards): EventLog.Service => makeSharded({ shards, ...placing }),
    ),
  )

eventLogLaws({
  name: "three shards in memory, by session",
  numRuns: often(6, 200),
  layer: () => inMemory({}),
})
eventLogLaws({
  name: "three shards in memory, by owner",
  numRuns: often(6, 200),
  layer: () => inMemory({ place: "owner" }),
})
