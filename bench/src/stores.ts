/**
 * Measures stores against the databases that they are built on: the same bytes with the same durability, in the same
 * run. The measurements alternate, because other load on the machine should affect both. Only ratios are claims.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { redis } from "./redis.js"
import { sqlite } from "./sqlite.js"

/** Measures every store and prints. Returns whether every ratio is within its bound. */
export const stores = async (): Promise<boolean> => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-bench-"))
  try {
    const outcomes = [await sqlite(folder), await redis(folder)]
    return outcomes.every(Boolean)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
