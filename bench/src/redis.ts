/** The Redis store against a bare XADD of the same bytes: on one server, of its own, with the disk waited for or not. */
import { EventCodec } from "@memfold/core"
import * as RedisEventLog from "@memfold/store-redis"
import { Effect } from "effect"
import { Redis } from "ioredis"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { claim, commitOf, event, median, milliseconds, told } from "./measure.js"

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().on("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

interface Started {
  readonly port: number
  readonly child: ChildProcess
}

const start = async (folder: string, appendfsync: string): Promise<Started> => {
  const port = await freePort()
  const dir = join(folder, `redis-${appendfsync}`)
  mkdirSync(dir)
  const settings = { bind: "127.0.0.1", port, dir, appendonly: "yes", appendfsync, save: "" }
  const child = spawn(
    process.env["MEMFOLD_REDIS_SERVER"] ?? "redis-server",
    Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]),
    { stdio: "ignore" },
  )
  return { port, child }
}

const rounds = 30
const perRound = 100

const measure = async (folder: string, appendfsync: "always" | "everysec"): Promise<boolean> => {
  const { port, child } = await start(folder, appendfsync)
  const bare = new Redis({ port, host: "127.0.0.1" })
  bare.on("error", () => undefined)
  try {
    const times = { bare: [] as Array<number>, append: [] as Array<number> }
    await Effect.gen(function* () {
      const log = yield* RedisEventLog.make({ url: `redis://127.0.0.1:${port}`, prefix: "bench" })
      for (let round = 0; round < rounds; round++) {
        const positions = Array.from({ length: perRound }, (_, index) => round * perRound + index)
        const records = positions.map((index) => ({
          at: 1_800_000_000_000 + index,
          ...EventCodec.encode(event(index)),
        }))
        const bareTime = yield* Effect.promise(() =>
          milliseconds(async () => {
            for (const [position, index] of positions.entries()) {
              const { at, type, version, checksum, data } = records[position]!
              const fields = [
                "t",
                type,
                "v",
                version,
                "a",
                at,
                "c",
                commitOf(index),
                "k",
                checksum ?? 0,
                "d",
                data,
              ]
              await bare.xadd("bare", `${index + 1}-0`, ...fields)
            }
          }),
        )
        const append = Effect.forEach(
          positions,
          (index, position) =>
            log.append("s", [records[position]!], {
              expected: index,
              after: index === 0 ? undefined : commitOf(index - 1),
              commit: commitOf(index),
            }),
          { discard: true },
        )
        const appendTime = yield* Effect.promise(() => milliseconds(() => Effect.runPromise(append)))
        // The first ones compile the code.
        if (round < 10) continue
        times.bare.push(bareTime / perRound)
        times.append.push(appendTime / perRound)
      }
    }).pipe(Effect.scoped, Effect.runPromise)
    const [one, other] = [median(times.bare), median(times.append)]
    const second = (millis: number) => `${Math.round(1_000 / millis).toLocaleString("en-US")}/s`
    console.log(`\nRedis, appendfsync ${appendfsync}: appending a message`)
    told("a bare XADD with ioredis", second(one))
    told("an append, one writer", second(other))
    return claim("an append against a bare XADD", other / one, 1.3)
  } finally {
    bare.disconnect()
    const ended = once(child, "exit")
    child.kill("SIGKILL")
    await ended
  }
}

/** Measures and prints; answers whether every ratio is within its bound. */
export const redis = async (folder: string): Promise<boolean> => {
  const outcomes = [await measure(folder, "always"), await measure(folder, "everysec")]
  return outcomes.every(Boolean)
}
