/** The documentation site. Its pages are the documents of the repository, where they are; see `src/pages.ts`. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { defineConfig } from "vitepress"
import { linkOf, repository } from "../src/links.js"
import { writeTexts } from "../src/llms.js"
import { aboutOf, addressOf, otherDocuments, pages, parts, placeOf, reference, root } from "../src/pages.js"

const generated = join(root, reference, "typedoc-sidebar.json")

/** The reference of the API, if it has been generated. */
const referenceItems = existsSync(generated) ? JSON.parse(readFileSync(generated, "utf8")) : []

const sidebar = [
  ...parts.map(({ name, pages }) => ({
    text: name,
    collapsed: name !== "Start in five minutes" && name !== "Concepts",
    items: pages.map(({ name: text, document }) => ({ text, link: addressOf(document) })),
  })),
  ...(referenceItems.length === 0
    ? []
    : [
        {
          text: "API reference",
          collapsed: true,
          items: [{ text: "All packages", link: "/api/" }, ...referenceItems],
        },
      ]),
]

/** Three lines of a log, and the fold of them. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><g fill="none" stroke="#0969da" stroke-width="4" stroke-linecap="round"><path d="M4 7h14M4 16h14M4 25h24M18 7l8 9-8 9"/></g></svg>`

/** Builds the first page alone, for its test: whether its links lead somewhere is another test's. */
const firstPageOnly = process.env["SITE_FIRST_PAGE"] !== undefined

export default defineConfig({
  title: "memfold",
  description: aboutOf("README.md"),
  base: process.env["SITE_BASE"] ?? "/",
  srcDir: root,
  srcExclude: [
    ...otherDocuments,
    ...(firstPageOnly ? [`${reference}/**`, ...pages.filter((page) => page !== "site/index.md")] : []),
  ],
  ignoreDeadLinks: firstPageOnly,
  rewrites: (document) => placeOf(document),
  outDir: join(root, "site/dist"),
  cacheDir: join(root, "site/.vitepress/cache"),
  lang: "en",
  head: [["link", { rel: "icon", href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]],
  metaChunk: true,
  transformPageData: ({ filePath, frontmatter }) =>
    frontmatter["description"] === undefined && pages.includes(filePath)
      ? { description: aboutOf(filePath) }
      : {},
  markdown: {
    config: (md) => {
      md.core.ruler.push("repository-links", ({ tokens, env }) => {
        const document: string = env.realPath?.slice(root.length) ?? env.path.slice(root.length)
        if (document.startsWith(reference)) return
        for (const { children } of tokens) {
          for (const token of children ?? []) {
            const href = token.type === "link_open" ? token.attrGet("href") : null
            if (href !== null) token.attrSet("href", linkOf(document, href))
          }
        }
      })
    },
  },
  vite: {
    // The first page runs the memory from its sources, whether or not it was built.
    resolve: { conditions: ["@memfold/source"] },
    plugins: [
      {
        // Pages are all over the repository, and Vue is installed for the site alone.
        name: "vue-of-the-site",
        enforce: "pre",
        resolveId(id, importer) {
          if (!/^vue(\/|$)/.test(id) || importer?.startsWith(join(root, "site"))) return null
          return this.resolve(id, join(root, "site/index.md"), { skipSelf: true })
        },
      },
      {
        // What the first page takes from the lab needs no threads; Rollup asks for their names before it leaves them out.
        name: "no-threads",
        enforce: "pre",
        resolveId: (id, _importer, { ssr }) =>
          id === "node:worker_threads" && ssr !== true
            ? { id: "\0no-threads", syntheticNamedExports: true }
            : null,
        load: (id) => (id === "\0no-threads" ? "export default {}" : null),
      },
    ],
  },
  buildEnd: ({ outDir }) => writeTexts(outDir),
  themeConfig: {
    outline: [2, 3],
    search: {
      provider: "local",
      options: {
        // These functions are sent to the browser as texts: they use nothing from outside.
        miniSearch: {
          options: {
            processTerm: (term: string) =>
              term.length < 3 || /^(and|the|for|its|are|was|that|this|with)$/i.test(term)
                ? null
                : term.toLowerCase(),
          },
          searchOptions: {
            fuzzy: 0.15,
            prefix: true,
            boost: { title: 4, text: 2, titles: 1 },
            // What says how comes before what says why, and before single declarations.
            boostDocument: (id: string) => (/^\/(api|decisions)\//.test(id) ? 0.4 : 1),
          },
        },
      },
    },
    socialLinks: [{ icon: "github", link: repository }],
    nav: [
      { text: "Start", link: "/start/ai-sdk.html", activeMatch: "^/start/" },
      { text: "Concepts", link: "/concepts/log-and-fold.html", activeMatch: "^/concepts/" },
      { text: "Strategies", link: "/strategies/", activeMatch: "^/strategies/" },
      { text: "Packages", link: "/packages.html", activeMatch: "^/packages" },
      ...(referenceItems.length === 0 ? [] : [{ text: "API", link: "/api/", activeMatch: "^/api/" }]),
    ],
    sidebar,
    footer: { message: "MIT licence. Every page is a Markdown file of the repository; llms.txt lists them." },
  },
})
