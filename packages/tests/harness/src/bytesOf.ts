/** What stands in the files of a store. */
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"

/** The bytes of all files in a folder, each as a character. A file that goes meanwhile is left out. */
export const bytesOf = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true)
    .map((file) => readFileSync(file, "latin1"))
    .join("\n")
