/** The built command line as its users meet it: a process of its own for each call, in a folder of its own. */
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll } from "vitest"

/** The file that `npx memfold` runs. */
export const program = fileURLToPath(new URL("../bin/memfold.js", import.meta.url))

/** A conversation or an old state that is shipped with the package. */
export const sample = (name: string): string => fileURLToPath(new URL(`../samples/${name}`, import.meta.url))

/** What a call came to. */
export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** The program of an installation, run in a folder. */
export const programAt =
  (path: string, folder: string) =>
  (...args: ReadonlyArray<string>): Promise<Ran> =>
    new Promise((resolve) => {
      const options = {
        cwd: folder,
        maxBuffer: 1 << 27,
        env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined },
      }
      execFile(process.execPath, [path, ...args], options, (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), out, err }),
      )
    })

/** A folder for the tests of a file, removed after them, and the program run in it. */
export const inFolder = (name: string) => {
  const folder = mkdtempSync(join(tmpdir(), `memfold-${name}-`))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return {
    folder,
    memfold: programAt(program, folder),
    /** Writes a file, of text or of JSON, and answers with its path. */
    file: (name: string, content: unknown): string => {
      const path = join(folder, name)
      writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content))
      return path
    },
  }
}

/** JSON Lines, parsed. */
export const lines = (text: string): ReadonlyArray<Record<string, unknown>> =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>)
