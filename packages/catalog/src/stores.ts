/**
 * Stores by URL: `memory:`, `sqlite:PATH`, `redis://HOST` (`rediss://HOST` for TLS), `postgres://HOST/DATABASE`, and
 * `libsql://HOST?authToken=TOKEN`.
 */
import { EventLog, InMemoryEventLog } from "@memfold/core"
import type * as SqliteEventLog from "@memfold/store-sqlite"
import { type Duration, Effect, Either, Layer, type Scope } from "effect"
import { UnknownName } from "./names.js"

/** The URL of a store. A type checker accepts any text, and an editor suggests these forms. */
export type StoreUrl =
  | "memory:"
  | `sqlite:${string}`
  | `redis://${string}`
  | `rediss://${string}`
  | `postgres://${string}`
  | `libsql://${string}`
  | (string & {})

/** How a store is opened. */
export interface StoreOptions extends Pick<SqliteEventLog.Options, "create" | "readonly"> {
  /** How long to wait for a server that does not answer; 15 seconds by default. */
  readonly retryFor?: Duration.DurationInput
}

/** Opens a store, which is closed with the scope. */
type OpenStore = Effect.Effect<EventLog.Service, EventLog.LogError, Scope.Scope>

type Open = (path: string, options: StoreOptions, url: string) => OpenStore

/** Loads a store only when a URL needs it, so that programs without it start faster. */
const lazy = <Store>(load: () => Promise<Store>, open: (store: Store) => OpenStore): OpenStore =>
  Effect.flatMap(Effect.promise(load), open)

const sqlite: Open = (filename, { retryFor: _retryFor, ...options }) =>
  lazy(
    () => import("@memfold/store-sqlite"),
    ({ make }) => make({ filename, ...options }),
  )

const redis: Open = (_path, { retryFor }, url) =>
  lazy(
    () => import("@memfold/store-redis"),
    ({ make }) => make({ url, ...(retryFor === undefined ? {} : { retryFor }) }),
  )

const postgres: Open = (_path, { create = true, readonly = false, retryFor }, url) =>
  lazy(
    () => import("@memfold/store-postgres"),
    ({ make }) => make({ url, create: create && !readonly, ...(retryFor === undefined ? {} : { retryFor }) }),
  )

/** This store is installed by who uses it. */
const libsql: Open = (_path, { create = true, readonly = false }, url) =>
  Effect.flatMap(
    Effect.tryPromise({
      try: () => import("@memfold/store-libsql"),
      catch: (cause) =>
        new EventLog.LogError({
          operation: "open",
          reason:
            "the store of libsql: URLs is not installed; run `npm install @memfold/store-libsql`, or the command of your package manager for it",
          cause,
        }),
    }),
    ({ make }) => make({ url, create: create && !readonly }),
  )

/** How to open the store of each URL scheme. */
const schemes: ReadonlyMap<string, Open> = new Map<string, Open>([
  ["memory", () => InMemoryEventLog.make],
  ["sqlite", sqlite],
  ["redis", redis],
  ["rediss", redis],
  ["postgres", postgres],
  ["postgresql", postgres],
  ["libsql", libsql],
])

const allowed = ["memory:", "sqlite:PATH", "redis://HOST", "postgres://HOST/DATABASE", "libsql://HOST"]

/** A URL without its user name and password, for messages. A file name may have an `@`. */
export const withoutSecrets = (url: string): string =>
  url.startsWith("sqlite:")
    ? url
    : url.replace(/^([^:/@]*:)?(\/*).*@/s, "$1$2…@").replace(/(authToken=)[^&]*/g, "$1…")

/** A URL of an unknown kind, for messages: its query may hold a password as well. */
const unknownUrl = (url: string): string => withoutSecrets(url).replace(/[?#;].*$/s, "…")

/**
 * The part of a URL after its scheme and slashes. `sqlite:///a.db` is `/a.db`, and `sqlite://a.db` is the file `a.db` in
 * the working directory.
 */
const behind = (url: string): string => url.slice(url.indexOf(":") + 1).replace(/^\/\//, "")

/** The file that a URL names; `null` where it names another kind of store. */
export const sqliteFile = (url: string): string | null => (url.startsWith("sqlite:") ? behind(url) : null)

/** How to open the store that a URL names. */
export const storeOf = (url: string, options: StoreOptions = {}): Either.Either<OpenStore, UnknownName> => {
  const [scheme = "", path] = url.includes(":")
    ? [url.slice(0, url.indexOf(":")), behind(url)]
    : [url, undefined]
  const open = schemes.get(scheme)
  const complete = path !== undefined && (scheme === "memory") === (path === "")
  return open === undefined || !complete
    ? Either.left(new UnknownName({ kind: "store", name: unknownUrl(url), allowed }))
    : Either.right(open(path, options, url))
}

/** The layer of the store that a URL names. The store is opened when the layer is built. */
export const storeLayer = (
  url: string,
  options: StoreOptions = {},
): Either.Either<Layer.Layer<EventLog.EventLog, EventLog.LogError>, UnknownName> =>
  Either.map(storeOf(url, options), (open) => Layer.scoped(EventLog.EventLog, open))
