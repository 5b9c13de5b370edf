/** Databases of released versions. */
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, it, vi } from "vitest"
import { records } from "@memfold/harness/crowd"
import { postgresServers } from "@memfold/harness/postgresServers"
import {
  expectedOf,
  fill,
  problemsOf,
  readStored,
  storedFile,
  storedVersions,
  writeStored,
} from "@memfold/harness/stored"
import { withLog } from "./support.js"

const { server } = postgresServers()
vi.setConfig({ testTimeout: 120_000 })

/** A schema as SQL statements that every client can run. */
const dumped = async (url: string): Promise<string> => {
  const program = join(process.env["MEMFOLD_POSTGRES_BIN"] ?? "", "pg_dump")
  const { stdout } = await promisify(execFile)(
    program,
    ["--dbname", url, "--schema", "memfold", "--inserts", "--no-owner", "--no-privileges"],
    { maxBuffer: 2 ** 26 },
  )
  return stdout.replace(/^\\.*\n|^SET .*\n|^SELECT pg_catalog\.set_config.*\n/gmu, "")
}

describe.each(storedVersions)("a schema of memfold %s", (version) => {
  it("reads as it did, and is sound", async () => {
    await writeStored(version, "postgres.sql", async () => {
      const { url } = await server({ config: ["fsync = off"] })
      await fill(url)
      return dumped(url)
    })
    const { url, client } = await server({ config: ["fsync = off"] })
    await client.query(readFileSync(storedFile(version, "postgres.sql"), "utf8"))
    await writeStored(version, "postgres.json", async () => `${JSON.stringify(await readStored(url))}\n`)
    expect(await withLog({ url }, problemsOf)).toEqual([])
    expect(await readStored(url)).toEqual(expectedOf(version, "postgres"))
  })
})

it("writes to a database that was replaced by another copy, with other numbers of types", async () => {
  const { url, client } = await server({ config: ["fsync = off"] })
  await withLog({ url }, (log) =>
    Effect.gen(function* () {
      const [record] = records(1)
      const batch = [record, { ...record, type: "Second" }] as const
      const options = { expectedVersion: 0, batchId: "a" }
      yield* log.append("before", batch, options)
      for (const rewrites of [false, true]) {
        for (const statement of [
          "TRUNCATE memfold.sessions, memfold.types, memfold.events RESTART IDENTITY CASCADE",
          "INSERT INTO memfold.types (name) VALUES ('Another'), ('Second')",
        ])
          yield* Effect.promise(() => client.query(statement))
        yield* rewrites ? log.rewrite("one", [], batch, options) : log.append("one", batch, options)
        const stored = yield* log.read("one", { fromVersion: 1, toVersion: 2, reverse: false, limit: 2 })
        expect(stored.map(({ type }) => type)).toEqual([record.type, "Second"])
      }
    }),
  )
})
