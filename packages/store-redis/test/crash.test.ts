/** A server that is killed again and again: what was acknowledged is there, once (law L14). */
import { Effect } from "effect"
import { expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { random } from "@memfold/harness/random"
import { servers } from "@memfold/harness/redisServers"
import { crowd, found, tenant, withLog } from "./support.js"

const { server } = servers()
const kills = often(5, 50)

it(`L14: of appends acknowledged with appendfsync always none is lost or double after ${kills} kills of the server`, async () => {
  const one = await server({ config: ["appendonly yes", "appendfsync always"] })
  const next = random(2_026)
  await withLog({ url: one.url, prefix: tenant(), require: "fsync", retryFor: "1 minute" }, (log) =>
    Effect.gen(function* () {
      const writers = yield* crowd(log, ["one", "two", "three", "four"])
      for (let kill = 0; kill < kills; kill++) {
        const enough = writers.count() + 20 + Math.floor(next() * 60)
        while (writers.count() < enough) yield* Effect.sleep("1 millis")
        yield* Effect.promise(one.kill)
        yield* Effect.promise(one.start)
      }
      yield* writers.stop
      expect(writers.errors()).toBe(0)
      expect(writers.shortened()).toBe(0)
      expect(yield* found(log, writers)).toEqual({ lost: 0, double: 0, disorder: 0 })
      expect(writers.count()).toBeGreaterThan(kills * 20)
      console.log(`${kills} kills of redis-server, ${writers.count()} acknowledged appends: lost 0, double 0`)
    }),
  )
})
