/**
 * The files of the installed package that the program reads or starts. This module and the bundle are at the same depth of
 * the package, so both find them by the same relative paths.
 */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

export const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  readonly version: string
}

/** The path of a sample conversation. */
export const sampleFile = (name: string): string =>
  fileURLToPath(new URL(`../samples/${name}.jsonl`, import.meta.url))

/** The path of the bundled program, for a process of its own. */
export const programFile = (): string => fileURLToPath(new URL("../dist/main.js", import.meta.url))

/** The bundled module of a worker thread of `memfold lab`. */
export const labWorker = (): URL => new URL("../dist/labWorker.js", import.meta.url)
