/** Exports of released versions. */
import { copyFileSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { inFolder } from "@memfold/harness/program"
import { withDriver } from "@memfold/harness/sqlite"
import { expectedOf, readStored, storedFile, storedVersions, writeStored } from "@memfold/harness/stored"

const { memfold, folder } = inFolder("stored")

describe.each(storedVersions)("an export of memfold %s", (version) => {
  it("is imported: the messages, contexts and summaries are as they were, and the log is sound", async () => {
    await writeStored(version, "export.jsonl", async () => {
      copyFileSync(storedFile(version, "sqlite.db"), join(folder, "exported.db"))
      await memfold("export", "export.jsonl", "--store", "sqlite:exported.db")
      return readFileSync(join(folder, "export.jsonl"))
    })
    const store = "sqlite:imported.db"
    expect(await memfold("import", storedFile(version, "export.jsonl"), "--store", store)).toMatchObject({
      code: 0,
      err: "",
    })
    expect((await memfold("verify", "--store", store)).out).toContain("clean")
    expect(await readStored(`sqlite:${join(folder, "imported.db")}`)).toEqual(expectedOf(version, "sqlite"))
  })

  it("is made of a file of a newer form, and of an older one, as of one of its own", async () => {
    for (const [name, schema] of [
      ["own", 6],
      ["newer", 99],
      ["older", 5],
    ] as const) {
      const file = join(folder, `${name}.db`)
      copyFileSync(storedFile(version, "sqlite.db"), file)
      if (name !== "own")
        withDriver(file, (driver) =>
          driver.exec(`PRAGMA user_version = ${schema}; ALTER TABLE events ADD COLUMN later TEXT`),
        )
      expect(await memfold("export", `${name}.jsonl`, "--store", `sqlite:${name}.db`)).toMatchObject({
        code: 0,
      })
      expect(readFileSync(join(folder, `${name}.jsonl`))).toEqual(readFileSync(join(folder, "own.jsonl")))
      expect((await memfold("verify", "--store", `sqlite:${name}.db`)).out).toContain("clean")
    }
    const refused = await memfold("repair", "--store", "sqlite:newer.db")
    expect(refused.code).not.toBe(0)
    expect(refused.err).toContain("update memfold, or read it with memfold export")
  })
})
