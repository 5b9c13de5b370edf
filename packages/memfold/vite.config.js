/** The command line as one program, since a process that starts at every call must not load hundreds of modules. */
import { defineConfig } from "vite"

export default defineConfig({
  ssr: {
    noExternal: true,
    // A native addon: it is compiled where it is installed.
    external: ["better-sqlite3"],
    resolve: { conditions: ["@memfold/source"] },
  },
  logLevel: "warn",
  build: {
    ssr: "src/cli/main.ts",
    // As deep in the package as `src/cli`, whose modules name files of the package by relative paths.
    outDir: "dist/bin",
    target: "node20.19",
    sourcemap: true,
    license: { fileName: "licenses.md" },
    rolldownOptions: {
      output: {
        entryFileNames: "memfold.js",
        // What is loaded when it is asked for has the name of its package, not "src" or "index".
        chunkFileNames: ({ facadeModuleId, name }) =>
          `${/([^/\\]+)[/\\]src[/\\]index\.ts$/u.exec(facadeModuleId ?? "")?.[1] ?? name}.js`,
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
