/**
 * How Vite bundles a package that is published as a bundle: into `dist`, beside its declarations. A lazily loaded store is
 * a chunk of its own.
 */
import { existsSync, readFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vite"
import { floors, nameOf } from "./floors.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))

/** A store's chunk has the name of its package, not "src" or "index". */
const chunkFileNames = ({ facadeModuleId, name }) =>
  `${/([^/\\]+)[/\\]src[/\\]index\.ts$/u.exec(facadeModuleId ?? "")?.[1] ?? name}.js`

const licenses = "licenses.md"

/** The section of a package's README that has its licence. */
const licenceInReadme = (folder) => {
  const file = join(folder, "README.md")
  const text = existsSync(file) ? readFileSync(file, "utf8") : ""
  return text
    .split(/^## /mu)
    .find((section) => /^licen[cs]e\s/iu.test(section))
    ?.replace(/^.*\n/u, "")
    .trim()
}

/** Adds the licences that packages have in their README alone: Vite looks for files. */
const licencesInReadmes = {
  name: "licences-in-readmes",
  enforce: "post",
  generateBundle: {
    order: "post",
    handler(_options, bundle) {
      const written = bundle[licenses]
      if (written === undefined) return
      const folders = new Map(
        [...this.getModuleIds()].flatMap((id) => {
          const [, folder, name] = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//u.exec(id) ?? []
          return folder === undefined ? [] : [[name, folder]]
        }),
      )
      written.source = String(written.source).replaceAll(
        /^## (\S+) - .*\n\s*(?=^## |$(?![\s\S]))/gmu,
        (heading, name) => {
          const licence = folders.has(name) ? licenceInReadme(folders.get(name)) : undefined
          return licence === undefined ? heading : `${heading.trimEnd()}\n\n${licence}\n\n`
        },
      )
    },
  },
}

const folders = floors.flatMap(({ packages }) => packages)

/**
 * Where a source is for whoever installed the package, so that source maps need no copy of it: a package that is installed as
 * well has it beside this one.
 */
const installedSource = (folder) => (source, map) => {
  const path = resolve(dirname(map), source)
  const [, library] = /.*\/node_modules\/(.+)$/u.exec(path) ?? []
  const place = relative(root, path)
  const own = folders.find((one) => place.startsWith(`${one}/`))
  const isOwn = own !== undefined && library === undefined
  if (library === undefined && !isOwn) return source
  if (isOwn && resolve(root, own) === folder) return source
  const up = "../".repeat(nameOf(relative(root, folder)).split("/").length + 1)
  return up + (isOwn ? `${nameOf(own)}/${place.slice(own.length + 1)}` : library)
}

/**
 * The driver of SQLite, a native addon that many do not install: it is required where it is used, and no bundler that takes this
 * bundle looks for it. A bundle of a bundle may not know where it is; it then looks from the working directory.
 */
const driverWhereUsed = {
  name: "driver-where-used",
  enforce: "pre",
  resolveId: (id) => (id === "better-sqlite3" ? "\0better-sqlite3" : undefined),
  load: (id) =>
    id === "\0better-sqlite3"
      ? `const requiredFrom = (place) => process.getBuiltinModule("node:module").createRequire(place)("better-sqlite3")
const loaded = () => {
  try {
    return requiredFrom(import.meta.url ?? process.cwd() + "/")
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error
    return requiredFrom(process.cwd() + "/")
  }
}
// Some bundlers run every module at the start: the driver is loaded when the first database is opened.
export default class {
  constructor(...given) {
    return new (loaded())(...given)
  }
}`
      : undefined,
}

/**
 * What CommonJS modules in the bundle require are modules of Node, which its process gives. Without an import of `node:module`, the
 * chunk that all others import can be bundled for a browser.
 */
const builtinsOfProcess = {
  name: "builtins-of-process",
  renderChunk(code) {
    const made = /^var (__require) = .*createRequire\(import\.meta\.url\).*$/mu
    if (!made.test(code)) return undefined
    return {
      code: code
        .replace(/^import \{ createRequire \} from "node:module";\n/mu, "")
        .replace(made, "var $1 = (id) => process.getBuiltinModule(id);"),
      map: null,
    }
  },
  generateBundle(_options, bundle) {
    const required = Object.values(bundle).flatMap(({ code = "" }) =>
      [...code.matchAll(/\b__require\("([^"]+)"\)/gu)].map(([, name]) => name),
    )
    const others = required.filter((name) => !isBuiltin(name))
    if (others.length > 0) this.error(`CommonJS modules in the bundle require ${others.join(", ")}`)
  },
}

/**
 * A chunk of other libraries alone names no source map, and none is published: whoever follows a trace into them installs them. A
 * program (`isMapped` is `false`) has none at all. The check of licences reads them.
 */
const mapsOfOwnSources = (isMapped) => ({
  name: "maps-of-own-sources",
  generateBundle(_options, bundle) {
    for (const [name, { type, moduleIds = [] }] of Object.entries(bundle)) {
      const isOwn = moduleIds.some((id) => !id.includes("node_modules"))
      if (type !== "chunk" || (isMapped && isOwn)) continue
      bundle[name].code = bundle[name].code.replace(/\n\/\/# sourceMappingURL=.*\n?$/u, "\n")
    }
  },
})

/** What the package's `imports` choose where it is used is not bundled, but a module of its own. */
const chosenWhereUsed = (names) => ({
  name: "chosen-where-used",
  enforce: "pre",
  resolveId: (id) => (names.includes(id) ? { id, external: true } : undefined),
})

/**
 * The configuration of a package whose modules to load are `input`: paths by the names of their bundles. `chosen` are the names
 * of its `imports`. `isMapped`: whether its own JavaScript is published with source maps.
 */
export const bundled = (input, { folder, chosen = [], isMapped = true }) =>
  defineConfig({
    ssr: {
      noExternal: true,
      // Its files are those of a page, beside its module. What only its users install is imported by names that no bundler sees.
      external: ["@memfold/studio"],
      resolve: { conditions: ["@memfold/source"] },
    },
    plugins: [
      chosenWhereUsed(chosen),
      driverWhereUsed,
      builtinsOfProcess,
      mapsOfOwnSources(isMapped),
      licencesInReadmes,
    ],
    logLevel: "warn",
    build: {
      ssr: true,
      outDir: "dist",
      emptyOutDir: false,
      target: "node20.19",
      sourcemap: true,
      license: { fileName: licenses },
      rolldownOptions: {
        input,
        output: {
          entryFileNames: "[name].js",
          chunkFileNames,
          // Whoever reads the bundle has the comments in the source map's sources.
          comments: { legal: true, annotation: true, jsdoc: false },
          sourcemapExcludeSources: true,
          sourcemapPathTransform: installedSource(folder),
          codeSplitting: {
            groups: [
              { name: "effect", test: /[/\\]node_modules[/\\]effect[/\\]/u },
              { name: "core", test: /[/\\]packages[/\\](?:ports[/\\])?(?:core|log|message)[/\\]src[/\\]/u },
            ],
          },
        },
      },
    },
  })
