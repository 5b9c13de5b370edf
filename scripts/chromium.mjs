/** `node scripts/chromium.mjs` finds or installs Chromium, and prints its path. */
import { fileURLToPath } from "node:url"
import { program } from "./programs.mjs"

/** The path of Chromium; `undefined` without one. */
export const chromium = () =>
  program({
    names: ["chromium", "chromium-browser", "google-chrome"],
    brew: ["--cask", "chromium"],
    variable: "MEMFOLD_CHROMIUM",
    user: "the tests of pages",
  })

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(chromium() ?? process.exit(2))
