/** Measures the Redis store against a bare XADD of the same bytes, on a server started here, with and without fsync. */
import * as RedisEventLog from "@memfold/store-redis"
import { Effect } from "effect"
import { Redis } from "ioredis"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync } from "node:fs"
import { join } from "node:path"
import { appends } from "./appends.js"
import { large } from "./large.js"
import { freePort } from "./freePort.js"
import { commitOf } from "./measure.js"

/** The process that answers at a port; waits until one does. */
const processAt = async (port: number): Promise<number> => {
  const client = new Redis({ port, host: "127.0.0.1", maxRetriesPerRequest: null, retryStrategy: () => 50 })
  client.on("error", () => undefined)
  try {
    return Number(/^process_id:(\d+)/m.exec(await client.info("server"))?.[1])
  } finally {
    client.disconnect()
  }
}

/** Starts a server for the duration of the work. If the port is taken, it tries another one. */
export const withServer = async <A>(
  folder: string,
  settings: Readonly<Record<string, string>>,
  work: (port: number) => Promise<A>,
  ports = 10,
): Promise<A> => {
  const port = await freePort()
  const dir = mkdtempSync(join(folder, "redis-"))
  const all = { bind: "127.0.0.1", port: String(port), dir, save: "", ...settings }
  const child = spawn(
    process.env["MEMFOLD_REDIS_SERVER"] ?? "redis-server",
    Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]),
    { stdio: "ignore" },
  )
  const ended = once(child, "exit")
  const answering = await Promise.race([processAt(port), ended.then(() => undefined)])
  if (answering !== child.pid) {
    child.kill("SIGKILL")
    await ended
    if (ports === 1) throw new Error("redis-server does not start on any port that was tried")
    return withServer(folder, settings, work, ports - 1)
  }
  try {
    return await Promise.race([
      work(port),
      ended.then(() => {
        throw new Error("redis-server ended while it was measured")
      }),
    ])
  } finally {
    child.kill("SIGKILL")
    await ended
  }
}

/** The bare XADD writes the same record, one field per value. Everything else is the cost of the store. */
const against = (port: number, appendfsync: "always" | "everysec"): Promise<boolean> =>
  Effect.gen(function* () {
    const client = yield* Effect.acquireRelease(
      Effect.sync(() => new Redis({ port, host: "127.0.0.1" })),
      (client) => Effect.sync(() => client.disconnect()),
    )
    client.on("error", () => undefined)
    return yield* appends({
      name: `Redis, appendfsync ${appendfsync}`,
      log: yield* RedisEventLog.make({ url: `redis://127.0.0.1:${port}`, prefix: "bench" }),
      bare: {
        name: "a bare XADD with ioredis",
        write: ({ time, type, schemaVersion: version, checksum = 0, data }, index) => {
          const record = { t: type, v: version, a: time, c: commitOf(index), k: checksum, d: data }
          return client.xadd("bare", `${index + 1}-0`, ...Object.entries(record).flat())
        },
      },
      turns: 160,
      warmUp: 60,
      // On one machine, and without a wait for the disk, a bare XADD is next to nothing.
      bounds: appendfsync === "always" ? { single: 1.3, many: 1 } : { single: Infinity, many: Infinity },
    })
  }).pipe(Effect.scoped, Effect.runPromise)

/** Measures and prints. Returns whether every ratio is within its bound. */
export const redis = async (folder: string): Promise<boolean> => {
  const outcomes: Array<boolean> = []
  for (const appendfsync of ["always", "everysec"] as const) {
    const settings = { appendonly: "yes", appendfsync }
    outcomes.push(await withServer(folder, settings, (port) => against(port, appendfsync)))
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
