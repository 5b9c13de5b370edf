/** The other ways to a server: TLS, a database of its own, and a master behind sentinels. */
import { EventLog } from "@memfold/core"
import { Effect, Fiber } from "effect"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"
import type { Options } from "../src/index.js"
import { relays } from "@memfold/harness/relay"
import { eventually, keepBusy, type Server, servers } from "@memfold/harness/redisServers"
import { all, hears, listener, openingFails, records, tenant, withLog } from "./support.js"

const { server } = servers()
const relay = relays()
const folder = mkdtempSync(join(tmpdir(), "memfold-redis-tls-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const brief = { retryFor: "300 millis", timeout: "2 seconds" } as const

it("rediss:// speaks TLS, and takes nobody's certificate that it does not know", async ({ skip }) => {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")]
  try {
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-keyout", key, "-out", cert]
    execFileSync("openssl", [...made, ...subject], { stdio: "ignore" })
  } catch {
    skip("the certificate is made with openssl")
  }
  const ca = readFileSync(cert)
  const config = ["requirepass right", "tls-auth-clients no", `tls-cert-file ${cert}`, `tls-key-file ${key}`]
  const one = await server({ config, tls: true, client: { password: "right", tls: { ca } } })
  const url = `rediss://:right@localhost:${one.port}`
  const prefix = tenant()
  await withLog({ url, tls: { ca }, prefix }, (log) =>
    Effect.gen(function* () {
      yield* log.append("s", records(2), { expectedVersion: 0, batchId: "a" })
      expect((yield* all(EventLog.records(log, "s"))).length).toBe(2)
    }),
  )
  expect((await openingFails({ url, prefix, ...brief })).reason).toBe(
    `rediss://localhost:${one.port}/0 cannot be reached by TLS; check its certificate, or whether it speaks TLS at all`,
  )
})

it("a database keeps its sessions to itself", async () => {
  const { url } = await server()
  const prefix = tenant()
  await withLog({ url: `${url}/3`, prefix }, (log) =>
    log.append("s", records(2), { expectedVersion: 0, batchId: "a" }),
  )
  expect(await withLog({ url, prefix }, (log) => EventLog.versionOf(log, "s"))).toBe(0)
  expect(await withLog({ url, db: 3, prefix }, (log) => EventLog.versionOf(log, "s"))).toBe(2)
})

it("a client that comes back while the server is busy is in its own database", async () => {
  const one = await server({ config: ["lua-time-limit 20"] })
  const via = await relay(one.port)
  await withLog({ url: via.url, db: 3, prefix: tenant(), retryFor: "30 seconds" }, (log) =>
    Effect.gen(function* () {
      yield* log.append("s", records(1), { expectedVersion: 0, batchId: "a" })
      const settle = yield* Effect.promise(() => keepBusy(one))
      let refused = false
      const lost = [...via.links]
      via.down = (data, link) => {
        // The first that a new connection asks for is its database.
        refused ||= !lost.includes(link) && data.includes("-BUSY")
        return true
      }
      for (const link of lost) link.client.destroy()
      const waiting = yield* Effect.fork(EventLog.versionOf(log, "s"))
      yield* Effect.promise(async () => {
        await eventually("its database is refused", async () => refused)
        await settle()
      })
      expect(yield* Fiber.join(waiting)).toBe(1)
      yield* log.append("new", records(1), { expectedVersion: 0, batchId: "b" })
      expect(yield* Effect.promise(() => one.client.info("keyspace"))).not.toContain("db0:")
    }),
  )
})

const watching = (master: Server): ReadonlyArray<string> => [
  `sentinel monitor main 127.0.0.1 ${master.port} 1`,
  "sentinel down-after-milliseconds main 500",
  "sentinel failover-timeout main 5000",
]

const knowsReplica = ({ client }: Server) =>
  eventually("the sentinel knows the replica", async () => {
    const list = (await client.call("SENTINEL", "REPLICAS", "main")) as ReadonlyArray<unknown>
    return list.length === 1
  })

/** A master and its replica, and a sentinel that knows both. */
const sentinels = async () => {
  const master = await server()
  const replica = await server({
    config: [`replicaof 127.0.0.1 ${master.port}`, "repl-ping-replica-period 1"],
  })
  await eventually("it follows", async () =>
    (await replica.client.info("replication")).includes("link_status:up"),
  )
  const sentinel = await server({ sentinel: true, config: watching(master) })
  await knowsReplica(sentinel)
  const behind = (port: number) =>
    ({
      sentinel: { name: "main", nodes: [{ host: "127.0.0.1", port }] },
      prefix: tenant(),
      retryFor: "30 seconds",
    }) as const
  return { master, replica, sentinel, behind }
}

/** The first record, which the replica has, too. */
const appendReplicated = (options: Options) =>
  withLog({ ...options, waitReplicas: { count: 1, timeout: "2 seconds" } }, (log) =>
    log.append("s", records(1), { expectedVersion: 0, batchId: "a" }),
  )

it("a master behind sentinels is followed when it changes", async () => {
  const { master, replica, sentinel, behind } = await sentinels()
  const options = behind(sentinel.port)
  await appendReplicated(options)
  await withLog(options, (log) =>
    Effect.gen(function* () {
      expect(yield* EventLog.versionOf(log, "s")).toBe(1)
      yield* Effect.promise(master.kill)
      // The sentinel takes its time to find out and to decide; the append waits for it.
      expect(yield* log.append("s", records(1), { expectedVersion: 1, batchId: "b" })).toMatchObject({
        version: 2,
      })
      expect((yield* all(EventLog.records(log, "s"))).length).toBe(2)
    }),
  )
  expect(await replica.client.info("replication")).toContain("role:master")
})

it("a master is followed by who is just asking for it when its change is announced", async () => {
  const { master, sentinel, behind } = await sentinels()
  const via = await relay(sentinel.port)
  const options = behind(via.port)
  await appendReplicated(options)
  await withLog(options, (log) =>
    Effect.gen(function* () {
      expect(yield* EventLog.versionOf(log, "s")).toBe(1)
      // From now on, questions to the sentinel are answered when its announcement has been taken.
      let taken = () => {}
      const announcement = new Promise<void>((resolve) => (taken = resolve))
      const before = new Set(via.links)
      via.down = (data, link) => {
        // Who has been told ends its subscription.
        if (/message.*\+switch-master/s.test(data.toString())) link.client.on("close", taken)
        if (!before.has(link)) void announcement.then(() => link.client.write(data))
        return before.has(link)
      }
      yield* Effect.promise(master.kill)
      expect(yield* log.append("s", records(1), { expectedVersion: 1, batchId: "b" })).toMatchObject({
        version: 2,
      })
    }),
  )
})

it("listeners follow when a master hangs and another is named", async () => {
  const { master, replica, sentinel, behind } = await sentinels()
  await withLog(behind(sentinel.port), (log) =>
    Effect.gen(function* () {
      const { told } = yield* listener(log)
      yield* Effect.addFinalizer(() => Effect.sync(() => master.signal("SIGCONT")))
      master.signal("SIGSTOP")
      yield* log.append("s", records(1), { expectedVersion: 0, batchId: "a" })
      yield* Effect.promise(() =>
        eventually("it listens to the new master", async () =>
          String(await replica.client.client("LIST", "TYPE", "PUBSUB")).includes("name=memfold"),
        ),
      )
      const before = told()
      yield* log.append("s", records(1), { expectedVersion: 1, batchId: "b" })
      yield* Effect.promise(() => eventually("it is told", async () => told() > before))
    }),
  )
})

it("listeners follow when a master hangs, also when the sentinels had been away since they began", async () => {
  const { master, replica, sentinel, behind } = await sentinels()
  await withLog({ ...behind(sentinel.port), timeout: "1 second" }, (log) =>
    Effect.gen(function* () {
      const listening = yield* listener(log)
      yield* Effect.promise(async () => {
        await sentinel.kill()
        await sentinel.start()
        await knowsReplica(sentinel)
      })
      yield* Effect.addFinalizer(() => Effect.sync(() => master.signal("SIGCONT")))
      master.signal("SIGSTOP")
      yield* Effect.promise(() =>
        eventually("another is named", async () =>
          (await replica.client.info("replication")).includes("role:master"),
        ),
      )
      yield* hears(log, listening)
    }),
  )
})

it("a sentinel that hangs is passed over", async () => {
  const master = await server()
  const [hanging, well] = [
    await server({ sentinel: true, config: watching(master) }),
    await server({ sentinel: true, config: watching(master) }),
  ]
  const nodes = [hanging, well].map(({ port }) => ({ host: "127.0.0.1", port }))
  hanging.signal("SIGSTOP")
  const options = { sentinel: { name: "main", nodes }, prefix: tenant(), timeout: "1 second" } as const
  expect(await withLog(options, (log) => EventLog.versionOf(log, "s"))).toBe(0)
})
