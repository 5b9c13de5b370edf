/** SQLite files for single tests. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"

/** The URL of a store in a new file, which is removed after the test. */
export const storeFile = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-store-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return `sqlite:${join(folder, "chats.db")}`
}
