/** Where results of tests are kept between runs: outside of the clone, so that a fresh clone has them, too. */
import { homedir } from "node:os"
import { join } from "node:path"

/** A folder of the cache: below `MEMFOLD_CACHE`, or where this system has the caches of a user. */
export const cacheFolder = (name) =>
  join(
    process.env.MEMFOLD_CACHE ??
      join(
        process.platform === "win32"
          ? (process.env.LOCALAPPDATA ?? homedir())
          : (process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache")),
        "memfold",
      ),
    name,
  )
