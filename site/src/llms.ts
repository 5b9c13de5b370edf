/** The site for programs that read text: each page as Markdown beside its HTML, `llms.txt` and `llms-full.txt`. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { linkOf } from "./links.js"
import { aboutOf, pages, parts, placeOf, root } from "./pages.js"

/** What the addresses of the site begin with, where it is below a path. */
const base = (process.env["SITE_BASE"] ?? "/").replace(/\/$/, "")

/** The links of a text outside its blocks of code. */
const withLinks = (text: string, change: (href: string) => string): string =>
  text
    .split(/(^```[\s\S]*?^```$)/m)
    .map((piece) =>
      piece.startsWith("```")
        ? piece
        : piece.replaceAll(
            /(\]\()([^)\s]+)(\))/g,
            (_, before: string, href: string, after: string) => `${before}${change(href)}${after}`,
          ),
    )
    .join("")

/** A document as its page says it, with links that lead to the Markdown of other pages. */
export const markdownOf = (document: string): string => {
  const text = readFileSync(join(root, document), "utf8").replace(/^---\n[\s\S]*?\n---\n+/, "")
  return withLinks(text, (href) => {
    const address = linkOf(document, href)
    return address.startsWith("/")
      ? base + address.replace(/\/(?=#|$)/, "/index.md").replace(/\.html(?=#|$)/, ".md")
      : address
  })
}

/** The list of all pages, part by part, each with what it is about. */
export const llmsText = (): string => {
  const sections = parts.map(({ name, pages }) =>
    [
      `## ${name}\n`,
      ...pages.map(({ name, document }) => {
        const about = aboutOf(document)
        return `- [${name}](${base}/${placeOf(document)})${about === "" ? "" : `: ${about}`}`
      }),
    ].join("\n"),
  )
  return [`# memfold\n\n> ${aboutOf("README.md")}`, ...sections, ""].join("\n\n")
}

/** All pages behind each other. Records of decisions are left out: they say why, and not how. */
export const llmsFullText = (): string => {
  const documents = new Set(parts.flatMap(({ pages }) => pages.map(({ document }) => document)))
  return [...documents]
    .filter((document) => !document.startsWith("docs/decisions/") && document !== "docs/conformance.md")
    .map((document) => `<!-- /${placeOf(document)} -->\n\n${markdownOf(document)}`)
    .join("\n\n")
}

/** Writes them into the folder of the built site. */
export const writeTexts = (folder: string): void => {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  for (const document of pages) write(placeOf(document), markdownOf(document))
  write("llms.txt", llmsText())
  write("llms-full.txt", llmsFullText())
}
