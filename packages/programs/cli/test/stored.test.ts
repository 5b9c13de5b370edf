/** Exports of released versions. */
import { copyFileSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { inFolder } from "@memfold/harness/program"
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
})
