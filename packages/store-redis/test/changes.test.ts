/** What another process writes is heard at once. */
import { Deferred, Effect, Fiber, Queue, Stream } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { beforeAll, describe, expect, it } from "vitest"
import { bundled, start } from "@memfold/harness/children"
import type { Options } from "../src/index.js"
import { keysOf, make } from "../src/index.js"
import { type Cluster, eventually, type Server, servers, slotOf } from "@memfold/harness/redisServers"
import { hears, listener, records, tenant, uncaught, withLog } from "./support.js"

const script = bundled(new URL("children/", import.meta.url), ["listener"])
const { server, cluster } = servers()
let one: Server
let three: Cluster
beforeAll(async () => {
  ;[one, three] = await Promise.all([server(), cluster()])
})

const listening = (
  log: { readonly changes: (session: string) => Stream.Stream<void, unknown> },
  session: string,
) =>
  Effect.gen(function* () {
    const heard = yield* Queue.unbounded<void>()
    yield* Effect.forkScoped(Stream.runForEach(log.changes(session), () => heard.offer(undefined)))
    // Told once when it has begun to listen.
    yield* Queue.take(heard)
    return heard
  })

const stores: ReadonlyArray<readonly [name: string, options: () => Options]> = [
  ["a server", () => ({ url: one.url })],
  ["a cluster", () => ({ cluster: three.addresses })],
]

for (const [name, where] of stores) {
  describe(`changes in ${name}`, () => {
    it("are heard by others, each session by itself, also of rewritten and deleted ones", async () => {
      const options = { ...where(), prefix: tenant() }
      await withLog(options, (writer) =>
        Effect.gen(function* () {
          const reader = yield* make(options)
          const sessions = ["a", "b", "{c}", "\n"]
          const queues = yield* Effect.forEach(sessions, (session) => listening(reader, session), {
            concurrency: "unbounded",
          })
          for (const [at, session] of sessions.entries()) {
            yield* writer.append(session, records(1), { expectedVersion: 0, batchId: "c1" })
            yield* Queue.take(queues[at]!)
            yield* writer.rewrite(session, [{ version: 1, schemaVersion: 1, data: "[]" }], records(1), {
              expectedVersion: 1,
              batchId: "c2",
            })
            yield* Queue.take(queues[at]!)
            yield* writer.delete(session)
            yield* Queue.take(queues[at]!)
          }
          for (const queue of queues) expect(yield* Queue.size(queue)).toBe(0)
        }),
      )
    })

    it("are heard by many listeners, until each has enough", async () => {
      const options = { ...where(), prefix: tenant() }
      await withLog(options, (log) =>
        Effect.gen(function* () {
          const begun = yield* Deferred.make<void>()
          const first = yield* log.changes("s").pipe(
            Stream.tap(() => Deferred.succeed(begun, undefined)),
            Stream.take(2),
            Stream.runCount,
            Effect.fork,
          )
          yield* Deferred.await(begun)
          const heard = yield* listening(log, "s")
          yield* log.append("s", records(1), { expectedVersion: 0, batchId: "c1" })
          expect(yield* Fiber.join(first)).toBe(2)
          yield* Queue.take(heard)
          yield* log.append("s", records(1), { expectedVersion: 1, batchId: "c2" })
          yield* Queue.take(heard)
        }),
      )
    })
  })
}

describe("a lost connection", () => {
  it("is listened on again, and told, since something may have been missed", async () => {
    const own = await server({ config: ["appendonly yes"] })
    const options = { url: own.url, prefix: tenant() }
    await withLog(options, (log) =>
      Effect.gen(function* () {
        const heard = yield* listening(log, "s")
        yield* log.append("s", records(1), { expectedVersion: 0, batchId: "c1" })
        yield* Queue.take(heard)
        yield* Effect.promise(own.kill)
        yield* Effect.promise(own.start)
        yield* Queue.take(heard)
        yield* log.append("s", records(1), { expectedVersion: 1, batchId: "c2" })
        yield* Queue.take(heard)
      }),
    )
  })
})

describe("a cluster that is not whole", () => {
  it("keeps nobody from hearing of the slots that somebody has", async () => {
    const own = await cluster()
    const prefix = tenant()
    // Any but the one of the session.
    const slot = ((await slotOf(own, keysOf(prefix, "s").log)) + 1) % 16_384
    await eventually("nobody has a slot", async () => {
      const assigned = own.nodes.map(async ({ client }) => {
        await client.call("CLUSTER", "DELSLOTS", String(slot)).catch(() => undefined)
        return String(await client.call("CLUSTER", "INFO")).includes("cluster_slots_assigned:16384")
      })
      return !(await Promise.all(assigned)).includes(true)
    })
    const errors = await uncaught(() =>
      withLog({ cluster: own.addresses, prefix, timeout: "1 second" }, (log) =>
        Effect.flatMap(listener(log), (listening) => hears(log, listening)),
      ),
    )
    expect(errors).toEqual([])
  })

  it("keeps no process from its end, also when it is closed while it looks for the slots", async () => {
    const own = await cluster()
    const often = { clusterOptions: { slotsRefreshInterval: 100 } }
    const options = { cluster: own.addresses, prefix: tenant(), timeout: "1 second", ...often }
    const child = start(script("listener"), JSON.stringify(options))
    expect(await child.line()).toBe("listening")
    for (const node of own.nodes) node.signal("SIGSTOP")
    // Its listener looks every two seconds, and then waits for one server after the other.
    await sleep(2_500)
    let ended = false
    void child.end().then(() => (ended = true))
    await eventually("the process ends by itself", async () => ended)
  })
})
