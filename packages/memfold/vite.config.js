/**
 * Two bundles: the package itself, and its command line (`--mode cli`). A process that starts should not load hundreds of
 * modules: importing the bundle takes a third of the time of `import "effect"`. Stores are chunks of their own, loaded when
 * their URL is used.
 */
import { defineConfig } from "vite"

/** A store's chunk has the name of its package, not "src" or "index". */
const chunkFileNames = ({ facadeModuleId, name }) =>
  `${/([^/\\]+)[/\\]src[/\\]index\.ts$/u.exec(facadeModuleId ?? "")?.[1] ?? name}.js`

const codeSplitting = {
  groups: [
    { name: "effect", test: /[/\\]node_modules[/\\]effect[/\\]/u },
    { name: "core", test: /[/\\]packages[/\\]core[/\\]src[/\\]/u },
  ],
}

const cli = {
  ssr: true,
  // As deep in the package as `src/cli`, whose modules name files of the package by relative paths.
  outDir: "dist/bin",
  rolldownOptions: {
    // The threads of `memfold lab` load a module of their own.
    input: {
      memfold: "src/cli/main.ts",
      // What it starts, for tests that call it many times in one process.
      program: "src/cli/program.ts",
      labWorker: "src/cli/lab/worker.ts",
    },
    output: { entryFileNames: "[name].js", chunkFileNames, codeSplitting },
  },
}

const library = {
  ssr: "src/index.ts",
  // Beside the declarations.
  outDir: "dist",
  emptyOutDir: false,
  rolldownOptions: { output: { entryFileNames: "index.js", chunkFileNames, codeSplitting } },
}

export default defineConfig(({ mode }) => ({
  ssr: {
    noExternal: true,
    // A native addon: it is compiled where it is installed.
    external: ["better-sqlite3"],
    resolve: { conditions: ["@memfold/source"] },
  },
  logLevel: "warn",
  build: {
    ...(mode === "cli" ? cli : library),
    target: "node20.19",
    sourcemap: true,
    license: { fileName: "licenses.md" },
  },
}))
