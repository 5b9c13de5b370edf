/** The migrations as files of SQL, for those who run their own. */
import { readdirSync, readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { records } from "@memfold/harness/crowd"
import { postgresServers } from "@memfold/harness/postgresServers"
import { migrations } from "../src/index.js"
import { withLog } from "./support.js"

const { server } = postgresServers()
const folder = new URL("../migrations/", import.meta.url)
const files = readdirSync(folder).toSorted()
const textOf = (file: string) => readFileSync(new URL(file, folder), "utf8")
const head = "-- memfold: tables of the event log, in the schema memfold.\n\n"

it("each file has the statements of its step", () => {
  const versions = files.map(
    (_file, from) => migrations({ from }).length - migrations({ from: from + 1 }).length,
  )
  for (const [from, file] of files.entries()) {
    const statements = migrations({ from }).slice(0, versions[from])
    expect(textOf(file), `write ${file} anew only if it is not published`).toBe(
      `${head}${statements.map((one) => `${one};\n`).join("\n")}`,
    )
  }
  expect(migrations({ from: files.length })).toEqual([])
})

it("a database that has run the files keeps a log, without the right to create", async () => {
  const { url, client } = await server({ config: ["fsync = off"] })
  for (const file of files) await client.query(textOf(file))
  await withLog({ url, create: false }, (log) =>
    log.append("chat-1", records(2), { expectedVersion: 0, batchId: "a" }),
  )
  const { rows } = await client.query("SELECT session FROM memfold.log")
  expect(rows).toHaveLength(2)
})

it("a role that may create tables in a schema opens a log there, without the right to create schemas", async () => {
  const { url, client } = await server({ config: ["fsync = off"] })
  await client.query("CREATE ROLE ann LOGIN; CREATE SCHEMA hers AUTHORIZATION ann")
  const asAnn = Object.assign(new URL(url), { username: "ann" }).href
  const append = (schema: string) =>
    withLog({ url: asAnn, schema }, (log) =>
      log.append("chat-1", records(2), { expectedVersion: 0, batchId: "a" }),
    )
  await append("hers")
  expect((await client.query("SELECT session FROM hers.log")).rows).toHaveLength(2)
  await expect(append("another")).rejects.toThrow("the user may not do this")
})
