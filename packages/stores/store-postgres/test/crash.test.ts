/** Servers that are killed or replaced, and connections that are lost: what was acknowledged is there, once (law L14). */
import { EventLog } from "@memfold/core"
import { Effect, Fiber } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { all, crowd, found, records } from "@memfold/harness/crowd"
import { often } from "@memfold/harness/depth"
import { eventually } from "@memfold/harness/eventually"
import { type Postgres, postgresServers } from "@memfold/harness/postgresServers"
import { random } from "@memfold/harness/random"
import { relays } from "@memfold/harness/relay"
import { newSchema, withLog } from "./support.js"

const { server, bouncer } = postgresServers()
const relay = relays()
/** A kill leaves what the system has not written to its disk yet: the tests need not wait for the disk. */
const config = ["fsync = off"]

let one: Postgres
beforeAll(async () => {
  one = await server({ config })
})

const sessions = ["one", "two", "three", "four"]
const kills = often(3, 20)

describe("a server that is killed", () => {
  it(`L14: loses and doubles no acknowledged append in ${kills} kills`, async () => {
    const killed = await server({ config })
    const next = random(2_026)
    await withLog({ url: killed.url, retryFor: "1 minute" }, (log) =>
      Effect.gen(function* () {
        const writers = yield* crowd(log, sessions)
        for (let kill = 0; kill < kills; kill++) {
          const enough = writers.count() + 20 + Math.floor(next() * 60)
          yield* Effect.promise(() => eventually("appends go on", async () => writers.count() >= enough))
          yield* Effect.promise(killed.kill)
          yield* Effect.promise(killed.start)
        }
        yield* writers.stop
        expect(writers.errors()).toBe(0)
        expect(writers.shortened()).toBe(0)
        expect(yield* found(log, writers)).toEqual({ lost: 0, double: 0, disorder: 0 })
        expect(writers.count()).toBeGreaterThan(kills * 20)
        console.log(`${kills} kills of a server, ${writers.count()} acknowledged appends: lost 0, double 0`)
      }),
    )
  })

  it("is read on by a group of the feed, which misses no event", async () => {
    const killed = await server({ config })
    await withLog({ url: killed.url, retryFor: "1 minute" }, (log) =>
      Effect.gen(function* () {
        const writers = yield* crowd(log, sessions)
        const taken = new Map(sessions.map((session): [string, Array<number>] => [session, []]))
        const handle = (page: ReadonlyArray<EventLog.FedRecord>) =>
          Effect.sync(() => {
            for (const { record } of page) taken.get(record.session)!.push(record.version)
          })
        const group = yield* Effect.forkScoped(
          EventLog.consume(log, "g", handle, { pollInterval: "50 millis", lease: "2 seconds" }),
        )
        const seen = () => [...taken.values()].reduce((sum, { length }) => sum + length, 0)
        for (let kill = 0; kill < kills; kill++) {
          const enough = seen() + 30
          yield* Effect.promise(() => eventually("the group reads on", async () => seen() >= enough, 60))
          yield* Effect.promise(killed.kill)
          yield* Effect.promise(killed.start)
        }
        yield* writers.stop
        for (const session of sessions) {
          const versions = (yield* all(EventLog.records(log, session))).map(({ version }) => version)
          const distinct = () => [...new Set(taken.get(session))]
          yield* Effect.promise(() =>
            eventually("the group is at the end", async () => distinct().length === versions.length, 60),
          )
          // What was not kept when the server was killed comes again, behind which the order is that of the session.
          expect(distinct()).toEqual(versions)
        }
        yield* Fiber.interrupt(group)
      }),
    )
  })

  /** A primary, and the standby that follows it. */
  const pair = async () => {
    const primary = await server({ config })
    const standby = await server({ config, standby: { of: primary, name: "standby" } })
    await eventually("the standby follows", async () => {
      const { rows } = await primary.client.query(
        "SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'",
      )
      return rows.length === 1
    })
    return { primary, standby }
  }

  /** Lets the standby take over. */
  const promote = async ({ client }: Postgres) => {
    await client.query("SELECT pg_promote()")
    await eventually("the standby takes over", async () => {
      const { rows } = await client.query("SELECT pg_is_in_recovery() AS follows")
      return (rows[0] as { follows: boolean }).follows === false
    })
  }

  /** Cuts the standby off: it gets no more of the log. */
  const cutOff = async ({ client }: Postgres) => {
    await client.query("ALTER SYSTEM SET primary_conninfo = ''")
    await client.query("SELECT pg_reload_conf()")
    await eventually("the standby follows nobody", async () => {
      const { rows } = await client.query("SELECT 1 FROM pg_stat_wal_receiver")
      return rows.length === 0
    })
  }

  it("L14: loses and doubles no acknowledged append to a synchronous standby that takes over, and goes on there", async () => {
    const { primary, standby } = await pair()
    await primary.client.query("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
    await primary.client.query("SELECT pg_reload_conf()")
    await eventually("the standby is waited for", async () => {
      const { rows } = await primary.client.query(
        "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'",
      )
      return rows.length === 1
    })
    // The address of the database, as a pool or a name server has it: it leads to the server that has taken over.
    const address = await relay(primary.port)
    const url = primary.url.replace(String(primary.port), String(address.port))
    await withLog({ url, retryFor: "1 minute" }, (log) =>
      Effect.gen(function* () {
        const writers = yield* crowd(log, sessions)
        const times = yield* Effect.promise(async () => {
          await eventually("appends go on", async () => writers.count() >= 50)
          const killed = performance.now()
          await primary.kill()
          await promote(standby)
          const promoted = performance.now()
          const before = writers.count()
          address.target = standby.port
          await eventually("appends go on at the standby", async () => writers.count() > before, 60)
          const acknowledged = performance.now()
          await eventually("and on", async () => writers.count() >= before + 50, 60)
          return { promotion: promoted - killed, append: acknowledged - killed }
        })
        yield* writers.stop
        expect(writers.errors()).toBe(0)
        expect(writers.shortened()).toBe(0)
        expect(yield* found(log, writers)).toEqual({ lost: 0, double: 0, disorder: 0 })
        const [promotion, append] = [times.promotion, times.append].map((time) => (time / 1_000).toFixed(1))
        console.log(
          `a primary killed with a synchronous standby, ${writers.count()} acknowledged appends: lost 0, double 0; ` +
            `from the kill to the promotion ${promotion} s, to the first acknowledged append ${append} s`,
        )
      }),
    )
  })

  it("what a standby had not got is lost without synchronous replication, and never acknowledged with it", async () => {
    const { primary, standby } = await pair()
    const append = (log: EventLog.Service, expectedVersion: number, batchId: string) =>
      log.append("s", records(1), { expectedVersion, batchId })
    await withLog({ url: primary.url }, (log) => append(log, 0, "followed"))
    await eventually("the standby has it", async () => {
      const { rows } = await standby.client.query("SELECT 1 FROM memfold.events")
      return rows.length === 1
    })
    await cutOff(standby)
    await withLog({ url: primary.url }, (log) => append(log, 1, "lost"))
    await primary.client.query("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
    await primary.client.query("SELECT pg_reload_conf()")
    await eventually("appends wait for the standby", async () => {
      const { rows } = await primary.client.query("SHOW synchronous_standby_names")
      return (rows[0] as { synchronous_standby_names: string }).synchronous_standby_names === "standby"
    })
    const waiting = withLog({ url: primary.url, timeout: "1 second", retryFor: "1 second" }, (log) =>
      Effect.flip(append(log, 2, "waiting")),
    )
    expect(await waiting).toMatchObject({ _tag: "LogError" })
    await primary.kill()
    await promote(standby)
    await withLog({ url: standby.url }, (log) =>
      Effect.map(all(EventLog.records(log, "s")), (list) =>
        expect(list.map(({ batchId }) => batchId)).toEqual(["followed"]),
      ),
    )
  })
})

describe("a connection that is lost", () => {
  it("while a statement is at work is made again, and the append is there once", async () => {
    const via = await relay(one.port)
    await withLog({ url: one.url.replace(String(one.port), String(via.port)), schema: newSchema() }, (log) =>
      Effect.gen(function* () {
        yield* log.append("s", records(1), { expectedVersion: 0, batchId: "a" })
        let expectedVersion = 1
        for (const retried of ["anywhere", "in-place"] as const)
          for (const way of ["up", "down"] as const) {
            let lost = 0
            via[way] = (_data, { client }) => {
              via[way] = () => true
              lost++
              client.destroy()
              return false
            }
            const batchId = `${way} ${retried}`
            const { version } = yield* log.append("s", records(2), { expectedVersion, batchId, retried })
            expect({ lost, version }).toEqual({ lost: 1, version: expectedVersion + 2 })
            expectedVersion = version
          }
        const ids = (yield* all(EventLog.records(log, "s"))).map(({ batchId }) => batchId)
        expect(ids).toHaveLength(9)
        expect(new Set(ids).size).toBe(5)
      }),
    )
  })

  it("without a word is given up after the timeout, and not used again", async () => {
    const via = await relay(one.port)
    const url = one.url.replace(String(one.port), String(via.port))
    const options = {
      url,
      schema: newSchema(),
      connections: 1,
      notifications: false,
      timeout: "500 millis",
    } as const
    await withLog(options, (log) =>
      Effect.gen(function* () {
        yield* log.append("s", records(1), { expectedVersion: 0, batchId: "a" })
        const [silent] = via.links
        // What the server says on this connection is not heard, and neither is its end.
        via.down = (_data, link) => link !== silent
        const { version } = yield* log.append("s", records(1), { expectedVersion: 1, batchId: "b" })
        expect(version).toBe(2)
        expect(via.links.has(silent!)).toBe(false)
      }),
    )
  })

  it("again and again, directly or behind a PgBouncer, fails no append", async () => {
    const pooled = await bouncer(one)
    for (const url of [one.url, pooled.url]) {
      await withLog({ url, schema: newSchema() }, (log) =>
        Effect.gen(function* () {
          const writers = yield* crowd(log, sessions)
          for (let turn = 0; turn < often(10, 100); turn++) {
            const enough = writers.count() + 10
            yield* Effect.promise(async () => {
              await eventually("appends go on", async () => writers.count() >= enough)
              await one.client.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
              )
            })
          }
          yield* writers.stop
          expect(writers.errors()).toBe(0)
          expect(yield* found(log, writers)).toEqual({ lost: 0, double: 0, disorder: 0 })
        }),
      )
    }
  })
})

it("writes to a database that was replaced by another copy, with other numbers of types", async () => {
  const schema = newSchema()
  await withLog({ url: one.url, schema }, (log) =>
    Effect.gen(function* () {
      const [record] = records(1)
      const batch = [record, { ...record, type: "Second" }] as const
      const options = { expectedVersion: 0, batchId: "a" }
      yield* log.append("before", batch, options)
      for (const rewrites of [false, true]) {
        for (const statement of [
          `TRUNCATE ${schema}.sessions, ${schema}.types, ${schema}.events RESTART IDENTITY CASCADE`,
          `INSERT INTO ${schema}.types (name) VALUES ('Another'), ('Second')`,
        ])
          yield* Effect.promise(() => one.client.query(statement))
        yield* rewrites ? log.rewrite("one", [], batch, options) : log.append("one", batch, options)
        const stored = yield* log.read("one", { fromVersion: 1, toVersion: 2, reverse: false, limit: 2 })
        expect(stored.map(({ type }) => type)).toEqual([record.type, "Second"])
      }
    }),
  )
})
