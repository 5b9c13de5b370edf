/** Folders and keyrings for the tests of a file, gone when they are done, and processes that are killed. */
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
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

/**
 * The file system of a process that is killed at one of its writes, counted from 0: of a file it writes the first half, and nothing
 * happens any more.
 */
export const filesDyingAt = (step: number) => {
  const names = ["writeFileSync", "linkSync", "rmSync", "mkdirSync"] as const
  const before = Object.fromEntries(names.map((name) => [name, fs[name]]))
  let calls = 0
  for (const name of names) {
    const call = fs[name] as (...given: ReadonlyArray<unknown>) => unknown
    const dying = (...given: ReadonlyArray<unknown>): unknown => {
      if (calls++ < step) return call(...given)
      const [path, content, ...rest] = given
      if (
        calls === step + 1 &&
        name === "writeFileSync" &&
        (typeof content === "string" || content instanceof Uint8Array)
      )
        call(path, content.slice(0, content.length >> 1), ...rest)
      throw new Error("killed")
    }
    Object.assign(fs, { [name]: dying })
  }
  syncBuiltinESMExports()
  return {
    calls: () => calls,
    restart: () => {
      Object.assign(fs, before)
      syncBuiltinESMExports()
    },
  }
}
