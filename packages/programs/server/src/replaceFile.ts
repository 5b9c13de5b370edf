import { randomBytes } from "node:crypto"
import { chmodSync, existsSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"

/**
 * Writes a file beside the one that is there, and moves it in its place, so that nobody reads half of it. A link to the file stays, and
 * so does who may read it; a new file can be read by its owner only.
 *
 * @param path - where the file is
 * @param value - what it has from then on, as JSON
 * @throws Error of the system: the file cannot be written
 *
 * @example
 * ```ts
 * import { replaceFile } from "@memfold/server"
 *
 * export const forgetTokens = (path: string): void => replaceFile(path, { tokens: [] })
 * ```
 */
export const replaceFile = (path: string, value: object): void => {
  const isThere = existsSync(path)
  const target = isThere ? realpathSync(path) : path
  const draft = `${target}.${randomBytes(6).toString("hex")}.new`
  try {
    writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
    if (isThere) chmodSync(draft, statSync(target).mode)
    renameSync(draft, target)
  } finally {
    rmSync(draft, { force: true })
  }
}
