/** `npm run pictures [-- FOLDER…]`: sets up what is missing and makes pictures of each view of studio, in `.pictures`. */
import { join } from "node:path"
import { chromium } from "./chromium.mjs"
import { root, run, setup } from "./setup.mjs"

await setup()
process.exitCode = await run(
  process.execPath,
  [join(root, "bench/dist/studio/pictures.js"), ...process.argv.slice(2)],
  {
    stdio: "inherit",
    shell: false,
    cwd: process.cwd(),
    env: { MEMFOLD_CHROMIUM: chromium() ?? process.exit(2) },
  },
)
