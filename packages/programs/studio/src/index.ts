/**
 * `@memfold/studio`: the files of the page, for a service to serve.
 *
 * @packageDocumentation
 */
import { readdirSync, readFileSync } from "node:fs"
import { extname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** A file of the page. */
export interface PageFile {
  /** Its media type, for the header `Content-Type`. */
  readonly type: string
  readonly body: Uint8Array
  /** Whether its name changes with its content, so that browsers may keep it for good. */
  readonly named: boolean
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
}

/**
 * Reads the files of the page, by their paths: `index.html`, and what it asks for.
 *
 * @returns the files
 * @throws if the package was not built
 *
 * @example
 * ```ts
 * import { pageFiles } from "@memfold/studio"
 *
 * console.log([...pageFiles().keys()])
 * ```
 */
export const pageFiles = (): ReadonlyMap<string, PageFile> => {
  // From `src` as from `dist`, the built page is in `dist/page` of the package.
  const folder = fileURLToPath(new URL("../dist/page", import.meta.url))
  return new Map(
    readdirSync(folder, { recursive: true, encoding: "utf8" }).flatMap((path) => {
      const type = types[extname(path)]
      if (type === undefined) return []
      const name = path.replaceAll("\\", "/")
      return [[name, { type, body: readFileSync(join(folder, path)), named: name.startsWith("assets/") }]]
    }),
  )
}
