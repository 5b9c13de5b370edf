/** `npm run bench [-- NAME…]`: sets up what is missing and measures. */
import { join } from "node:path"
import { redisServer } from "./redis.mjs"
import { root, run, setup } from "./setup.mjs"

await setup()
const asked = process.argv.slice(2)
const env =
  asked.length === 0 || asked.includes("stores")
    ? { MEMFOLD_REDIS_SERVER: redisServer() ?? process.exit(2) }
    : {}
process.exitCode = await run(process.execPath, [join(root, "bench/dist/main.js"), ...asked], {
  stdio: "inherit",
  shell: false,
  env,
})
