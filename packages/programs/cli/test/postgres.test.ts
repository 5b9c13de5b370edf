/** The command line on a PostgreSQL, and sessions on their way there and back. */
import { beforeAll, describe, expect, it } from "vitest"
import { type Postgres, postgresServers } from "@memfold/harness/postgresServers"
import { inFolder, lines, sample } from "@memfold/harness/program"

const { memfold, fresh } = inFolder("postgres")
const { server } = postgresServers()
let one: Postgres
beforeAll(async () => {
  one = await server({ config: ["fsync = off"], access: ["host all ann 127.0.0.1/32 scram-sha-256"] })
  await one.client.query("CREATE ROLE ann LOGIN SUPERUSER PASSWORD 'sesame'")
})

const url = (schema: string, password = "sesame") =>
  `postgres://ann:${password}@127.0.0.1:${one.port}/postgres?schema=${schema}`

describe("a store in PostgreSQL", () => {
  it("keeps what was replayed; what is copied to a file and back is the same", async () => {
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
    const [a, c] = await Promise.all(["a", "c"].map((schema) => memfold("export", "--store", url(schema))))
    expect(c).toEqual(a)
  })

  it("that does not let one in says so in one line, without the password", async () => {
    const wrong = await fresh("sessions", "--store", url("a", "open"))
    expect(wrong).toMatchObject({ code: 2, out: "" })
    expect(wrong.err.trim().split("\n")).toHaveLength(1)
    expect(wrong.err).toContain("password")
    expect(wrong.err).not.toContain("open@")
  })

  it("is not created by a command that reads", async () => {
    const none = await memfold("sessions", "--store", url("empty"))
    expect(none).toMatchObject({ code: 2, out: "" })
    expect(none.err).toContain("has no tables of this memfold in the schema empty; open it for writing once")
    expect(none.err).not.toContain("sesame")
    const { rows } = await one.client.query("SELECT 1 FROM pg_namespace WHERE nspname = 'empty'")
    expect(rows).toEqual([])
  })
})
