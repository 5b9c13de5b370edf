/** The stores in files and on servers, and the queues. Each is loaded when a URL needs it, so that programs without it start faster. */
import type * as Sealed from "@memfold/sealed"
import type * as Libsql from "@memfold/store-libsql"
import type * as Bullmq from "@memfold/worker-bullmq"
import type * as Cluster from "@memfold/worker-cluster"
import type * as PgBoss from "@memfold/worker-pg-boss"
import { EventLog } from "@memfold/core"
import { Effect } from "effect"
import { existsSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { isMissing, loading, MissingPackage, optional } from "./MissingPackage.js"
import type { Open, OpenStore, Seal } from "./OpenStore.js"
import { projectionsOf } from "./projectionsOf.js"
import type { LoadQueue } from "./queues.js"

/** Loads a store and opens it. The store loads its driver: that package may be missing as well. */
const lazy = <Store>(load: () => Promise<Store>, open: (store: Store) => OpenStore): OpenStore =>
  Effect.catchAll(Effect.flatMap(loading(load), open), (error) =>
    error._tag === "LogError" && isMissing(error.cause) ? MissingPackage.of(error.cause) : Effect.fail(error),
  )

const sqlite: Open = (filename, { retryFor: _retryFor, ...options }) =>
  lazy(
    () => import("@memfold/store-sqlite"),
    ({ make }) => make({ filename, projectionsOf, ...options }),
  )

const redis: Open = (_path, { readonly = false, retryFor }, url) =>
  lazy(
    () => import("@memfold/store-redis"),
    ({ make }) => make({ url, readonly, ...(retryFor === undefined ? {} : { retryFor }) }),
  )

const postgres: Open = (_path, { create = true, readonly = false, retryFor }, url) =>
  lazy(
    () => import("@memfold/store-postgres"),
    ({ make }) => make({ url, create, readonly, ...(retryFor === undefined ? {} : { retryFor }) }),
  )

/** No bundle has this store: whoever uses it installs it. */
const libsql: Open = (_path, { create = true, readonly = false }, url) =>
  lazy(
    () => optional<typeof Libsql>("@memfold/store-libsql"),
    ({ make }) => make({ url, create, readonly }),
  )

/** What wraps the keys in a folder. A root that is lost is not made anew beside the keys that it wraps: these would have two then. */
const rootIn = (folder: string, { environmentRoot, fileRoot }: typeof Sealed) => {
  const variable = "MEMFOLD_ROOT_KEY"
  if (process.env[variable] !== undefined) return environmentRoot(variable)
  const file = join(folder, "root.key")
  if (existsSync(join(folder, "owners")) && !existsSync(file))
    throw new RangeError(
      `${file} is missing, and the keys in ${folder} were wrapped before: put it back from a backup, or set ${variable}`,
    )
  return fileRoot(file)
}

/**
 * Seals a log with the keys in a folder: `root.key` there wraps them, or the environment variable MEMFOLD_ROOT_KEY. The folder is made if
 * it is missing.
 */
export const seal: Seal = (folder, log) =>
  Effect.flatMap(
    loading(() => import("@memfold/sealed")),
    (sealed) =>
      Effect.flatMap(
        Effect.try({
          try: () => {
            mkdirSync(folder, { recursive: true, mode: 0o700 })
            return sealed.folderKeyring({ folder: join(folder, "owners"), root: rootIn(folder, sealed) })
          },
          catch: (cause) =>
            new EventLog.LogError({
              operation: "open",
              reason: cause instanceof Error ? cause.message : "the keys cannot be read",
              cause,
            }),
        }),
        (keyring) => sealed.sealing(log, keyring),
      ),
  )

/** How to open the store of each URL scheme. */
export const servers: ReadonlyArray<readonly [scheme: string, open: Open]> = [
  ["sqlite", sqlite],
  ["redis", redis],
  ["rediss", redis],
  ["postgres", postgres],
  ["postgresql", postgres],
  ["libsql", libsql],
]

const bullmq: LoadQueue = () => optional<typeof Bullmq>("@memfold/worker-bullmq")
const cluster: LoadQueue = () => optional<typeof Cluster>("@memfold/worker-cluster")
const pgBoss: LoadQueue = () => optional<typeof PgBoss>("@memfold/worker-pg-boss")

/** How to load the queue of each URL scheme. */
export const queues: ReadonlyArray<readonly [scheme: string, queue: LoadQueue]> = [
  ["cluster", cluster],
  ["redis", bullmq],
  ["rediss", bullmq],
  ["postgres", pgBoss],
  ["postgresql", pgBoss],
]
