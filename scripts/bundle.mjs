/**
 * Bundles programs from the sources of the packages, with changes by plugins if needed. They need no build, and start
 * much faster than from the packages.
 */
import { join } from "node:path"
import { root } from "./setup.mjs"

/**
 * Bundles each module into `outDir/NAME.mjs`. `plugins` are Vite plugins; `external` has the URLs of packages that are not
 * bundled. Resolves with a function from the name of a program to its path.
 */
export const bundleAll = async (modules, { outDir, plugins = [], external = {} }) => {
  // Scripts that set the repository up import this module before there are packages.
  const { build } = await import("vite")
  await build({
    root,
    configFile: false,
    logLevel: "warn",
    plugins,
    resolve: { alias: external },
    ssr: { noExternal: true, resolve: { conditions: ["@memfold/source", "node"] } },
    build: {
      ssr: true,
      outDir,
      emptyOutDir: false,
      sourcemap: true,
      rolldownOptions: {
        input: modules,
        external: Object.values(external),
        // Libraries that are bundled have their reasons.
        checks: { eval: false },
        output: { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" },
      },
    },
  })
  return (name) => join(outDir, `${name}.mjs`)
}

/** Bundles one program. Resolves with its path. */
export const bundle = async (entry, { name, ...options }) =>
  (await bundleAll({ [name]: join(root, entry) }, options))(name)
