/** Packages have their comments in `src` and in the declarations: the JavaScript that is installed is without them. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parse } from "acorn"

/** What bundlers and minifiers read, and what a license asks for. */
const asked = /@license|@preserve|[Cc]opyright|@?__(?:PURE|NO_SIDE_EFFECTS)__|[Ii]gnore\b|webpack|turbopack/u

/** The text of a module without the comments that have their lines for themselves. */
export const withoutComments = (text) => {
  const comments = []
  parse(text, { ecmaVersion: "latest", sourceType: "module", allowHashBang: true, onComment: comments })
  let [kept, from] = ["", 0]
  for (const { start, end, value } of comments) {
    const line = text.lastIndexOf("\n", start - 1) + 1
    const next = text.indexOf("\n", end) + 1
    const isAlone = next > 0 && text.slice(line, start).trim() === "" && text.slice(end, next).trim() === ""
    if (!isAlone || asked.test(value) || text.startsWith("#!", start)) continue
    kept += text.slice(from, line)
    from = next
  }
  return kept + text.slice(from)
}

/** Takes the comments out of every module in a folder. */
export const strip = (folder) => {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.[cm]?js$/u.test(entry.name)) continue
    const file = join(entry.parentPath ?? entry.path, entry.name)
    writeFileSync(file, withoutComments(readFileSync(file, "utf8")))
  }
}
