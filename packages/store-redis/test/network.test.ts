/** What a network does to a log: connections that break or fall silent at a bad moment, and requests that come late. */
import { EventLog } from "@memfold/core"
import { Effect } from "effect"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { keysOf } from "../src/index.js"
import { relays } from "@memfold/harness/relay"
import { answered, eventually, servers } from "@memfold/harness/redisServers"
import { hears, listener, logError, records, tenant, uncaught, withLog } from "./support.js"

const { server } = servers()
const relay = relays()
/** A server, and a relay that its log reaches it by. */
const behind = async (config: ReadonlyArray<string> = []) => {
  const one = await server({ config })
  const via = await relay(one.port)
  return { one, via, options: { url: via.url, prefix: tenant() } }
}

const isSubscribe = (data: Buffer): boolean => data.includes("$9\r\nsubscribe\r\n")

const killListener = ({ client }: Awaited<ReturnType<typeof server>>) =>
  Effect.promise(() => client.call("CLIENT", "KILL", "TYPE", "pubsub"))

describe("who listens", () => {
  it("is heard when the answer to its subscription is lost with its connection", async () => {
    const { via, options } = await behind()
    let cut = false
    via.down = (data, link) => {
      if (cut || !isSubscribe(data)) return true
      cut = true
      link.client.resetAndDestroy()
      return false
    }
    await withLog(options, (log) =>
      Effect.gen(function* () {
        const listening = yield* listener(log)
        expect(cut).toBe(true)
        yield* hears(log, listening)
      }),
    )
  })

  it("is heard when the same happens while it begins again", async () => {
    const { one, via, options } = await behind()
    await withLog(options, (log) =>
      Effect.gen(function* () {
        const listening = yield* listener(log)
        let cut = false
        via.down = (data, link) => {
          if (cut || !isSubscribe(data)) return true
          cut = true
          link.client.resetAndDestroy()
          return false
        }
        yield* killListener(one)
        yield* Effect.promise(() => eventually("the answer is lost", async () => cut))
        yield* hears(log, listening)
      }),
    )
  })

  it("notices a connection that nothing comes through any more", async () => {
    const { via, options } = await behind()
    await withLog({ ...options, timeout: "500 millis" }, (log) =>
      Effect.gen(function* () {
        const listening = yield* listener(log)
        const silent = new Set(via.links)
        via.up = via.down = (_, link) => !silent.has(link)
        yield* hears(log, listening)
      }),
    )
  })

  it("is told that it listens again no sooner than it does", async () => {
    const { one, via, options } = await behind()
    await withLog(options, (log) =>
      Effect.gen(function* () {
        const { told } = yield* listener(log)
        let arrive: (() => void) | undefined
        via.up = (data, { server }) => {
          if (arrive !== undefined || !isSubscribe(data)) return true
          arrive = () => void server.write(data)
          return false
        }
        yield* killListener(one)
        yield* Effect.promise(() =>
          eventually("a subscription is on its way", async () => arrive !== undefined),
        )
        // Whoever was told by now has looked, and found nothing.
        yield* log.append("s", records(1), { expectedVersion: 0, batchId: "a" })
        const before = told()
        arrive?.()
        yield* Effect.promise(() => eventually("it is told", async () => told() > before))
      }),
    )
  })

  it("and may not any more ends no process", async () => {
    const one = await server()
    const { url, client } = one
    await client.call("ACL", "SETUSER", "u", "on", ">pw", "~*", "&*", "+@all")
    const errors = await uncaught(() =>
      withLog({ url, username: "u", password: "pw", prefix: tenant() }, (log) =>
        Effect.gen(function* () {
          yield* listener(log)
          // Redis closes the connections of who has lost a channel.
          yield* Effect.promise(() => client.call("ACL", "SETUSER", "u", "resetchannels"))
          yield* Effect.promise(() =>
            eventually("a new subscription is refused", async () => (await answered(one, "NOPERM")) > 0),
          )
        }),
      ),
    )
    expect(errors).toEqual([])
  })

  it("and is closed while it begins again ends no process", async () => {
    const { one, via, options } = await behind()
    const errors = await uncaught(async () => {
      await withLog(options, (log) =>
        Effect.gen(function* () {
          yield* listener(log)
          let asked = false
          via.up = (data) => {
            asked ||= isSubscribe(data)
            return !isSubscribe(data)
          }
          yield* killListener(one)
          yield* Effect.promise(() => eventually("it begins again", async () => asked))
        }),
      )
      await eventually("nothing is connected", async () => via.links.size === 0)
    })
    expect(errors).toEqual([])
  })
})

it("a deletion that comes late, when it was long sent again, removes nothing that was begun since", async () => {
  const { one, via, options } = await behind()
  await withLog(options, (log) =>
    Effect.gen(function* () {
      // From here on the server knows the script.
      yield* log.delete("other")
      yield* log.append("s", records(2), { expectedVersion: 0, batchId: "a" })
      let late: Buffer | undefined
      via.up = (data, { client }) => {
        if (late !== undefined || !/evalsha.*:log:s/s.test(data.toString())) return true
        late = data
        client.destroy()
        return false
      }
      expect(yield* log.delete("s")).toBe(true)
      expect(yield* log.append("s", records(1), { expectedVersion: 0, batchId: "b" })).toMatchObject({
        version: 1,
      })
      yield* Effect.promise(async () => {
        const arriving = connect(one.port, "127.0.0.1")
        arriving.write(late ?? "")
        // Its answer.
        await once(arriving, "data")
        arriving.destroy()
      })
      expect(yield* EventLog.versionOf(log, "s")).toBe(1)
    }),
  )
})

it("L15: words are forgotten also when the connection is lost just behind the rewriting", async () => {
  const { one, via, options } = await behind(["appendonly yes", "appendfsync always"])
  const folder = join(one.folder, "appendonlydir")
  const files = () =>
    readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), "latin1"))
      .join("")
  await withLog(options, (log) =>
    Effect.gen(function* () {
      yield* log.append("s", records(2, '"SECRETWORD"'), { expectedVersion: 0, batchId: "a" })
      expect(files()).toContain("SECRETWORD")
      let cut = false
      // The first that is asked when the words are to be forgotten.
      via.up = (data, { client }) => {
        if (cut || !data.includes("$6\r\nexists\r\n")) return true
        cut = true
        client.resetAndDestroy()
        return false
      }
      const rewritten = [1, 2].map((version) => ({ version, schemaVersion: 1, data: '"x"' }))
      yield* log.rewrite("s", rewritten, records(1), { expectedVersion: 2, batchId: "b" })
      yield* log.finishRewrites!("s")
      expect(cut).toBe(true)
      expect(files()).not.toContain("SECRETWORD")
    }),
  )
})

it("what one session is answered is not the reason why another one's request fails", async () => {
  const { one, via, options } = await behind()
  await withLog(options, (log) =>
    Effect.gen(function* () {
      yield* log.append("s", records(1), { expectedVersion: 0, batchId: "a" })
      yield* Effect.promise(() => one.client.set(keysOf(options.prefix, "x").log, "somebody's"))
      yield* logError(log.append("x", records(1), { expectedVersion: 0, batchId: "a" }))
      let cut = false
      via.up = (_, { client }) => {
        if (cut) return true
        cut = true
        // Without an error, which would be the reason itself.
        client.destroy()
        return false
      }
      expect(yield* log.append("s", records(1), { expectedVersion: 1, batchId: "b" })).toMatchObject({
        version: 2,
      })
      expect(cut).toBe(true)
    }),
  )
})
