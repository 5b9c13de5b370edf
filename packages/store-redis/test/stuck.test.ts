/** Servers that answer, and do nothing: they cannot save, are busy, are loading, or lack replicas or a master. */
import { EventLog } from "@memfold/core"
import { Effect, Fiber } from "effect"
import { mkdirSync, rmdirSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { make } from "../src/index.js"
import { answered, eventually, keepBusy, servers } from "@memfold/harness/redisServers"
import { all, logError, putSnapshot, records, tenant, withLog } from "./support.js"

const { server } = servers()
/** However slow the machine is: what is waited for comes before it. */
const patient = { retryFor: "1 minute" } as const
const impatient = { retryFor: "300 millis" } as const

const saved = async (client: Awaited<ReturnType<typeof server>>["client"]): Promise<string | undefined> => {
  const info = await client.info("persistence")
  if (!info.includes("rdb_bgsave_in_progress:0")) return undefined
  return /rdb_last_bgsave_status:(\w+)/.exec(info)?.[1]
}

describe("a server that cannot save to its disk (-MISCONF)", () => {
  it("refuses whatever is to be written, at once; it is read, and goes on once it is repaired", async () => {
    const config = ["save 3600 1", "stop-writes-on-bgsave-error yes", "appendonly no", "dbfilename dump.rdb"]
    const { url, folder, client } = await server({ config })
    await withLog({ url, prefix: tenant(), ...patient }, (log) =>
      Effect.gen(function* () {
        yield* log.append("one", records(2), { expectedVersion: 0, batchId: "a" })
        // No file can take the place of a folder.
        const inTheWay = join(folder, "dump.rdb")
        yield* Effect.promise(async () => {
          mkdirSync(inTheWay)
          await client.bgsave()
          await eventually("saving has failed", async () => (await saved(client)) === "err")
        })
        const batch = records(3, '"SECRET"')
        const append = log.append("one", batch, { expectedVersion: 2, batchId: "b" })
        const keys = yield* Effect.promise(() => client.dbsize())
        const error = yield* logError(append, "SECRET")
        expect(error).toMatchObject({ operation: "append", session: "one" })
        expect(error.reason).toMatch(
          /takes no writes, since it cannot save to its disk; make room there and look at its log$/,
        )
        for (const refused of [
          log.append("two", batch, { expectedVersion: 0, batchId: "c" }),
          log.rewrite("one", [{ version: 1, schemaVersion: 1, data: '"SECRET"' }], batch, {
            expectedVersion: 2,
            batchId: "d",
          }),
          putSnapshot(log, "one", { version: 2, batchId: "a" }),
          log.delete("one"),
        ]) {
          expect((yield* logError(refused, "SECRET")).reason).toBe(error.reason)
        }
        // Each was refused once: what cannot pass by itself is not tried again.
        expect(yield* Effect.promise(() => answered({ client }, "MISCONF"))).toBe(5)
        expect(yield* Effect.promise(() => client.dbsize())).toBe(keys)
        expect((yield* all(EventLog.records(log, "one"))).map(({ data }) => data)).toEqual(["{}", "{}"])
        expect((yield* all(EventLog.sessions(log))).map(({ session }) => session)).toEqual(["one"])
        yield* Effect.promise(async () => {
          rmdirSync(inTheWay)
          await client.bgsave()
          await eventually("it is saved", async () => (await saved(client)) === "ok")
        })
        expect(yield* append).toEqual({ fromVersion: 3, version: 5, duplicate: false })
        yield* putSnapshot(log, "one", { version: 5, batchId: "b" })
        expect(yield* log.delete("one")).toBe(true)
      }),
    )
  })
})

describe("a server that is busy with another program's script (-BUSY)", () => {
  it("is waited for, within bounds; what was tried meanwhile is there once", async () => {
    const one = await server({ config: ["lua-time-limit 20"] })
    const { url } = one
    const prefix = tenant()
    await withLog({ url, prefix, ...patient }, (log) =>
      Effect.gen(function* () {
        const brief = yield* make({ url, prefix, ...impatient })
        const sessions = ["one", "two", "three"]
        for (const session of sessions)
          yield* log.append(session, records(1), { expectedVersion: 0, batchId: "a" })
        const settle = yield* Effect.promise(() => keepBusy(one))
        const waiting = yield* Effect.forEach(sessions, (session) =>
          Effect.fork(log.append(session, records(2), { expectedVersion: 1, batchId: "b" })),
        )
        const error = yield* logError(
          brief.append("one", records(1, '"SECRET"'), { expectedVersion: 1, batchId: "c" }),
        )
        expect(error).toMatchObject({ operation: "append", session: "one" })
        expect(error.reason).toMatch(/is busy with another program's script; try again when it has settled$/)
        expect((yield* logError(EventLog.versionOf(brief, "one"))).reason).toBe(error.reason)
        expect(yield* Effect.promise(settle)).toMatch(/killed/i)
        for (const appended of yield* Effect.forEach(waiting, Fiber.join)) {
          expect(appended).toEqual({ fromVersion: 2, version: 3, duplicate: false })
        }
        for (const session of sessions) {
          expect((yield* all(EventLog.records(log, session))).map(({ batchId }) => batchId)).toEqual([
            "a",
            "b",
            "b",
          ])
        }
      }),
    )
  })
})

describe("a server that is loading its data (-LOADING)", () => {
  it("under a log that is open: an append waits, within bounds, and is there once", async () => {
    const one = await server({
      config: ["appendonly yes", "key-load-delay 1000", "loading-process-events-interval-bytes 1024"],
    })
    const prefix = tenant()
    const { url, client } = one
    await withLog({ url, prefix, ...patient }, (log) =>
      Effect.gen(function* () {
        const brief = yield* make({ url, prefix, ...impatient })
        yield* log.append("s", records(1), { expectedVersion: 0, batchId: "a" })
        yield* Effect.promise(async () => {
          const many = client.pipeline()
          for (let n = 0; n < 1_500; n++) many.set(`other:${n}`, "x".repeat(100))
          await many.exec()
          // Its base file, which is loaded key by key, is to hold all of them.
          await client.bgrewriteaof()
          await eventually("the file is written anew", async () => {
            const info = await client.info("persistence")
            return info.includes("aof_rewrite_in_progress:0") && info.includes("aof_rewrites:1")
          })
          await one.kill()
        })
        const starting = one.start()
        const waiting = yield* Effect.fork(log.append("s", records(2), { expectedVersion: 1, batchId: "b" }))
        const failing = logError(
          brief.append("s", records(1, '"SECRET"'), { expectedVersion: 1, batchId: "c" }),
          "SECRET",
        )
        // At first nobody listens.
        const error = yield* Effect.repeat(failing, {
          until: ({ reason }) => reason.includes("loading"),
          times: 20,
        })
        expect(error).toMatchObject({ operation: "append", session: "s" })
        expect(error.reason).toMatch(/is still loading its data; try again when it has settled$/)
        expect(yield* Fiber.join(waiting)).toEqual({ fromVersion: 2, version: 3, duplicate: false })
        yield* Effect.promise(() => starting)
        expect((yield* all(EventLog.records(log, "s"))).map(({ batchId }) => batchId)).toEqual([
          "a",
          "b",
          "b",
        ])
      }),
    )
  })
})

describe("a server with too few replicas (-NOREPLICAS)", () => {
  it("is waited for, within bounds; nothing is written meanwhile", async () => {
    const { url, port, client } = await server({ config: ["min-replicas-max-lag 10"] })
    const prefix = tenant()
    await withLog({ url, prefix, ...patient }, (log) =>
      Effect.gen(function* () {
        const brief = yield* make({ url, prefix, ...impatient })
        yield* log.append("s", records(1), { expectedVersion: 0, batchId: "a" })
        yield* Effect.promise(() => client.config("SET", "min-replicas-to-write", "1"))
        const waiting = yield* Effect.fork(log.append("s", records(2), { expectedVersion: 1, batchId: "b" }))
        const error = yield* logError(brief.append("s", records(1), { expectedVersion: 1, batchId: "c" }))
        expect(error).toMatchObject({ operation: "append", session: "s" })
        expect(error.reason).toMatch(/too few replicas follow it \(min-replicas-to-write\); bring them back$/)
        expect((yield* all(EventLog.records(brief, "s"))).length).toBe(1)
        yield* Effect.promise(() => server({ config: [`replicaof 127.0.0.1 ${port}`] }))
        expect(yield* Fiber.join(waiting)).toEqual({ fromVersion: 2, version: 3, duplicate: false })
        expect((yield* all(EventLog.records(log, "s"))).map(({ batchId }) => batchId)).toEqual([
          "a",
          "b",
          "b",
        ])
      }),
    )
  })
})

describe("a replica that has lost its master (-MASTERDOWN)", () => {
  it("and answers no questions is waited for, within bounds", async () => {
    const master = await server({ config: ["appendonly yes", "appendfsync always"] })
    const replica = await server({
      config: [`replicaof 127.0.0.1 ${master.port}`, "replica-serve-stale-data no"],
    })
    const prefix = tenant()
    await withLog({ url: master.url, prefix, waitReplicas: { count: 1, timeout: "50 millis" } }, (log) =>
      // The first replication of a new link is acknowledged a moment later.
      Effect.retry(log.append("s", records(2), { expectedVersion: 0, batchId: "a" }), { times: 200 }),
    )
    await withLog({ url: replica.url, prefix, ...patient }, (log) =>
      Effect.gen(function* () {
        const brief = yield* make({ url: replica.url, prefix, ...impatient })
        expect(yield* EventLog.versionOf(log, "s")).toBe(2)
        yield* Effect.promise(master.kill)
        yield* Effect.promise(() =>
          eventually("the link is down", async () =>
            (await replica.client.info("replication")).includes("master_link_status:down"),
          ),
        )
        const waiting = yield* Effect.fork(EventLog.versionOf(log, "s"))
        const error = yield* logError(EventLog.versionOf(brief, "s"))
        expect(error).toMatchObject({ operation: "head", session: "s" })
        expect(error.reason).toMatch(/is a replica that has lost its master; try again when it has settled$/)
        yield* Effect.promise(master.start)
        expect(yield* Fiber.join(waiting)).toBe(2)
      }),
    )
  })
})
