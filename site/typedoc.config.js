/** The reference of the API: every public declaration of the published packages, as Markdown for the site. */
import { readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { Converter, ReflectionKind } from "typedoc"
import { packages } from "../scripts/release/packages.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
const address = repository.url.replace(/^git\+/, "").replace(/\.git$/, "")

/** What the published packages export: the file of each entry, and the name by which it is imported. */
const entries = new Map(
  packages.flatMap(({ folder, manifest }) =>
    Object.entries(manifest.exports ?? {})
      // A pattern is for the tests of the workspace: it has no built file.
      .filter(([, target]) => target["@memfold/source"] !== undefined && target.types !== undefined)
      .map(([path, target]) => [
        join(root, folder, target["@memfold/source"]),
        `${manifest.name}${path.slice(1)}`,
      ]),
  ),
)

/** The packages that come before all others. */
const first = ["memfold", "@memfold/core"]

/** Names each module as it is imported, and leaves out the places of what other libraries declare. */
const namedAsImported = (app) => {
  const names = new Map(
    [...entries].map(([file, name]) => [relative(root, file).replace(/(\/index)?\.ts$/, ""), name]),
  )
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const reflection of project.getReflectionsByKind(ReflectionKind.All)) {
      if (reflection.kindOf(ReflectionKind.Module)) {
        const name = names.get(reflection.name)
        if (name === undefined) throw new Error(`there is no entry for the module ${reflection.name}`)
        reflection.name = name
      }
      const own = reflection.sources?.filter(({ fullFileName }) => !fullFileName.includes("node_modules"))
      if (own !== undefined) reflection.sources = own.length === 0 ? undefined : own
    }
  })
  // What most people import comes first; the groups are there at the very end.
  const rank = ({ name }) => (first.includes(name) ? first.indexOf(name) : first.length)
  app.converter.on(
    Converter.EVENT_RESOLVE_END,
    ({ project: { children = [], groups = [] } }) => {
      for (const list of [children, ...groups.map((group) => group.children)])
        list.sort((one, other) => rank(one) - rank(other))
    },
    -1_000_000,
  )
}

/** @type {import("typedoc").TypeDocOptions & import("typedoc-plugin-markdown").PluginOptions} */
export default {
  name: "API reference",
  entryPoints: [...entries.keys()],
  tsconfig: "tsconfig.typedoc.json",
  plugin: ["typedoc-plugin-markdown", "typedoc-vitepress-theme", namedAsImported],
  out: "api",
  // Most of a page were its interfaces: each has a page of its own, and the page of a package begins with its functions.
  router: "member",
  membersWithOwnFile: ["Interface", "Class"],
  entryFileName: "index",
  readme: "none",
  docsRoot: ".",
  basePath: root,
  sourceLinkTemplate: `${address}/blob/main/${relative(root, join(root, "packages"))}/{path}#L{line}`,
  disableGit: true,
  excludeInternal: true,
  excludePrivate: true,
  excludeExternals: true,
  hideBreadcrumbs: true,
  hidePageHeader: true,
  skipErrorChecking: true,
  useCodeBlocks: true,
  expandObjects: false,
  // What a reader calls comes before what it fails with.
  groupOrder: ["Namespaces", "Functions", "Variables", "Interfaces", "Type Aliases", "Classes", "*"],
  logLevel: "Warn",
  validation: { invalidLink: true, notExported: false, notDocumented: false },
}
