/** An archive in a folder. */
import { OptionGroup } from "@memfold/core"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises"
import { basename, dirname, join, relative, resolve, sep } from "node:path"
import { type Archive, ArchiveError } from "./Archive.js"

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT"

/** The code of a failure; its message would have a path of the machine. */
const reasonOf = (error: unknown): string =>
  error instanceof Error && "code" in error
    ? `the folder cannot be used (${String(error.code)})`
    : "it failed"

/** Writes what was changed in a folder to the disk. */
const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * An archive in a folder, which is made by the first object. Files can be read by their owner only.
 *
 * @param folder - the path of the folder
 * @throws InvalidOption: it is no text, or an empty one
 *
 * @example
 * ```ts
 * import { folderArchive } from "@memfold/archive"
 *
 * console.log(folderArchive("./cold").name)
 * ```
 */
export const folderArchive = (folder: string): Archive => {
  // Without a name, it would be the folder that the process is in.
  if (typeof folder !== "string" || folder.trim() === "")
    throw new OptionGroup.InvalidOption({ option: "folder", allowed: "the path of a folder" })
  const root = resolve(folder)
  const attempt = <A>(operation: ArchiveError["operation"], about: string | null, run: () => Promise<A>) =>
    Effect.tryPromise({
      try: run,
      catch: (error) => new ArchiveError({ operation, about, reason: reasonOf(error) }),
    })
  const fileOf = (key: string): string => join(root, ...key.split("/"))
  return {
    name: folder,
    put: (key, bytes) =>
      attempt("put", key, async () => {
        const file = fileOf(key)
        await mkdir(dirname(file), { recursive: true, mode: 0o700 })
        // Beside it and moved, so that a process that is killed leaves no half of an object.
        const draft = `${file}.${randomBytes(6).toString("hex")}.new`
        const handle = await open(draft, "w", 0o600)
        try {
          await handle.writeFile(bytes)
          await handle.sync()
        } finally {
          await handle.close()
        }
        await rename(draft, file)
        await syncFolder(dirname(file))
      }),
    get: (key) =>
      attempt("get", key, async () => {
        try {
          return await readFile(fileOf(key))
        } catch (error) {
          if (isMissing(error)) return null
          throw error
        }
      }),
    remove: (key) =>
      attempt("remove", key, async () => {
        const file = fileOf(key)
        await rm(file, { force: true })
        // What a killed process has left of it has the text as well.
        const beside = await readdir(dirname(file)).catch(() => [])
        for (const name of beside)
          if (name.startsWith(`${basename(file)}.`) && name.endsWith(".new"))
            await rm(join(dirname(file), name), { force: true })
      }),
    list: attempt("list", null, async () => {
      try {
        const found = await readdir(root, { recursive: true, withFileTypes: true })
        return found
          .filter((entry) => entry.isFile() && !entry.name.endsWith(".new"))
          .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
      } catch (error) {
        if (isMissing(error)) return []
        throw error
      }
    }),
  }
}
