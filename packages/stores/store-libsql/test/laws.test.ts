/** The laws of stores, and of whole memories, over a real server of libSQL. */
import { Effect, Layer } from "effect"
import { beforeAll } from "vitest"
import { deep, often } from "@memfold/harness/depth"
import { eventLogLaws, memoryLaws } from "@memfold/testing/vitest"
import { layer } from "../src/index.js"
import { libsqlServers, type Server } from "@memfold/harness/libsqlServers"
import { empty } from "./support.js"

const server = libsqlServers()
let one: Server
beforeAll(async () => {
  one = await server()
})

/** A log over an empty database. */
const fresh = () =>
  Layer.unwrapEffect(
    Effect.map(
      Effect.promise(() => empty(one.url)),
      () => layer({ url: one.url }),
    ),
  )

eventLogLaws({
  name: "libSQL",
  layer: fresh,
  reopen: () => {
    let isNew = true
    return Layer.suspend(() => {
      const made = isNew ? fresh() : layer({ url: one.url })
      isNew = false
      return made
    })
  },
  numRuns: often(1, 50),
  timeout: often(120_000, 900_000),
  timeLimit: 60_000,
})

// SQLite's SQL runs these laws at each test; here they take a request for each statement, and a minute.
if (deep)
  memoryLaws({
    name: "libSQL",
    numRuns: 20,
    timeout: 1_200_000,
    timeLimit: 60_000,
    skip: {
      L11: "its time goes on while a server is still answering, so that background work is never sure to be done",
    },
    layer: fresh,
  })
