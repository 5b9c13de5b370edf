/** What an acknowledgement means, by the servers' settings; and that less than required is refused. */
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import type { Level } from "../src/index.js"
import { servers } from "@memfold/harness/redisServers"
import { openingFails, tenant, withLog } from "./support.js"

const { server } = servers()
const levels: ReadonlyArray<Level> = ["fsync", "everysec", "memory"]

const settings: ReadonlyArray<readonly [config: ReadonlyArray<string>, level: Level, says: RegExp]> = [
  [
    ["appendonly yes", "appendfsync always"],
    "fsync",
    /on the server's disk \(appendonly yes, appendfsync always\)/,
  ],
  [["appendonly yes", "appendfsync everysec"], "everysec", /a power cut can take the last second or two/],
  [["appendonly yes", "appendfsync no"], "memory", /\(appendonly yes, appendfsync no\)/],
  [["appendonly yes", "appendfsync always", "no-appendfsync-on-rewrite yes"], "everysec", /on-rewrite yes/],
  [["appendonly no"], "memory", /appendonly no, and nothing is saved/],
  [["appendonly no", "save 3600 1"], "memory", /appendonly no, and it is saved now and then \(save 3600 1\)/],
]

describe("durability", () => {
  for (const [config, level, says] of settings) {
    it(`of a server with ${config.join(", ")} is ${level}, and more is refused`, async () => {
      const { url } = await server({ config })
      const given = await withLog({ url, prefix: tenant() }, (log) => Effect.succeed(log.durability))
      expect(given).toMatchObject({ level, replicas: 0, says: expect.stringMatching(says) })
      for (const require of levels) {
        const options = { url, prefix: tenant(), require }
        if (levels.indexOf(level) <= levels.indexOf(require)) {
          expect(await withLog(options, (log) => Effect.succeed(log.durability))).toEqual(given)
        } else {
          const { reason } = await openingFails(options)
          expect(reason).toContain(
            `"${require}" is required, and ${url}/0 guarantees "${level}" (appendonly `,
          )
          expect(reason).toContain(
            `appendfsync ${require === "fsync" ? "always" : "everysec"}, or require less`,
          )
        }
      }
    })
  }

  it("cannot be known where settings may not be read, and then nothing that depends on it is taken for given", async () => {
    const { url, client } = await server({ config: ["appendonly yes", "appendfsync always"] })
    await client.acl("SETUSER", "app", "on", ">p", "~*", "&*", "+@all", "-config")
    const options = { url, username: "app", password: "p", prefix: tenant() }
    const given = await withLog(options, (log) => Effect.succeed(log.durability))
    expect(given.level).toBe("unknown")
    expect(given.says).toMatch(/cannot be known here \(its settings may not be read \(CONFIG GET\)\)/)
    expect((await openingFails({ ...options, require: "fsync" })).reason).toMatch(
      /"fsync" is required, and whether .* gives it cannot be known: .*; grant CONFIG GET, or require nothing$/,
    )
    await withLog({ ...options, require: "memory" }, () => Effect.void)

    await client.config("SET", "appendonly", "no")
    expect((await withLog(options, (log) => Effect.succeed(log.durability))).level).toBe("memory")
    expect((await openingFails({ ...options, require: "everysec" })).reason).toMatch(
      /guarantees "memory" \(aof_enabled:0\)/,
    )

    await client.acl("SETUSER", "app", "-info")
    expect((await withLog(options, (log) => Effect.succeed(log.durability))).says).toMatch(
      /neither CONFIG GET nor INFO/,
    )
  })

  it("is none where a full server throws sessions away", async () => {
    const config = ["appendonly yes", "appendfsync always", "maxmemory 100mb", "maxmemory-policy allkeys-lru"]
    const { url } = await server({ config })
    const given = await withLog({ url, prefix: tenant() }, (log) => Effect.succeed(log.durability))
    expect(given.says).toMatch(/throws sessions away when its memory is full$/)
    for (const require of levels) {
      expect((await openingFails({ url, require })).reason).toMatch(/set maxmemory-policy noeviction$/)
    }
  })

  it("is also named in the URL", async () => {
    const { url } = await server()
    const { reason } = await openingFails({ url: `${url}/2?prefix=${tenant()}&require=fsync` })
    expect(reason).toContain(`"fsync" is required, and ${url}/2 guarantees "memory"`)
  })
})
