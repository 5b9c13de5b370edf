/** What opens a store. */
import type { EventLog } from "@memfold/core"
import type { Duration, Effect, Scope } from "effect"
import type { MissingPackage } from "./MissingPackage.js"

/** How a store is opened. */
export interface StoreOptions {
  /** SQLite and PostgreSQL: whether to create a file or tables that do not exist; `true` by default. */
  readonly create?: boolean
  /** SQLite, PostgreSQL, libSQL and Redis: opens the store to read it; every write fails. `false` by default. */
  readonly readonly?: boolean
  /**
   * SQLite: how durable an append is when it returns, which the URL says with `?synchronous=normal`. `full` (default): it survives a power
   * cut. `normal`: it survives a killed process, but a power cut can lose the last appends.
   */
  readonly synchronous?: "full" | "normal"
  /** How long to wait for a server that does not answer; 15 seconds by default. */
  readonly retryFor?: Duration.DurationInput
}

/** Why a store cannot be opened. */
export type StoreError = EventLog.LogError | MissingPackage

/** Opens a store, which is closed with the scope. */
export type OpenStore = Effect.Effect<EventLog.Service, StoreError, Scope.Scope>

/** Opens the store of a URL scheme. */
export type Open = (path: string, options: StoreOptions, url: string) => OpenStore

/** Seals a log with the keys in a folder. */
export type Seal = (folder: string, log: EventLog.Service) => OpenStore
