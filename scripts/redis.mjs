/**
 * Finds `redis-server`, which the tests of `@memfold/store-redis` start, or installs it if that needs no question.
 *
 * `node scripts/redis.mjs` prints its path.
 */
import { fileURLToPath } from "node:url"
import { findOrInstall, which } from "./install.mjs"

/** The path of a `redis-server`; `undefined` if none can be found or installed. */
export const redisServer = () =>
  findOrInstall({
    what: "redis-server",
    purpose: "the tests and benchmarks of the Redis store",
    find: () => process.env.MEMFOLD_REDIS_SERVER ?? which("redis-server") ?? which("valkey-server"),
    debian: ["redis-server"],
    services: ["redis-server"],
    brew: ["redis"],
    variables: "MEMFOLD_REDIS_SERVER=/path/to/redis-server",
  })

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(redisServer() ?? process.exit(2))
