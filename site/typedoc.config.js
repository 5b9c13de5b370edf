/** The reference of the API: every public declaration of the published packages, as Markdown for the site. */
import { readdirSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

const entryPoints = ["packages", "packages/adapters", "packages/strategies"]
  .flatMap((parent) => readdirSync(join(root, parent)).map((name) => `${parent}/${name}`))
  .filter((folder) => existsSync(join(root, folder, "package.json")))
  .map((folder) => ({ folder, manifest: JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) }))
  .filter(({ manifest }) => manifest.private !== true)
  .flatMap(({ folder, manifest }) =>
    Object.values(manifest.exports ?? {})
      .map((one) => one["@memfold/source"])
      .filter((source) => source !== undefined)
      .map((source) => join(root, folder, source)),
  )

/** @type {import("typedoc").TypeDocOptions & import("typedoc-plugin-markdown").PluginOptions} */
export default {
  entryPoints,
  tsconfig: "tsconfig.typedoc.json",
  plugin: ["typedoc-plugin-markdown", "typedoc-vitepress-theme"],
  out: "api",
  router: "module",
  entryFileName: "index",
  readme: "none",
  docsRoot: ".",
  basePath: root,
  sourceLinkTemplate: "https://github.com/memfold/memfold/blob/main/{path}#L{line}",
  gitRemote: "origin",
  disableGit: true,
  excludeInternal: true,
  excludePrivate: true,
  excludeExternals: true,
  hideBreadcrumbs: true,
  hidePageHeader: true,
  skipErrorChecking: true,
  useCodeBlocks: true,
  logLevel: "Warn",
}
