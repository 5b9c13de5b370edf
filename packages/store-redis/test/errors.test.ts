/** Everything that can go wrong with a server: a typed error that says what to do, or tried again; never twice. */
import { EventLog } from "@memfold/core"
import { Effect, Exit, Fiber, Logger, Scope } from "effect"
import { describe, expect, it } from "vitest"
import { bare, describe as inWords } from "../src/failures.js"
import { keysOf, make, type Options } from "../src/index.js"
import { freePort } from "@memfold/harness/ports"
import { eventually, type Server, servers } from "@memfold/harness/redisServers"
import { all, logError, openingFails, putSnapshot, records, tenant, withLog } from "./support.js"

const { server } = servers()
/** The timeout is long: on a busy machine, a process can stand still for a second, and that would be another error. */
const brief = { retryFor: "300 millis", timeout: "30 seconds" } as const

/** Takes what is logged. */
const toldTo = (told: Array<string>) =>
  Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ message }) => void told.push(String(message))),
  )

describe("opening", () => {
  it("where nobody listens fails, and names no password", async () => {
    const port = await freePort()
    const error = await openingFails({ url: `redis://user:SECRET@127.0.0.1:${port}`, ...brief })
    expect(error.message).toBe(
      `The event log failed at open: redis://127.0.0.1:${port}/0 refuses connections; start it, or check the address and the network`,
    )
    await Effect.runPromise(logError(Effect.fail(error), "SECRET"))
  })

  it("where nobody listens says after a second that it waits", async () => {
    const told: Array<string> = []
    const options = {
      url: `redis://user:SECRET@127.0.0.1:${await freePort()}`,
      retryFor: "2 seconds",
    } as const
    await Effect.runPromise(Effect.flip(Effect.scoped(make(options))).pipe(Effect.provide(toldTo(told))))
    expect(told).toEqual([
      expect.stringMatching(/^redis:\/\/127\.0\.0\.1:\d+\/0 does not answer; memfold goes on trying$/),
    ])
  })

  it("a database that the server has not, or one server of a cluster by itself, fails and says why", async () => {
    const { port } = await server()
    const none = await openingFails({ url: `redis://127.0.0.1:${port}/99`, ...brief })
    expect(none.reason).toMatch(/\/99 has no database of that number; choose a lower number/)
    const noCluster = await openingFails({ url: `redis://127.0.0.1:${port}?cluster=true`, ...brief })
    expect(noCluster.reason).toMatch(/is no cluster; leave out `cluster`$/)
    const one = await server({ clustered: true })
    const inCluster = await openingFails({ url: one.url, ...brief })
    expect(inCluster.reason).toMatch(/is one server of a cluster; name it as one/)
  })

  it("with a setting that is there twice fails", async () => {
    const twice = await openingFails({ url: "redis://127.0.0.1:1?prefix=a&prefix=b" })
    expect(twice.reason).toBe('the URL of the store has the setting "prefix" more than once')
  })

  it("where nobody listens in any node of a cluster fails", async () => {
    const port = await freePort()
    const error = await openingFails({ cluster: [{ host: "127.0.0.1", port }], password: "SECRET", ...brief })
    expect(error.reason).toMatch(
      /^the Redis Cluster at 127\.0\.0\.1:\d+ (refuses connections|closed the connection|cannot be reached)/,
    )
    await Effect.runPromise(logError(Effect.fail(error), "SECRET"))
  })

  it("where no sentinel answers fails", async () => {
    const port = await freePort()
    const error = await openingFails({
      sentinel: { name: "main", nodes: [{ host: "127.0.0.1", port }] },
      ...brief,
    })
    expect(error.reason).toMatch(
      /^the master "main" of the sentinels at 127\.0\.0\.1:\d+ is not known to any sentinel/,
    )
  })

  it("with a wrong password, a wrong user, or none fails at once", async () => {
    const { url, port } = await server({ config: ["requirepass right"], client: { password: "right" } })
    const from = Date.now()
    const wrong = await openingFails({ url: `redis://:SECRET@127.0.0.1:${port}` })
    expect(wrong.reason).toContain("does not know this user with this password")
    expect((await openingFails({ url, username: "nobody", password: "SECRET" })).reason).toBe(wrong.reason)
    expect((await openingFails({ url })).reason).toContain("wants a password")
    expect(Date.now() - from).toBeLessThan(10_000)
    await Effect.runPromise(logError(Effect.fail(wrong), "SECRET"))
    expect(await withLog({ url, password: "right" }, (log) => EventLog.versionOf(log, "s"))).toBe(0)
  })

  it("with something that says nothing of where it is fails, and shows nothing of it", async () => {
    for (const options of [
      { url: "SECRET" },
      { url: "http://SECRET@host" },
      { url: "redis://a:SECRET@host/name" },
      { url: "redis://a:SECRET%@host" },
      { url: "redis://a:SECRET@host?SECRET=1" },
      { url: "redis://host:SECRET" },
      { url: "redis://a:SECRET@host?require=everything" },
      { cluster: ["redis://a:SECRET@host"], db: 3 },
      { cluster: [], password: "SECRET" },
      { cluster: ["redis://a:SECRET@host"], sentinel: { name: "main", nodes: [{ host: "h" }] } },
      {},
    ]) {
      const error = await openingFails(options)
      expect(error.operation).toBe("open")
      await Effect.runPromise(logError(Effect.fail(error), "SECRET"))
    }
  })
})

describe("a full server (-OOM)", () => {
  it("refuses the whole batch with an error that names the session, and goes on when there is room", async () => {
    const { url, client } = await server({ config: ["maxmemory-policy noeviction"] })
    await withLog({ url, prefix: tenant() }, (log) =>
      Effect.gen(function* () {
        yield* log.append("one", records(2), { expectedVersion: 0, batchId: "a" })
        yield* Effect.promise(() => client.config("SET", "maxmemory", "1mb"))
        const batch = records(3, "SECRET".repeat(1_000))
        const error = yield* logError(
          log.append("one", batch, { expectedVersion: 2, batchId: "b" }),
          "SECRET",
        )
        expect(error).toMatchObject({ operation: "append", session: "one" })
        expect(error.reason).toMatch(/has no memory left; raise maxmemory, or delete sessions$/)
        const changed = [{ version: 1, schemaVersion: 1, data: "SECRET" }]
        yield* logError(log.rewrite("one", changed, batch, { expectedVersion: 2, batchId: "b" }), "SECRET")
        expect((yield* all(EventLog.records(log, "one"))).map(({ data }) => data)).toEqual(["{}", "{}"])
        // What is there already needs no room.
        expect(yield* log.append("one", records(2), { expectedVersion: 0, batchId: "a" })).toEqual({
          fromVersion: 1,
          version: 2,
          duplicate: true,
        })
        yield* Effect.promise(() => client.config("SET", "maxmemory", "0"))
        expect(yield* log.append("one", batch, { expectedVersion: 2, batchId: "b" })).toEqual({
          fromVersion: 3,
          version: 5,
          duplicate: false,
        })
      }),
    )
  })
})

describe("a replica (-READONLY)", () => {
  it("is read, and an append says to name its master", async () => {
    const master = await server()
    const replica = await server({ config: [`replicaof 127.0.0.1 ${master.port}`] })
    const prefix = tenant()
    await withLog({ url: master.url, prefix }, (log) =>
      log.append("one", records(2), { expectedVersion: 0, batchId: "a" }),
    )
    await eventually("the replica has all of it", async () => {
      const keys = await master.client.dbsize()
      return keys > 0 && (await replica.client.dbsize()) === keys
    })
    await withLog({ url: replica.url, prefix, retryFor: "300 millis" }, (log) =>
      Effect.gen(function* () {
        expect(yield* EventLog.versionOf(log, "one")).toBe(2)
        const error = yield* logError(log.append("one", records(1), { expectedVersion: 2, batchId: "b" }))
        expect(error.message).toBe(
          `The event log failed at append of session "one": redis://127.0.0.1:${replica.port}/0 is a replica, and takes no writes; name its master, a cluster, or sentinels`,
        )
        // It becomes a master while somebody tries.
        const fiber = yield* Effect.fork(
          make({ url: replica.url, prefix }).pipe(
            Effect.flatMap((patient) =>
              patient.append("one", records(1), { expectedVersion: 2, batchId: "b" }),
            ),
            Effect.scoped,
          ),
        )
        yield* Effect.promise(() => replica.client.replicaof("NO", "ONE"))
        expect(yield* Fiber.join(fiber)).toEqual({ fromVersion: 3, version: 3, duplicate: false })
      }),
    )
  })
})

describe("an error that closes the connection", () => {
  it("is told by the request that got it, even if answers to others came after it", async () => {
    // Its master does not exist, so that it never loads anything.
    const replica = await server({ config: ["replicaof 127.0.0.1 1"] })
    // Too short for another connection.
    const hasty = make({ url: replica.url, prefix: tenant(), retryFor: "1 millis" })
    await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const log = yield* Effect.retry(hasty, { times: 1_000 })
          // Enough reads that the server answers them in several parts.
          const read = Effect.ignore(EventLog.versionOf(log, "one"))
          const reads = Effect.all(
            Array.from({ length: 1_000 }, () => read),
            { concurrency: "unbounded" },
          )
          for (let i = 0; i < 5; i++) {
            const append = log.append("one", records(1), { expectedVersion: 0, batchId: "a" })
            const [error] = yield* Effect.all([logError(append), reads], { concurrency: "unbounded" })
            expect(error.reason).toMatch(/is a replica, and takes no writes; name its master/)
            yield* Effect.retry(EventLog.versionOf(log, "one"), { times: 1_000 })
          }
        }),
      ),
    )
  })
})

describe("a server that goes away", () => {
  it("and comes back: what was on its way is written once", async () => {
    const one = await server({ config: ["appendonly yes", "appendfsync always"] })
    await withLog({ url: one.url, prefix: tenant() }, (log) =>
      Effect.gen(function* () {
        yield* log.append("s", records(1), { expectedVersion: 0, batchId: "a" })
        yield* Effect.promise(one.kill)
        const fiber = yield* Effect.fork(log.append("s", records(2), { expectedVersion: 1, batchId: "b" }))
        yield* Effect.promise(one.start)
        expect((yield* Fiber.join(fiber)).version).toBe(3)
        expect(yield* log.append("s", records(2), { expectedVersion: 1, batchId: "b" })).toEqual({
          fromVersion: 2,
          version: 3,
          duplicate: true,
        })
        expect((yield* all(EventLog.records(log, "s"))).length).toBe(3)
      }),
    )
  })

  it("for good: an error within the time given", async () => {
    const one = await server()
    await withLog({ url: one.url, prefix: tenant(), ...brief }, (log) =>
      Effect.gen(function* () {
        yield* Effect.promise(one.kill)
        const failing: ReadonlyArray<Effect.Effect<unknown, EventLog.LogError | EventLog.VersionConflict>> = [
          log.append("s", records(1), { expectedVersion: 0, batchId: "a" }),
          all(EventLog.records(log, "s")),
          all(EventLog.sessions(log)),
          EventLog.versionOf(log, "s"),
          log.projections.get("s", "snapshot"),
          log.projections.get("s", "description"),
          log.projections.drop("index", "s"),
          log.projections.drop("index"),
          putSnapshot(log, "s", { version: 1, batchId: "a" }),
          log.delete("s"),
        ]
        for (const effect of failing) {
          expect((yield* logError(effect)).reason).toMatch(
            /refuses connections|closed the connection|cannot be reached/,
          )
        }
      }),
    )
  })

  it("without a word (a stopped process): an error that says so, and nothing is written twice", async () => {
    const one = await server()
    await withLog({ url: one.url, prefix: tenant(), ...brief, timeout: "500 millis" }, (log) =>
      Effect.gen(function* () {
        yield* log.append("s", records(1), { expectedVersion: 0, batchId: "a" })
        one.signal("SIGSTOP")
        const error = yield* logError(log.append("s", records(1), { expectedVersion: 1, batchId: "b" }))
        expect(error.reason).toMatch(/does not answer/)
        one.signal("SIGCONT")
        const again = yield* log.append("s", records(1), { expectedVersion: 1, batchId: "b" })
        expect(again).toMatchObject({ fromVersion: 2, version: 2 })
        expect((yield* all(EventLog.records(log, "s"))).length).toBe(2)
      }),
    )
  })

  it("and is still loading (-LOADING) is waited for, within bounds", async () => {
    const config = ["appendonly yes", "key-load-delay 1000", "loading-process-events-interval-bytes 1024"]
    const one = await server({ config })
    const prefix = tenant()
    await withLog({ url: one.url, prefix }, (log) =>
      log.append("s", records(1), { expectedVersion: 0, batchId: "a" }),
    )
    const many = one.client.pipeline()
    for (let n = 0; n < 1_500; n++) many.set(`other:${n}`, "x".repeat(100))
    await many.exec()
    // Its base file, which is loaded key by key, is to hold all of them.
    await one.client.bgrewriteaof()
    await eventually("the file is written anew", async () => {
      const info = await one.client.info("persistence")
      return info.includes("aof_rewrite_in_progress:0") && info.includes("aof_rewrites:1")
    })
    await one.kill()
    const starting = one.start()
    await eventually("it loads", async () => {
      const error = await openingFails({ url: one.url, prefix, retryFor: "50 millis" })
      return error.reason.includes("is still loading its data")
    })
    expect(await withLog({ url: one.url, prefix }, (log) => EventLog.versionOf(log, "s"))).toBe(1)
    await starting
  })
})

describe("what a server has forgotten or never had", () => {
  it("its scripts: they are sent again", async () => {
    const { url, client } = await server()
    await withLog({ url, prefix: tenant() }, (log) =>
      Effect.gen(function* () {
        for (const expectedVersion of [0, 1, 2]) {
          yield* Effect.promise(() => client.script("FLUSH"))
          yield* log.append("s", records(1), { expectedVersion, batchId: `c${expectedVersion}` })
        }
        expect(yield* EventLog.versionOf(log, "s")).toBe(3)
      }),
    )
  })

  it("a session's log, taken away by hand: an append says so", async () => {
    const { url, client } = await server()
    const prefix = tenant()
    await withLog({ url, prefix }, (log) =>
      Effect.gen(function* () {
        yield* log.append("s", records(2), { expectedVersion: 0, batchId: "a" })
        yield* Effect.promise(() => client.del(keysOf(prefix, "s").log))
        const error = yield* logError(log.append("s", records(1), { expectedVersion: 2, batchId: "b" }))
        expect(error.reason).toMatch(/^its keys do not belong together: 0 records at version 2;/)
        expect(yield* log.delete("s")).toBe(true)
      }),
    )
  })

  it("somebody else's key in its place: an error that says to choose another prefix", async () => {
    const { url, client } = await server()
    const prefix = tenant()
    await withLog({ url, prefix }, (log) =>
      Effect.gen(function* () {
        yield* Effect.promise(() => client.set(keysOf(prefix, "s").meta, "mine"))
        const error = yield* logError(log.append("s", records(1), { expectedVersion: 0, batchId: "b" }))
        expect(error).toMatchObject({ session: "s" })
        expect(error.reason).toMatch(/has something else at a key of this session; choose another prefix$/)
        expect(yield* Effect.promise(() => client.get(keysOf(prefix, "s").meta))).toBe("mine")
      }),
    )
  })
})

describe("keys that somebody else has changed", () => {
  const change = (
    what: string,
    key: "sessions" | "meta",
    by: (client: Server["client"], key: string) => Promise<unknown>,
    reason: RegExp,
  ) =>
    it(`${what}: an error, and nothing is written`, async () => {
      const { url, client } = await server()
      const prefix = tenant()
      await withLog({ url, prefix }, (log) =>
        Effect.gen(function* () {
          const session = key === "sessions" ? "new" : "s"
          if (key === "meta") yield* log.append("s", records(2), { expectedVersion: 0, batchId: "a" })
          yield* Effect.promise(() => by(client, keysOf(prefix, session)[key]))
          const expectedVersion = key === "meta" ? 2 : 0
          const again = key === "meta" ? "a" : "b"
          for (const batchId of ["b", again]) {
            const error = yield* logError(log.append(session, records(1), { expectedVersion, batchId }))
            expect(error).toMatchObject({ operation: "append", session })
            expect(error.reason).toMatch(reason)
          }
          expect((yield* all(EventLog.records(log, session))).length).toBe(expectedVersion)
        }),
      )
    })

  change(
    "a list of sessions that is none",
    "sessions",
    (client, key) => client.set(key, "mine"),
    /has something else at a key of this session; choose another prefix$/,
  )
  change(
    "how far a session is, which is gone",
    "meta",
    (client, key) => client.del(key),
    /^its keys do not belong together: 2 records at version 0;/,
  )
  change(
    "how far a session is, which says nothing",
    "meta",
    (client, key) => client.hset(key, { head: "mine", "=a": "mine" }),
    /^its keys do not belong together: (2|no) records at version mine;/,
  )
})

describe("a user of the server (ACL)", () => {
  it("who may use one tenant's keys reaches no other's; commands that are not allowed are typed errors", async () => {
    const { url, client } = await server()
    const [mine, other] = [tenant(), tenant()]
    const rules = [
      "on",
      ">SECRET",
      `~${mine}:{*`,
      `&${mine}:{*`,
      "-@all",
      "+@read",
      "+@write",
      "+@scripting",
      "+@connection",
      "+@pubsub",
    ]
    await client.acl("SETUSER", "app", ...rules)
    await withLog({ url, username: "app", password: "SECRET", prefix: mine }, (log) =>
      Effect.gen(function* () {
        expect(log.durability.level).toBe("unknown")
        yield* log.append("s", records(2), { expectedVersion: 0, batchId: "a" })
        expect((yield* all(EventLog.records(log, "s"))).length).toBe(2)
        expect((yield* all(EventLog.sessions(log))).map(({ session }) => session)).toEqual(["s"])
        expect(yield* log.delete("s")).toBe(true)
      }),
    )
    await withLog({ url, username: "app", password: "SECRET", prefix: other }, (log) =>
      Effect.gen(function* () {
        const error = yield* logError(
          log.append("s", records(2), { expectedVersion: 0, batchId: "a" }),
          "SECRET",
        )
        expect(error.reason).toMatch(/does not allow this user to do it/)
        expect((yield* logError(EventLog.versionOf(log, "s"))).reason).toBe(error.reason)
        expect((yield* logError(all(EventLog.sessions(log)))).reason).toBe(error.reason)
      }),
    )
    // One who may not publish can append all the same.
    await client.acl("SETUSER", "quiet", "on", ">SECRET", `~${mine}:{*`, "+@all", "resetchannels")
    await withLog({ url, username: "quiet", password: "SECRET", prefix: mine }, (log) =>
      log.append("s", records(2), { expectedVersion: 0, batchId: "a" }),
    )
  })
})

describe("waiting for replicas", () => {
  it("that are not there: an error that says the master has it, and a second try waits as well", async () => {
    const { url, port } = await server()
    await withLog({ url, prefix: tenant(), waitReplicas: { count: 1, timeout: "50 millis" } }, (log) =>
      Effect.gen(function* () {
        expect(log.durability).toMatchObject({ level: "memory", replicas: 1 })
        const append = log.append("s", records(1), { expectedVersion: 0, batchId: "a" })
        const error = yield* logError(append)
        expect(error.reason).toMatch(
          /^the master has it, but only 0 of 1 replicas had it within 50 ms; do it again with the same/,
        )
        expect((yield* logError(append)).reason).toBe(error.reason)
        const replica = yield* Effect.promise(() => server({ config: [`replicaof 127.0.0.1 ${port}`] }))
        yield* Effect.promise(() =>
          eventually("it follows", async () =>
            (await replica.client.info("replication")).includes("link_status:up"),
          ),
        )
        // The first replication of a new link is acknowledged a moment later.
        const appended = yield* Effect.retry(append, { times: 20 })
        expect(appended).toEqual({ fromVersion: 1, version: 1, duplicate: true })
        expect((yield* all(EventLog.records(log, "s"))).length).toBe(1)
      }),
    )
  })
})

describe("waiting for replicas longer than for other answers", () => {
  it("is no answer that is late", async () => {
    const { url } = await server()
    const options: Options = {
      url,
      prefix: tenant(),
      timeout: "100 millis",
      waitReplicas: { count: 1, timeout: "400 millis" },
    }
    await withLog(options, (log) =>
      Effect.gen(function* () {
        const error = yield* logError(log.append("s", records(1), { expectedVersion: 0, batchId: "a" }))
        expect(error.reason).toMatch(/^the master has it, but only 0 of 1 replicas had it within 400 ms;/)
      }),
    )
  })
})

describe("waiting for a replica that is behind", () => {
  it("waits on a new connection, too, for what another one wrote", async () => {
    const { url, port } = await server()
    const replica = await server({ config: [`replicaof 127.0.0.1 ${port}`] })
    await eventually("it follows", async () =>
      (await replica.client.info("replication")).includes("link_status:up"),
    )
    const options = { url, prefix: tenant(), waitReplicas: { count: 1, timeout: "50 millis" as const } }
    const append = (expectedVersion: number, batchId: string) => (log: EventLog.Service) =>
      log.append("s", records(1), { expectedVersion, batchId })
    await withLog(options, (log) => Effect.retry(append(0, "a")(log), { times: 100 }))
    replica.signal("SIGSTOP")
    for (let attempt = 0; attempt < 2; attempt++) {
      const error = await withLog(options, (log) => logError(append(1, "b")(log)))
      expect(error.reason).toMatch(/^the master has it, but only 0 of 1 replicas had it/)
    }
    replica.signal("SIGCONT")
    const appended = await withLog(options, (log) => Effect.retry(append(1, "b")(log), { times: 100 }))
    expect(appended).toEqual({ fromVersion: 2, version: 2, duplicate: true })
  })
})

describe("after closing", () => {
  it("every operation is an error, not a defect, and no connection is left", async () => {
    const { url, client } = await server()
    const scope = await Effect.runPromise(Scope.make())
    const log = await Effect.runPromise(Scope.extend(make({ url, prefix: tenant(), ...brief }), scope))
    await Effect.runPromise(log.append("s", records(1), { expectedVersion: 0, batchId: "a" }))
    const connections = async () =>
      String(await client.client("LIST"))
        .split("\n")
        .filter((line) => line.includes("name=memfold")).length
    expect(await connections()).toBe(1)
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await eventually("no connection is left", async () => (await connections()) === 0)
    const error = await Effect.runPromise(logError(EventLog.versionOf(log, "s")))
    expect(error.session).toBe("s")
  })
})

describe("errors in words", () => {
  it("say of each kind what to do, and pass on nothing that was sent", () => {
    const kinds: ReadonlyArray<readonly [message: string, passing: boolean, says: RegExp]> = [
      [
        "MISCONF Redis is configured to save RDB snapshots, but it's unable to",
        false,
        /cannot save to its disk/,
      ],
      ["MOVED 3999 127.0.0.1:6381", true, /has moved this session/],
      ["ASK 3999 127.0.0.1:6381", true, /is moving this session/],
      ["TRYAGAIN Multiple keys request during rehashing of slot", true, /is moving this session/],
      ["CLUSTERDOWN Hash slot not served", true, /does not serve this part of its data/],
      ["MASTERDOWN Link with MASTER is down", true, /has lost its master/],
      ["BUSY Redis is busy running a script", true, /busy with another program's script/],
      ["NOREPLICAS Not enough good replicas to write.", true, /too few replicas/],
      [
        "Too many Cluster redirections. Last error: ReplyError: CLUSTERDOWN The cluster is down",
        true,
        /does not serve/,
      ],
      [
        "Too many Cluster redirections. Last error: Error: Connection is closed.",
        true,
        /closed the connection/,
      ],
      [
        "ERR unknown command 'X', with args beginning with: 'SECRET' ",
        false,
        /^R said: ERR unknown command 'X'$/,
      ],
    ]
    for (const [message, passing, says] of kinds) {
      const error = Object.assign(new Error(message), { command: { name: "eval", args: ["SECRET"] } })
      expect(inWords(error, "R")).toMatchObject({ passing, reason: expect.stringMatching(says) })
      expect(JSON.stringify([bare(error), bare(error).message, bare(error).stack])).not.toContain("SECRET")
    }
  })
})
