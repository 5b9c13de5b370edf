/**
 * Programs from the sources of the packages, as they are or with something changed in them. They need no build, and
 * start in a fraction of the time that their packages would take.
 */
import { join } from "node:path"
import { root } from "./setup.mjs"

/**
 * Makes `outDir/NAME.mjs` of each module; `plugins` are Vite's, and `external` says where the packages are that stay
 * outside. Answers with the path of a program by its name.
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
    ssr: { noExternal: true, resolve: { conditions: ["@memfold/source"] } },
    build: {
      ssr: true,
      outDir,
      emptyOutDir: false,
      sourcemap: true,
      rolldownOptions: {
        input: modules,
        external: Object.values(external),
        output: { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" },
      },
    },
  })
  return (name) => join(outDir, `${name}.mjs`)
}

/** Makes one program. Answers with its path. */
export const bundle = async (entry, { name, ...options }) =>
  (await bundleAll({ [name]: join(root, entry) }, options))(name)
