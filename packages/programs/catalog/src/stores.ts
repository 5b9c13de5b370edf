/**
 * Stores by URL: `memory:`, `sqlite:PATH`, `redis://HOST` (`rediss://HOST` for TLS), `postgres://HOST/DATABASE`, and
 * `libsql://HOST?authToken=TOKEN`.
 */
import { EventLog, InMemoryEventLog } from "@memfold/core"
import { Either, Layer } from "effect"
// A condition of the package: a browser or an edge runtime gets a module without stores.
import { servers } from "#servers"
import { UnknownName } from "./names.js"
import type { Open, OpenStore, StoreError, StoreOptions } from "./OpenStore.js"

/** The URL of a store. A type checker accepts any text, and an editor suggests these forms. */
export type StoreUrl =
  | "memory:"
  | `sqlite:${string}`
  | `redis://${string}`
  | `rediss://${string}`
  | `postgres://${string}`
  | `libsql://${string}`
  | (string & {})

const memory: Open = () => InMemoryEventLog.make

/** How to open the store of each URL scheme. */
const schemes: ReadonlyMap<string, Open> = new Map<string, Open>([["memory", memory], ...servers])

/** The forms of a URL; where the packages of servers cannot run, only `memory:`. */
const allowed = [
  "memory:",
  ...(servers.length === 0
    ? []
    : ["sqlite:PATH", "redis://HOST", "postgres://HOST/DATABASE", "libsql://HOST"]),
]

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
  // A file of this name would be made, while whoever gives parameters means something else. A name may have a question mark.
  if (scheme === "sqlite" && /\?[^/?=]+=/.test(path ?? ""))
    return Either.left(
      new UnknownName({ kind: "store", name: url, allowed: ["sqlite:PATH, without parameters"] }),
    )
  const complete = path !== undefined && (scheme === "memory") === (path === "")
  return open === undefined || !complete
    ? Either.left(new UnknownName({ kind: "store", name: unknownUrl(url), allowed }))
    : Either.right(open(path, options, url))
}

/** The layer of the store that a URL names. The store is opened when the layer is built. */
export const storeLayer = (
  url: string,
  options: StoreOptions = {},
): Either.Either<Layer.Layer<EventLog.EventLog, StoreError>, UnknownName> =>
  Either.map(storeOf(url, options), (open) => Layer.scoped(EventLog.EventLog, open))
