/** Databases of released versions. */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { postgresServers } from "@memfold/harness/postgresServers"
import {
  expectedOf,
  fill,
  problemsOf,
  readStored,
  recordsOf,
  storedFile,
  storedVersions,
  writeStored,
} from "@memfold/harness/stored"
import { withLog } from "./support.js"

const { server } = postgresServers()
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
    // What a later form adds is passed over by who reads, and not written to.
    const before = await withLog({ url, readonly: true }, recordsOf)
    await client.query(
      "ALTER TABLE memfold.events ADD COLUMN later TEXT; INSERT INTO memfold.migrations (version) VALUES (99)",
    )
    await expect(withLog({ url }, recordsOf)).rejects.toThrow(
      "update memfold, or read it with memfold export",
    )
    expect(await withLog({ url, readonly: true }, recordsOf)).toEqual(before)
    const deleted = withLog({ url, readonly: true }, (log) => log.delete("support"))
    await expect(deleted).rejects.toThrow("it is open to be read")
    expect(await withLog({ url, readonly: true }, recordsOf)).toEqual(before)
  })
})
