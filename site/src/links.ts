/** Where the links of a document lead on the site: to another page, or to the source of a file in the repository. */
import { existsSync, readFileSync, statSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { addressOf, pages, root } from "./pages.js"

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

/** The address of the repository, from the root's manifest. */
export const repository: string = manifest.repository.url.replace(/^git\+/, "").replace(/\.git$/, "")

const isPage = new Set(pages)

/** A link that leads nowhere. */
export class DeadLink extends Error {
  override readonly name = "DeadLink"
  constructor(document: string, href: string) {
    super(`${document} links to "${href}", which is no file of the repository`)
  }
}

/**
 * The address that a link of a document has on the site. A link to a page leads to the page, a link to a folder to the page
 * of its README, and any other file to the repository. Links to other sites, and to places of the document itself, stay.
 *
 * @throws DeadLink if there is no such file.
 */
export const linkOf = (document: string, href: string): string => {
  if (/^([a-z]+:|#|\/)/.test(href)) return href
  const [path = "", anchor] = href.split("#")
  const target = normalize(join(dirname(document), decodeURIComponent(path))).replace(/\/$/, "")
  const file = join(root, target)
  if (target.startsWith("..") || !existsSync(file)) throw new DeadLink(document, href)
  const behind = anchor === undefined ? "" : `#${anchor}`
  const isFolder = statSync(file).isDirectory()
  const page = isFolder ? `${target}/README.md` : target
  if (isPage.has(page)) return `${addressOf(page)}${behind}`
  return `${repository}/${isFolder ? "tree" : "blob"}/main/${target}${behind}`
}
