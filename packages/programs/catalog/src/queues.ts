/** Queues by URL: `redis://HOST` (`rediss://HOST` for TLS), `postgres://HOST/DATABASE`, `cluster:` before a database. Each is a package that only its users install. */
import type { Dispatcher } from "@memfold/core"
import { Effect, Either, type Scope } from "effect"
import { queues } from "#servers"
import { loading, type MissingPackage } from "./MissingPackage.js"
import { UnknownName } from "./names.js"
import { guessedUrl, unknownUrl } from "./stores.js"

/** The URL of a queue. A type checker accepts any text, and an editor suggests these forms. */
export type QueueUrl =
  | `redis://${string}`
  | `rediss://${string}`
  | `postgres://${string}`
  | `cluster:${string}`
  | (string & {})

/** Why a queue cannot be opened. */
export type QueueError = Dispatcher.DispatchError | MissingPackage

/** Opens a queue, which is closed with the scope. */
export type OpenQueue = Effect.Effect<Dispatcher.Queue, QueueError, Scope.Scope>

/** How a queue is opened. */
export interface QueueOptions {
  /** The name of the queue on its server; `memfold` by default. */
  readonly queue?: string
  /** How long a worker owns a look without a sign of life, in milliseconds. */
  readonly lease?: number
}

/** What the package of a queue exports. */
export interface QueuePackage {
  readonly make: (
    options: QueueOptions & { readonly url: string },
  ) => Effect.Effect<Dispatcher.Queue, Dispatcher.DispatchError, Scope.Scope>
}

/** How to load the package of a queue. */
export type LoadQueue = () => Promise<QueuePackage>

const schemes: ReadonlyMap<string, LoadQueue> = new Map(queues)

/** The forms of the URL of a queue, for messages and help. */
export const queueForms: ReadonlyArray<string> = [
  "redis://HOST",
  "postgres://HOST/DATABASE",
  "cluster:postgres://HOST/DATABASE",
  "cluster:sqlite:FILE",
]

/**
 * How to open the queue that a URL names.
 *
 * @param url - The server.
 * @param options - The name of the queue on the server, and its lease.
 */
export const queueOf = (url: string, options: QueueOptions = {}): Either.Either<OpenQueue, UnknownName> => {
  const [scheme = ""] = /^(?:cluster(?=:)|[a-z]+(?=:\/\/))/.exec(url) ?? []
  const load = schemes.get(scheme)
  if (load === undefined)
    return Either.left(
      new UnknownName({
        kind: "queue",
        given: unknownUrl(url),
        allowed: queueForms,
        guess: guessedUrl(url, schemes.keys()),
      }),
    )
  return Either.right(Effect.flatMap(loading(load), ({ make }) => make({ url, ...options })))
}
