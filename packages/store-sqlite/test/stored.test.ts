/** Files of released versions. */
import { copyFileSync, readFileSync } from "node:fs"
import { join } from "node:path"
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

  it("reads as it did with what a later form adds, and is not written to", async () => {
    const file = join(folder(), "chats.db")
    copyFileSync(storedFile(version, "sqlite.db"), file)
    const all = (readonly: boolean) => withLog({ filename: file, readonly }, recordsOf)
    const before = await all(false)
    expect(before.length).toBeGreaterThan(100)
    for (const later of [5, 99]) {
      withDriver(file, (driver) =>
        driver.exec(`PRAGMA user_version = ${later}; ALTER TABLE events ADD COLUMN later_${later} TEXT;
          ALTER TABLE sessions ADD COLUMN later_${later} TEXT DEFAULT 'x'; CREATE TABLE later_${later} (id INTEGER)`),
      )
      const bytes = readFileSync(file)
      await expect(all(false)).rejects.toThrow("memfold export")
      expect(await all(true)).toEqual(before)
      expect(readFileSync(file).equals(bytes)).toBe(true)
    }
  })
})
