/**
 * Stores by URL: `memory:`, `sqlite:PATH` or `sqlite:PATH?synchronous=normal`, `redis://HOST` (`rediss://HOST` for TLS), `postgres://HOST/DATABASE`,
 * `libsql://HOST?authToken=TOKEN`, and `sealed:FOLDER,URL` for one of these with the keys of a folder.
 */
import { EventLog, InMemoryEventLog, OptionGroup } from "@memfold/core"
import { Effect, Either, Layer } from "effect"
// A condition of the package: a browser or an edge runtime gets a module without stores.
import { seal, servers } from "#servers"
import { type Suggested, UnknownName } from "./names.js"
import type { Open, OpenStore, Seal, StoreError, StoreOptions } from "./OpenStore.js"

/** The forms of the URL of a store. */
export type StoreForm =
  | "memory:"
  | `sqlite:${string}`
  | `redis://${string}`
  | `rediss://${string}`
  | `postgres://${string}`
  | `postgresql://${string}`
  | `libsql://${string}`
  | `sealed:${string},${string}`

/** The URL of a store. An editor suggests these forms; a text that is known when the program runs is checked then. */
export type StoreUrl = Suggested<StoreForm>

const { LogError } = EventLog

const memory: Open = () => InMemoryEventLog.make

/** `FOLDER,URL`: the store of the URL, sealed with the keys in the folder. */
const sealedBy =
  (by: Seal): Open =>
  (path, options) => {
    const at = path.indexOf(",")
    const wrong = new LogError({
      operation: "open",
      reason: "a sealed store is sealed:FOLDER,URL, such as sealed:keys,sqlite:chats.db",
    })
    if (at < 1) return Effect.fail(wrong)
    return Effect.flatMap(
      Effect.mapError(Effect.flatten(storeOf(path.slice(at + 1), options)), (error) =>
        error._tag === "UnknownName" ? new LogError({ operation: "open", reason: error.message }) : error,
      ),
      (log) => by(path.slice(0, at), log),
    )
  }

const schemes: ReadonlyMap<string, Open> = new Map<string, Open>([
  ["memory", memory],
  ...servers,
  ...(seal === null ? [] : [["sealed", sealedBy(seal)] as const]),
])

/** What URLs of stores begin with, in front of the colon. */
export const storeSchemes: ReadonlyArray<string> = [...schemes.keys()]

/** The forms of the URL of a store, for messages and help; where the packages of servers cannot run, only `memory:`. */
export const storeForms: ReadonlyArray<string> = [
  "memory:",
  ...(servers.length === 0
    ? []
    : ["sqlite:PATH", "redis://HOST", "postgres://HOST/DATABASE", "libsql://HOST", "sealed:FOLDER,URL"]),
]

/** A URL without its user name and password, for messages. A file name may have an `@`. */
export const withoutSecrets = (url: string): string =>
  url.startsWith("sqlite:")
    ? url
    : url.replace(/^([^:/@]*:)?(\/*).*@/s, "$1$2…@").replace(/(authToken=)[^&]*/g, "$1…")

/** A URL of an unknown kind, for messages: its query may hold a password as well. */
export const unknownUrl = (url: string): string => withoutSecrets(url).replace(/[?#;].*$/s, "…")

/** The URL with the scheme that is nearest to its own, if one is near. */
export const guessedUrl = (url: string, schemes: Iterable<string>): string | undefined => {
  const [, scheme, rest = ""] = /^([^:/\\]+)(:.*)$/s.exec(url) ?? []
  if (scheme === undefined) return undefined
  const near = OptionGroup.closest(scheme, schemes)
  return near === undefined || near === scheme ? undefined : unknownUrl(near + rest)
}

/** A file that stands without its scheme, or the URL with another one. */
const guessed = (url: string): string | undefined =>
  schemes.has("sqlite") && url !== "" && !url.includes(":")
    ? schemes.has(url) || url === "memory"
      ? `${url}:`
      : `sqlite:${url}`
    : guessedUrl(url, schemes.keys())

/**
 * The part of a URL after its scheme and slashes. `sqlite:///a.db` is `/a.db`, and `sqlite://a.db` is the file `a.db` in
 * the working directory.
 */
const behind = (url: string): string => url.slice(url.indexOf(":") + 1).replace(/^\/\//, "")

/** How durable an append to a file is, at the end of its URL. A name may have a question mark. */
const durability = /\?synchronous=(full|normal)$/

const durabilityOf = (url: string): Pick<StoreOptions, "synchronous"> => {
  const [, synchronous] = durability.exec(url.startsWith("sqlite:") ? url : "") ?? []
  return synchronous === "full" || synchronous === "normal" ? { synchronous } : {}
}

/** The file that a URL names; `null` where it names another kind of store. */
export const sqliteFile = (url: string): string | null =>
  url.startsWith("sqlite:") ? behind(url).replace(durability, "") : null

/** How to open the store that a URL names. */
export const storeOf = (url: string, options: StoreOptions = {}): Either.Either<OpenStore, UnknownName> => {
  const [scheme = "", path] = url.includes(":")
    ? [url.slice(0, url.indexOf(":")), behind(url)]
    : [url, undefined]
  const open = schemes.get(scheme)
  const file = sqliteFile(url)
  // A file of this name would be made, while whoever gives other parameters means something else.
  if (file !== null && /\?[^/?=]+=/.test(file))
    return Either.left(
      new UnknownName({
        kind: "store",
        given: url,
        allowed: ["sqlite:PATH", "sqlite:PATH?synchronous=normal, without other parameters"],
        guess: url.slice(0, url.indexOf("?")),
      }),
    )
  const complete = path !== undefined && file !== "" && (scheme === "memory") === (path === "")
  return open === undefined || !complete
    ? Either.left(
        new UnknownName({ kind: "store", given: unknownUrl(url), allowed: storeForms, guess: guessed(url) }),
      )
    : Either.right(open(file ?? path, { ...options, ...durabilityOf(url) }, url))
}

/** The layer of the store that a URL names. The store is opened when the layer is built. */
export const storeLayer = (
  url: string,
  options: StoreOptions = {},
): Either.Either<Layer.Layer<EventLog.EventLog, StoreError>, UnknownName> =>
  Either.map(storeOf(url, options), (open) => Layer.scoped(EventLog.EventLog, open))
