/** `npm run bench [-- NAME…]`: sets up what is missing and measures. */
import { join } from "node:path"
import { root, run, setup } from "./setup.mjs"

await setup()
process.exitCode = await run(process.execPath, [join(root, "bench/dist/main.js"), ...process.argv.slice(2)], {
  stdio: "inherit",
  shell: false,
})
