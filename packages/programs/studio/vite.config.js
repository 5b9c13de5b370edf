/** Builds the page: one program, one style sheet, nothing from elsewhere. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vite"

const licenses = "licenses.md"

/** Adds the licence of Pico CSS: Vite lists those of programs alone. */
const licenceOfPico = {
  name: "licence-of-pico",
  enforce: "post",
  generateBundle: {
    order: "post",
    handler(_options, bundle) {
      const file = createRequire(import.meta.url).resolve("@picocss/pico/LICENSE.md")
      bundle[licenses].source += `\n## @picocss/pico (MIT)\n\n${readFileSync(file, "utf8")}`
    },
  },
}

export default defineConfig({
  root: fileURLToPath(new URL("src/page", import.meta.url)),
  // The page finds its files beside itself, wherever it is served.
  base: "./",
  resolve: { conditions: ["@memfold/source"] },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [licenceOfPico],
  logLevel: "warn",
  // What Sass has against the style sheets of others is theirs to mend.
  css: { preprocessorOptions: { scss: { quietDeps: true } } },
  build: {
    outDir: fileURLToPath(new URL("dist/page", import.meta.url)),
    emptyOutDir: true,
    target: "es2023",
    modulePreload: false,
    // Nothing of the page does anything when a property is only read.
    rolldownOptions: {
      treeshake: {
        propertyReadSideEffects: false,
        unknownGlobalSideEffects: false,
        // What makes schemas and classes of errors and services: the page goes without those that it does not use.
        manualPureFunctions: [
          "Struct",
          "TaggedStruct",
          "TaggedError",
          "Literal",
          "Union",
          "Reference",
          "Tag",
          "optional",
          // How the schema `Array` is named inside of Effect.
          "Array$",
          "Record",
        ],
      },
    },
    license: { fileName: licenses },
    // Nothing is put into the page itself: the content security policy takes files only.
    assetsInlineLimit: 0,
  },
})
