/**
 * Stores by URL: `memory:` and `sqlite:PATH`.
 */
import { type EventLog, InMemoryEventLog } from "@memfold/core"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { Either, type Layer } from "effect"
import { UnknownName } from "./parts.js"

/** How a store is opened. */
export type StoreOptions = Pick<SqliteEventLog.Options, "create" | "readonly">

type Open = (path: string, options: StoreOptions) => Layer.Layer<EventLog.EventLog, EventLog.LogError>

/** What the names before the colon stand for. */
const schemes: ReadonlyMap<string, Open> = new Map<string, Open>([
  ["memory", () => InMemoryEventLog.layer],
  ["sqlite", (filename, options) => SqliteEventLog.layer({ filename, ...options })],
])

const allowed = ["memory:", "sqlite:PATH"]

/** The layer of the store that a URL names. It is opened when the layer is built. */
export const storeLayer = (
  url: string,
  options: StoreOptions = {},
): Either.Either<Layer.Layer<EventLog.EventLog, EventLog.LogError>, UnknownName> => {
  const [scheme = "", path] = url.includes(":")
    ? [url.slice(0, url.indexOf(":")), url.slice(url.indexOf(":") + 1).replace(/^\/\/(?=\/)/, "")]
    : [url, undefined]
  const open = schemes.get(scheme)
  const complete = path !== undefined && (scheme === "memory") === (path === "")
  return open === undefined || !complete
    ? Either.left(new UnknownName({ kind: "store", name: url, allowed }))
    : Either.right(open(path, options))
}
