/** `node scripts/redis.mjs` finds or installs `redis-server`, and prints its path. */
import { fileURLToPath } from "node:url"
import { program } from "./programs.mjs"

/** The path of a `redis-server`; `undefined` without one. */
export const redisServer = () =>
  program({
    names: ["redis-server", "valkey-server"],
    brew: ["redis"],
    variable: "MEMFOLD_REDIS_SERVER",
    user: "the tests and benchmarks of the Redis store",
  })

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(redisServer() ?? process.exit(2))
