/**
 * Masters of a cluster that are killed, and replicas that take over. Replication is asynchronous, so an append can be
 * acknowledged and lost with its master; waiting for replicas (`WAIT`) closes that.
 */
import { EventLog } from "@memfold/core"
import { Effect, Queue, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { random } from "@memfold/harness/random"
import { keysOf, make } from "../src/index.js"
import {
  type Cluster,
  eventually,
  mastersFor,
  type Server,
  servers,
  slotOf,
} from "@memfold/harness/redisServers"
import { all, crowd, found, logError, records, tenant, withLog } from "./support.js"

const { cluster } = servers()
const failovers = often(2, 10)

const isMaster = async ({ client }: Server) => (await client.info("replication")).includes("role:master")

const masters = async ({ nodes }: Cluster): Promise<ReadonlyArray<Server>> => {
  const are = await Promise.all(nodes.map((node) => isMaster(node).catch(() => false)))
  return nodes.filter((_, at) => are[at])
}

/** Takes a master away, and waits until its replica has taken over. */
const replaced = async (three: Cluster, master: Server, away: () => void | Promise<void>) => {
  const id = String(await master.client.cluster("MYID"))
  await away()
  await eventually("a replica has taken over", async () => {
    const other = three.nodes.find((node) => node !== master)
    const nodes = String(await other!.client.call("CLUSTER", "NODES"))
    const line = nodes.split("\n").find((one) => one.startsWith(id))
    // Without slots, its place is taken.
    return line?.includes("fail") === true && line.trim().split(" ").length === 8
  })
}

/** Kills a master, and starts it again as the replica of the new master. */
const failover = async (three: Cluster, master: Server) => {
  await replaced(three, master, master.kill)
  await master.start()
  await three.settled()
}

const run = async (three: Cluster, waiting: boolean) => {
  const next = random(waiting ? 7 : 8)
  const options = {
    cluster: three.addresses,
    prefix: tenant(),
    ...(waiting ? { waitReplicas: { count: 1, timeout: "500 millis" as const } } : {}),
  }
  return withLog(options, (log) =>
    Effect.gen(function* () {
      const writers = yield* crowd(log, ["one", "two", "three", "four", "five", "six"])
      const heard = yield* Queue.sliding<void>(1)
      yield* Effect.forkScoped(Stream.runForEach(log.changes("one"), () => heard.offer(undefined)))
      for (let turn = 0; turn < failovers; turn++) {
        const enough = writers.count() + 50
        while (writers.count() < enough) yield* Effect.sleep("1 millis")
        const list = yield* Effect.promise(() => masters(three))
        yield* Effect.promise(() => failover(three, list[Math.floor(next() * list.length)]!))
        // Whoever listens hears of the new master's sessions, too.
        yield* Queue.takeAll(heard)
        yield* Queue.take(heard)
      }
      yield* writers.stop
      const outcome = yield* found(log, writers)
      console.log(
        `${failovers} failovers ${waiting ? "with" : "without"} WAIT, ${writers.count()} acknowledged appends: lost ${outcome.lost}, double ${outcome.double}`,
      )
      return { outcome, shortened: writers.shortened() }
    }),
  )
}

describe("failovers of a cluster's masters", () => {
  const config = ["appendonly yes", "appendfsync everysec"]

  it(`${failovers} with WAIT: no acknowledged append is lost or double`, async () => {
    const { outcome, shortened } = await run(await cluster(config), true)
    expect(outcome).toEqual({ lost: 0, double: 0, disorder: 0 })
    expect(shortened).toBe(0)
  })

  it(`${failovers} without: none is double, and what is left is in order`, async () => {
    const { outcome } = await run(await cluster(config), false)
    expect(outcome).toMatchObject({ double: 0, disorder: 0 })
  })

  it("what a replica had not got when its master died is lost without WAIT, and never acknowledged with it", async () => {
    const three = await cluster(config)
    const prefix = tenant()
    const slot = await three.nodes[0]!.client.call("CLUSTER", "KEYSLOT", keysOf(prefix, "s").log)
    const master = three.nodes[Math.floor(Number(slot) / Math.ceil(16_384 / 3))]!
    const lonely = { cluster: three.addresses, prefix }
    const careful = { ...lonely, waitReplicas: { count: 1, timeout: "100 millis" as const } }
    await withLog(lonely, (log) =>
      Effect.flatMap(make(careful), (waiting) =>
        Effect.gen(function* () {
          // A replica that has only just begun to follow may be late.
          const patiently = (expectedVersion: number, batchId: string) =>
            Effect.retry(waiting.append("s", records(1), { expectedVersion, batchId }), {
              times: 100,
              while: ({ _tag }) => _tag === "LogError",
            })
          yield* patiently(0, "a")
          // From here on its replica cannot follow: it does not know the new password.
          yield* Effect.promise(async () => {
            await master.client.config("SET", "requirepass", "new")
            await master.client.call("CLIENT", "KILL", "TYPE", "replica")
          })
          const error = yield* logError(waiting.append("s", records(1), { expectedVersion: 1, batchId: "b" }))
          expect(error.reason).toMatch(/^the master has it, but only 0 of 1 replicas/)
          // Told apart by the answer: this one is acknowledged, and gone with the master.
          expect((yield* log.append("s", records(1), { expectedVersion: 2, batchId: "c" })).version).toBe(3)
          yield* Effect.promise(() => failover(three, master))
          expect(yield* EventLog.versionOf(log, "s")).toBe(1)
          // The append that was never acknowledged is sent again, as a caller would, and is stored once.
          expect(yield* patiently(1, "b")).toMatchObject({ fromVersion: 2, version: 2 })
          expect((yield* all(EventLog.records(log, "s"))).map(({ batchId }) => batchId)).toEqual(["a", "b"])
        }),
      ),
    )
  })

  it("a master that hangs is not waited for once another has taken over", async () => {
    const three = await cluster(config)
    const prefix = tenant()
    const [master] = await mastersFor(three, await slotOf(three, keysOf(prefix, "s").log))
    const options = {
      cluster: three.addresses,
      prefix,
      timeout: "500 millis",
      retryFor: "10 seconds",
    } as const
    await withLog({ ...options, waitReplicas: { count: 1, timeout: "5 seconds" } }, (log) =>
      log.append("s", records(1), { expectedVersion: 0, batchId: "a" }),
    )
    await withLog(options, (log) =>
      Effect.gen(function* () {
        const heard = yield* Queue.unbounded<void>()
        yield* Effect.forkScoped(Stream.runForEach(log.changes("s"), () => heard.offer(undefined)))
        yield* Queue.take(heard)
        expect(yield* EventLog.versionOf(log, "s")).toBe(1)
        yield* Effect.addFinalizer(() => Effect.sync(() => master.signal("SIGCONT")))
        yield* Effect.promise(() => replaced(three, master, () => master.signal("SIGSTOP")))
        yield* Queue.takeAll(heard)
        expect(yield* log.append("s", records(1), { expectedVersion: 1, batchId: "b" })).toMatchObject({
          version: 2,
        })
        // Of the append, or, where it was not listening at that moment, that something may have been missed.
        yield* Queue.take(heard)
        expect((yield* all(EventLog.records(log, "s"))).map(({ batchId }) => batchId)).toEqual(["a", "b"])
      }),
    )
  })

  it("a master that is just being replaced is waited for when the cluster is opened, also with a level required", async () => {
    const three = await cluster(config)
    const options = {
      cluster: three.addresses,
      prefix: tenant(),
      timeout: "1 second",
      require: "everysec",
    } as const
    await three.nodes[0]!.kill()
    expect(await withLog(options, (log) => Effect.succeed(log.durability.level))).toBe("everysec")
  })
})
