/** Builds the page: one program, one style sheet, nothing from elsewhere. */
import { fileURLToPath } from "node:url"
import { defineConfig } from "vite"

export default defineConfig({
  root: fileURLToPath(new URL("src/page", import.meta.url)),
  // The page finds its files beside itself, wherever it is served.
  base: "./",
  resolve: { conditions: ["@memfold/source"] },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  logLevel: "warn",
  build: {
    outDir: fileURLToPath(new URL("dist/page", import.meta.url)),
    emptyOutDir: true,
    target: "es2023",
    modulePreload: false,
    license: { fileName: "licenses.md" },
    // Nothing is put into the page itself: the content security policy takes files only.
    assetsInlineLimit: 0,
  },
})
