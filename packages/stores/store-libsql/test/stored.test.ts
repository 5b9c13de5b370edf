/** Databases of released versions. */
import { createClient } from "@libsql/client/web"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
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
import { layer } from "../src/index.js"
import { libsqlServers } from "@memfold/harness/libsqlServers"
import { empty, withLog } from "./support.js"

const server = libsqlServers()
/** A database as statements, one in a line of JSON: its tables, their rows, and what is defined over them. */
const dumped = async (url: string): Promise<string> => {
  const client = createClient({ url })
  const query = async (sql: string) =>
    (await client.execute(sql)).rows.map((row) => Object.values(row).map(String))
  const definitions = (tables: boolean) =>
    query(
      `SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND type ${tables ? "=" : "<>"} 'table' ORDER BY rowid`,
    )
  const statements: Array<string> = []
  for (const [name = "", sql = ""] of await definitions(true)) {
    statements.push(sql)
    const columns = (await query(`SELECT name FROM pragma_table_info('${name}')`)).flat()
    const values = columns.map((column) => `quote("${column}")`).join(` || ', ' || `)
    for (const [row = ""] of await query(`SELECT ${values} FROM "${name}"`))
      statements.push(
        `INSERT INTO "${name}" (${columns.map((one) => `"${one}"`).join(", ")}) VALUES (${row})`,
      )
  }
  for (const [, sql = ""] of await definitions(false)) statements.push(sql)
  client.close()
  return `${statements.map((sql) => JSON.stringify(sql)).join("\n")}\n`
}

const restore = async (url: string, lines: string): Promise<void> => {
  await empty(url)
  const client = createClient({ url })
  const statements = lines
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as string)
  await client.migrate(statements)
  client.close()
}

describe.each(storedVersions)("a database of memfold %s", (version) => {
  it("reads as it did, and is sound", async () => {
    const { url } = await server()
    await writeStored(version, "libsql.jsonl", async () => {
      await fill(layer({ url }))
      return dumped(url)
    })
    await restore(url, readFileSync(storedFile(version, "libsql.jsonl"), "utf8"))
    await writeStored(
      version,
      "libsql.json",
      async () => `${JSON.stringify(await readStored(layer({ url })))}\n`,
    )
    expect(await withLog({ url }, problemsOf)).toEqual([])
    expect(await readStored(layer({ url }))).toEqual(expectedOf(version, "libsql"))
    // What a later form adds is passed over by who reads, and not written to.
    const before = await withLog({ url, readonly: true }, recordsOf)
    const client = createClient({ url })
    await client.execute("ALTER TABLE events ADD COLUMN later TEXT")
    await client.execute("UPDATE memfold SET version = 99")
    client.close()
    await expect(withLog({ url }, recordsOf)).rejects.toThrow(
      "update memfold, or read it with memfold export",
    )
    expect(await withLog({ url, readonly: true }, recordsOf)).toEqual(before)
    const deleted = withLog({ url, readonly: true }, (log) => log.delete("support"))
    await expect(deleted).rejects.toThrow("takes no writes")
  })
})
