/** Files of released versions. */
import { copyFileSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import {
  expectedOf,
  fill,
  problemsOf,
  readStored,
  storedFile,
  storedVersions,
  writeStored,
} from "@memfold/harness/stored"
import { withDriver } from "@memfold/harness/sqlite"
import { folder, withLog } from "./support.js"

describe.each(storedVersions)("a file of memfold %s", (version) => {
  it("reads as it did, and is sound", async () => {
    const file = join(folder(), "chats.db")
    await writeStored(version, "sqlite.db", async () => {
      await fill(`sqlite:${file}`)
      withDriver(file, (driver) => driver.exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)"))
      return readFileSync(file)
    })
    copyFileSync(storedFile(version, "sqlite.db"), file)
    await writeStored(
      version,
      "sqlite.json",
      async () => `${JSON.stringify(await readStored(`sqlite:${file}`))}\n`,
    )
    expect(await withLog({ filename: file }, problemsOf)).toEqual([])
    expect(await readStored(`sqlite:${file}`)).toEqual(expectedOf(version, "sqlite"))
  })
})
