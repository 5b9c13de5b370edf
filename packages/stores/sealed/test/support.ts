/** Folders and keyrings for the tests of a file, gone when they are done. */
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { fileRoot, type FolderKeyring, folderKeyring } from "../src/index.js"

/** To be called once, at the top of a file. */
export const folders = () => {
  const base = fs.mkdtempSync(join(tmpdir(), "memfold-sealed-"))
  afterAll(() => fs.rmSync(base, { recursive: true, force: true }))
  let made = 0
  /** A new, empty folder. */
  const newFolder = (): string => {
    const folder = join(base, String(made++))
    fs.mkdirSync(folder)
    return folder
  }
  /** A keyring in a folder, with its root. */
  const newKeyring = (folder = newFolder()): FolderKeyring =>
    folderKeyring({ folder: join(folder, "owners"), root: fileRoot(join(folder, "root.key")) })
  return { newFolder, newKeyring }
}
