/** A turn in Redis (everysec) against a bare XADD of the same bytes. */
import { EventLog, Memory, Message } from "@memfold/core"
import * as RedisEventLog from "@memfold/store-redis"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Effect } from "effect"
import { Redis } from "ioredis"
import { commitOf } from "../measure.js"
import { withServer } from "../redis.js"
import { turnAt } from "./conversation.js"
import { type Cost, costOf } from "./cost.js"
import { compared } from "./pairs.js"
import { recordsAt } from "./records.js"

const rounds = 120
const warmUp = 40
const perRound = 50

const against = (port: number): Promise<boolean> =>
  Effect.gen(function* () {
    const client = yield* Effect.acquireRelease(
      Effect.sync(() => new Redis({ port, host: "127.0.0.1" })),
      (client) => Effect.sync(() => client.disconnect()),
    )
    client.on("error", () => undefined)
    const log = yield* RedisEventLog.make({ url: `redis://127.0.0.1:${port}`, prefix: "bench" })
    const memory = yield* Memory.make({ strategy: SlidingWindow(), compaction: { mode: "off" } }).pipe(
      Effect.provide(ExtractiveSummarizer.layer()),
      Effect.provideService(EventLog.EventLog, log),
    )
    const records = Array.from({ length: rounds * perRound }, (_, index) => recordsAt(index))
    const one = {
      bare: (index: number) => {
        const fields = records[index]!.flatMap(({ time, type, schemaVersion, checksum, data }) =>
          Object.entries({
            t: type,
            v: schemaVersion,
            a: time,
            c: commitOf(index),
            k: checksum ?? 0,
            d: data,
          }),
        )
        return client.xadd("bare", `${index + 1}-0`, ...fields.flat())
      },
      store: (index: number) =>
        Effect.runPromise(
          log.append("log", records[index]!, {
            expectedVersion: 2 * index,
            lastBatchId: index === 0 ? undefined : commitOf(index - 1),
            batchId: commitOf(index),
            // As the engine appends without an idempotency key.
            retried: "in-place",
          }),
        ),
      memory: (index: number) => {
        const { user, assistant } = turnAt(index)
        return Effect.runPromise(memory.append("memory", [Message.user(user), Message.assistant(assistant)]))
      },
    }
    const costs = { bare: [] as Array<Cost>, store: [] as Array<Cost>, memory: [] as Array<Cost> }
    yield* Effect.promise(async () => {
      for (let round = 0; round < rounds; round++) {
        for (const what of ["bare", "store", "memory"] as const) {
          const { wall, cpu } = await costOf(async () => {
            for (let index = 0; index < perRound; index++) await one[what](round * perRound + index)
          })
          if (round >= warmUp) costs[what].push({ wall: wall / perRound, cpu: cpu / perRound })
        }
      }
    })
    const pairsOf = (what: "store" | "memory") =>
      costs[what].map((measured, position) => ({ measured, bare: costs.bare[position]! }))
    console.log("\nA turn in Redis, appendfsync everysec")
    const reference = "a bare XADD"
    return [
      compared({
        name: "an append to the store",
        reference,
        pairs: pairsOf("store"),
        most: { processor: 1.3, wait: 1.3 },
      }),
      // No bound here: the engine does the same work for every store, and the comparison with SQLite has its bound.
      compared({ name: "memory.append", reference, pairs: pairsOf("memory") }),
    ].every(Boolean)
  }).pipe(Effect.scoped, Effect.runPromise)

/** Measures and prints. Returns whether the ratio is within its bound. */
export const redisTurn = (folder: string): Promise<boolean> =>
  withServer(folder, { appendonly: "yes", appendfsync: "everysec" }, against)
