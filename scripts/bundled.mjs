/**
 * How Vite bundles a package that is published as a bundle: into `dist`, beside its declarations. A lazily loaded store is
 * a chunk of its own.
 */
import { defineConfig } from "vite"

/** A store's chunk has the name of its package, not "src" or "index". */
const chunkFileNames = ({ facadeModuleId, name }) =>
  `${/([^/\\]+)[/\\]src[/\\]index\.ts$/u.exec(facadeModuleId ?? "")?.[1] ?? name}.js`

/** The configuration of a package whose modules to load are `input`: paths by the names of their bundles. */
export const bundled = (input) =>
  defineConfig({
    ssr: {
      noExternal: true,
      // A native addon, compiled where it is installed; and a database in WebAssembly, which only its users install.
      external: ["better-sqlite3", "@electric-sql/pglite"],
      resolve: { conditions: ["@memfold/source"] },
    },
    logLevel: "warn",
    build: {
      ssr: true,
      outDir: "dist",
      emptyOutDir: false,
      target: "node20.19",
      sourcemap: true,
      license: { fileName: "licenses.md" },
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
