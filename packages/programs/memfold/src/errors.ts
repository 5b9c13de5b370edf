/**
 * Every error that a memory rejects with, as classes for `instanceof`. `error.name` and `error._tag` are the name of the
 * class.
 */
import {
  Dispatcher,
  EventCodec,
  EventLog,
  Memory,
  MemoryLayers,
  Strategy,
  Summarizer,
  VectorIndex,
} from "@memfold/core"

export { AnthropicDecodeError } from "@memfold/anthropic"
export {
  CannotFork,
  CannotRedact,
  GuardRefused,
  IdempotencyKeyReused,
  OwnerMismatch,
  UnknownMessage,
  UnknownSummary,
  VersionMismatch,
} from "@memfold/core"
export { OpenAIDecodeError } from "@memfold/openai"
export { Closed } from "./promise/lifeCycle.js"
export { MissingPackage, UnknownName } from "@memfold/catalog"

/** A stored event of the session cannot be read. */
export const DamagedEvent = EventCodec.DamagedEvent
export type DamagedEvent = EventCodec.DamagedEvent

/** The function of `consume` has failed, with its `cause`: what it was called with comes again. */
export const ConsumerFailed = Memory.ConsumerFailed
export type ConsumerFailed = Memory.ConsumerFailed

/** The queue could not be opened. Once it is open, its failures are logged, and fail no call. */
export const DispatchError = Dispatcher.DispatchError
export type DispatchError = Dispatcher.DispatchError

/** An argument is invalid. Nothing was written. */
export const InvalidInput = Memory.InvalidInput
export type InvalidInput = Memory.InvalidInput

/**
 * An option of `createMemory`, or of one call, is unknown or has a value that is not allowed. `option` is its name, and
 * `allowed` says which values it can have.
 */
export const InvalidOption = Memory.InvalidOption
export type InvalidOption = Memory.InvalidOption

/** The owner, or a session of theirs, is held: nothing was erased. */
export const Held = EventLog.Held
export type Held = EventLog.Held

/** As many appends wait as may: nothing was done. `retryAfter` says after how many milliseconds to come again. */
export const Overloaded = Memory.Overloaded
export type Overloaded = Memory.Overloaded

/** The store seals nothing, so it cannot erase or hold. */
export const NotSealed = Memory.NotSealed
export type NotSealed = Memory.NotSealed

/** The session has left no branch with this id. */
export const UnknownBranch = Memory.UnknownBranch
export type UnknownBranch = Memory.UnknownBranch

/** A memory layer failed. */
export const LayersError = MemoryLayers.LayersError
export type LayersError = MemoryLayers.LayersError

/** The store failed. */
export const LogError = EventLog.LogError
export type LogError = EventLog.LogError

/** A setting of a strategy is unknown or out of its range. */
export const SettingsError = Strategy.SettingsError
export type SettingsError = Strategy.SettingsError

/** A summarizer failed. It is in the outcome of a compaction; no method rejects with it. */
export const SummarizerError = Summarizer.SummarizerError
export type SummarizerError = Summarizer.SummarizerError

/** The vector index failed. A search goes by words then; a redaction or a deletion has to be repeated. */
export const VectorIndexError = VectorIndex.VectorIndexError
export type VectorIndexError = VectorIndex.VectorIndexError
