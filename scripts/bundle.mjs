/** One program from the sources of the packages, as they are or with something changed in them. */
import { createRequire } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { root } from "./setup.mjs"

/** Makes `outDir/NAME.mjs` of a module; `plugins` are Vite's. Answers with the path of the program. */
export const bundle = async (entry, { outDir, name, plugins = [] }) => {
  // Vite comes with Vitest.
  const fromVitest = createRequire(createRequire(join(root, "package.json")).resolve("vitest"))
  const { build } = await import(pathToFileURL(fromVitest.resolve("vite")).href)
  await build({
    root,
    configFile: false,
    logLevel: "warn",
    plugins,
    ssr: { noExternal: true, resolve: { conditions: ["@memfold/source"] } },
    build: {
      ssr: join(root, entry),
      outDir,
      emptyOutDir: false,
      sourcemap: true,
      rolldownOptions: { output: { entryFileNames: `${name}.mjs` } },
    },
  })
  return join(outDir, `${name}.mjs`)
}
