/**
 * Finds Chromium, in which the tests of `@memfold/ai-sdk` and `@memfold/studio` open pages, or installs it if that needs no question.
 *
 * `node scripts/chromium.mjs` prints its path.
 */
import { fileURLToPath } from "node:url"
import { findOrInstall, which } from "./install.mjs"

/** The path of Chromium; `undefined` if none can be found or installed. */
export const chromium = () =>
  findOrInstall({
    what: "Chromium",
    purpose: "the tests of pages",
    find: () =>
      process.env.MEMFOLD_CHROMIUM ??
      ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
        .map((name) => which(name))
        .find(Boolean),
    // Chromium without its windows, at half the processor time.
    debian: ["chromium-headless-shell"],
    services: [],
    brew: ["--cask", "chromium"],
    variables: "MEMFOLD_CHROMIUM=/path/to/chromium",
  })

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(chromium() ?? process.exit(2))
