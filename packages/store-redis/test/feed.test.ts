/** The feed over keys of an older memfold, and beside sessions that are deleted. */
import { Effect } from "effect"
import { beforeAll, expect, it } from "vitest"
import { type Server, servers } from "@memfold/harness/redisServers"
import { keysOf, type RedisEventLog } from "../src/index.js"
import { records, tenant, withLog } from "./support.js"

const { server } = servers()
let one: Server
beforeAll(async () => {
  one = await server({})
})

const append = (log: RedisEventLog, session: string, version: number, count = 1) =>
  log.append(session, records(count), { expectedVersion: version, batchId: `${session}-${version}` })

const all = (log: RedisEventLog, after?: string) =>
  Effect.map(log.feed!({ after, limit: 100 }), (page) =>
    page.map(({ record }) => `${record.session} ${record.version}`),
  )

it("sessions of an older memfold are entered by the first reader, and by the next write", async () => {
  const prefix = tenant()
  const options = { url: one.url, prefix }
  await withLog(options, (log) =>
    Effect.all([append(log, "quiet", 0, 2), append(log, "spoken", 0, 2), append(log, "new", 0)]),
  )
  /** As an older memfold leaves a session. */
  const age = async (session: string): Promise<void> => {
    const { meta, feed, numbers } = keysOf(prefix, session)
    await one.client.hdel(meta, "fed")
    await one.client.del(feed, numbers)
  }
  for (const session of ["quiet", "spoken"]) await age(session)
  await withLog(options, (log) => append(log, "spoken", 2))
  const found = await withLog(options, (log) => all(log))
  expect(found.toSorted()).toEqual(["new 1", "quiet 1", "quiet 2", "spoken 1", "spoken 2", "spoken 3"])
})

it("the feed keeps no name of a deleted session", async () => {
  const prefix = tenant()
  await withLog({ url: one.url, prefix }, (log) =>
    Effect.gen(function* () {
      yield* append(log, "secret", 0)
      yield* all(log)
      yield* log.delete("secret")
      const { feed, numbers } = keysOf(prefix, "secret")
      const kept = yield* Effect.promise(async () =>
        JSON.stringify([await one.client.xrange(feed, "-", "+"), await one.client.hgetall(numbers)]),
      )
      expect(kept).not.toContain("secret")
      expect(yield* all(log)).toEqual([])
    }),
  )
})

it("a process that may not write reads the feed once another one has begun it", async () => {
  const options = { url: one.url, prefix: tenant() }
  await withLog({ ...options, readonly: true }, (reader) =>
    Effect.gen(function* () {
      expect((yield* Effect.flip(all(reader))).reason).toContain("read it there once")
      yield* Effect.promise(() =>
        withLog(options, (log) => Effect.zipRight(append(log, "chat", 0), all(log))),
      )
      expect(yield* all(reader)).toEqual(["chat 1"])
    }),
  )
})
