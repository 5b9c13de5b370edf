/** Chooses the driver of SQLite. */
import { Effect } from "effect"
import { betterSqlite } from "./betterSqlite.js"
import { builtIn } from "./builtIn.js"
import type { Driver } from "./Driver.js"

/**
 * The driver that this process uses. A process has one: two copies of SQLite in a process take the locks of each other on the same
 * file.
 */
let chosen: Driver | undefined

/** Bun and Deno have a SQLite of their own, and cannot load native addons of Node, or ask before they do. */
const isNode = (): boolean => !("bun" in process.versions || "deno" in process.versions)

/**
 * The driver: in Node better-sqlite3, where it is installed and its native part loads. Otherwise the SQLite of the runtime. Fails
 * with what is wrong with better-sqlite3 in a runtime that has no SQLite; the next call looks again.
 */
export const driver: Effect.Effect<Driver, unknown> = Effect.suspend(() => {
  if (chosen !== undefined) return Effect.succeed(chosen)
  const other = (error: unknown) => {
    const ofRuntime = builtIn()
    return ofRuntime === undefined ? Effect.fail(error) : Effect.succeed(ofRuntime)
  }
  const found = isNode()
    ? Effect.catchAll(betterSqlite, other)
    : Effect.catchAll(other(undefined), () => betterSqlite)
  // Two calls at the same time: the first that ends decides.
  return Effect.map(found, (one) => (chosen ??= one))
})
