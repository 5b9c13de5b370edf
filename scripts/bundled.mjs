/**
 * How Vite bundles a package that is published as a bundle: into `dist`, beside its declarations. A lazily loaded store is
 * a chunk of its own.
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { defineConfig } from "vite"

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

/** The configuration of a package whose modules to load are `input`: paths by the names of their bundles. */
export const bundled = (input) =>
  defineConfig({
    ssr: {
      noExternal: true,
      // A native addon, compiled where it is installed; and what only its users install: a database in WebAssembly, and the store of
      // libSQL, whose client comes without its licence.
      external: ["better-sqlite3", "@electric-sql/pglite", "@memfold/store-libsql"],
      resolve: { conditions: ["@memfold/source"] },
    },
    plugins: [licencesInReadmes],
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
          codeSplitting: {
            groups: [
              { name: "effect", test: /[/\\]node_modules[/\\]effect[/\\]/u },
              { name: "core", test: /[/\\]packages[/\\]core[/\\]src[/\\]/u },
            ],
          },
        },
      },
    },
  })
