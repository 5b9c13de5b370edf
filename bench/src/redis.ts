/** The Redis store against a bare XADD of the same bytes: on one server, of its own, with the disk waited for or not. */
import { EventCodec } from "@memfold/core"
import * as RedisEventLog from "@memfold/store-redis"
import { Effect } from "effect"
import { Redis } from "ioredis"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { large } from "./large.js"
import { claim, commitOf, event, median, milliseconds, told } from "./measure.js"

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().on("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** A server of its own, as long as the work takes. */
const withServer = async <A>(
  folder: string,
  settings: Readonly<Record<string, string>>,
  work: (port: number) => Promise<A>,
): Promise<A> => {
  const port = await freePort()
  const dir = mkdtempSync(join(folder, "redis-"))
  const all = { bind: "127.0.0.1", port: String(port), dir, save: "", ...settings }
  const child = spawn(
    process.env["MEMFOLD_REDIS_SERVER"] ?? "redis-server",
    Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]),
    { stdio: "ignore" },
  )
  try {
    return await work(port)
  } finally {
    const ended = once(child, "exit")
    child.kill("SIGKILL")
    await ended
  }
}

const rounds = 200
const perRound = 100
const sessionsAtOnce = 50

/** The bare XADD is of the same record, a field for each value; everything else is the store's cost. */
const appends = (port: number) =>
  Effect.gen(function* () {
    const bare = yield* Effect.acquireRelease(
      Effect.sync(() => new Redis({ port, host: "127.0.0.1" })),
      (client) => Effect.sync(() => client.disconnect()),
    )
    bare.on("error", () => undefined)
    const log = yield* RedisEventLog.make({ url: `redis://127.0.0.1:${port}`, prefix: "bench" })
    const records = Array.from({ length: rounds * perRound }, (_, index) => ({
      at: 1_800_000_000_000 + index,
      ...EventCodec.encode(event(index)),
    }))
    const append = (session: string, version: number, position: number) =>
      log.append(session, [records[position]!], {
        expected: version,
        after: version === 0 ? undefined : commitOf(version - 1),
        commit: commitOf(version),
      })
    const times = { bare: [] as Array<number>, single: [] as Array<number>, many: [] as Array<number> }
    const each = perRound / sessionsAtOnce
    for (let round = 0; round < rounds; round++) {
      const start = round * perRound
      const positions = Array.from({ length: perRound }, (_, index) => start + index)
      const bareTime = yield* Effect.promise(() =>
        milliseconds(async () => {
          for (const index of positions) {
            const { at, type, version, checksum = 0, data } = records[index]!
            const record = { t: type, v: version, a: at, c: commitOf(index), k: checksum, d: data }
            await bare.xadd("bare", `${index + 1}-0`, ...Object.entries(record).flat())
          }
        }),
      )
      const single = Effect.forEach(positions, (index) => append("s", index, index), { discard: true })
      const singleTime = yield* Effect.promise(() => milliseconds(() => Effect.runPromise(single)))
      const many = Effect.forEach(
        Array.from({ length: sessionsAtOnce }, (_, session) => session),
        (session) =>
          Effect.forEach(
            Array.from({ length: each }, (_, index) => index),
            (index) => append(`s${session}`, round * each + index, start + session * each + index),
          ),
        { concurrency: "unbounded", discard: true },
      )
      const manyTime = yield* Effect.promise(() => milliseconds(() => Effect.runPromise(many)))
      // The first ones compile the code.
      if (round < 80) continue
      times.bare.push(bareTime / perRound)
      times.single.push(singleTime / perRound)
      times.many.push(manyTime / perRound)
    }
    return { bare: median(times.bare), single: median(times.single), many: median(times.many) }
  }).pipe(Effect.scoped, Effect.runPromise)

/** Measures and prints; answers whether every ratio is within its bound. */
export const redis = async (folder: string): Promise<boolean> => {
  const outcomes: Array<boolean> = []
  for (const appendfsync of ["always", "everysec"] as const) {
    const { bare, single, many } = await withServer(folder, { appendonly: "yes", appendfsync }, appends)
    const second = (millis: number) => `${Math.round(1_000 / millis).toLocaleString("en-US")}/s`
    console.log(`\nRedis, appendfsync ${appendfsync}: appending a message`)
    told("a bare XADD with ioredis", second(bare))
    told("an append, one writer", second(single))
    told(`an append, ${sessionsAtOnce} sessions at once`, second(many))
    // On one machine and without a wait for the disk, a bare XADD is next to nothing: what a script takes more is told.
    const [one, several] = appendfsync === "always" ? [1.3, 1] : [Infinity, Infinity]
    told("an append takes more than a bare XADD by", `${Math.round((single - bare) * 1_000)} µs`)
    outcomes.push(claim("one writer against bare XADDs", single / bare, one))
    outcomes.push(claim(`${sessionsAtOnce} sessions at once against bare XADDs`, many / bare, several))
  }
  outcomes.push(
    await withServer(folder, { appendonly: "no" }, (port) =>
      large("Redis", (size) =>
        RedisEventLog.make({ url: `redis://127.0.0.1:${port}`, prefix: `bench-${size}` }),
      ),
    ),
  )
  return outcomes.every(Boolean)
}
