/** The command line on a Redis, and sessions on their way there and back. */
import { beforeAll, describe, expect, it } from "vitest"
import { type Server, servers } from "@memfold/harness/redisServers"
import { inFolder, lines, sample } from "@memfold/harness/program"

const { memfold, fresh } = inFolder("redis")
const { server } = servers()
let redis: Server
beforeAll(async () => {
  redis = await server({ config: ["requirepass sesame"], client: { password: "sesame" } })
})

describe("a store in Redis", () => {
  it("keeps what was replayed; what is copied to a file and back is the same", async () => {
    const url = (prefix: string) => `redis://:sesame@127.0.0.1:${redis.port}/0?prefix=${prefix}`
    const replayed = await memfold(
      "replay",
      sample("coding-agent.jsonl"),
      "--strategy",
      "rounds",
      "--store",
      url("a"),
    )
    expect(replayed).toMatchObject({ code: 0, err: "" })
    expect((await fresh("verify", "--store", url("a"))).out).toContain("clean")
    const there = await memfold("copy", "--from", url("a"), "--to", "sqlite:b.db", "--json")
    expect(lines(there.out).at(-1)).toMatchObject({ type: "copy", sessions: 1, diverged: 0 })
    const back = await memfold("copy", "--from", "sqlite:b.db", "--to", url("c"), "--json")
    expect(lines(back.out)[0]).toEqual(lines(there.out)[0])
    const [a, c] = await Promise.all(["a", "c"].map((prefix) => memfold("export", "--store", url(prefix))))
    expect(c).toEqual(a)
  })

  it("that does not let one in says so in one line, without the password", async () => {
    const wrong = await fresh("sessions", "--store", `redis://:open@127.0.0.1:${redis.port}`)
    expect(wrong).toMatchObject({ code: 2, out: "" })
    expect(wrong.err.trim().split("\n")).toHaveLength(1)
    expect(wrong.err).toContain("password")
    expect(wrong.err).not.toContain("open@")
  })

  it("is named without its password where there is no session", async () => {
    const store = ["--store", `redis://:sesame@127.0.0.1:${redis.port}/0?prefix=empty`]
    const none = await memfold("sessions", ...store)
    expect(none).toMatchObject({ code: 0, err: "" })
    expect(none.out).toContain(`redis://…@127.0.0.1:${redis.port}/0?prefix=empty has no sessions`)
    const missing = await memfold("events", "s", ...store)
    expect(missing).toMatchObject({ code: 2, out: "" })
    expect(missing.err).toContain("it has none")
    for (const text of [none.out, missing.err]) expect(text).not.toContain("sesame")
  })

  it("that is away is named, without its password", async () => {
    const away = await memfold("sessions", "--store", "redis://:sesame@127.0.0.1:1")
    expect(away).toMatchObject({ code: 2, out: "" })
    expect(away.err).toMatch(
      /redis:\/\/127\.0\.0\.1:1\/0 refuses connections; start it, or check the address and the network$/m,
    )
    expect(away.err).not.toContain("sesame")
  })
})
