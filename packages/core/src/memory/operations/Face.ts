/** The faces of a memory: the same operations with Effect, or with Promises and messages of a format. */
import type { Effect, Stream } from "effect"
import type { Message } from "@memfold/message/Message"
import type { FactInTime } from "../../layers/inTime.js"
import type { Recalled } from "../../recall/recallMessages.js"
import type { OwnedRecalled } from "../../recall/recallOwned.js"
import type { AnsweredContext } from "../context.js"
import type { ContextOptions, StrategyOptions } from "../MemoryOptions.js"
import type { Preview, PreviewOptions } from "../preview.js"
import type { MessagePage } from "../readMessages.js"
import type { Rewrite } from "../rewriteMessages.js"

/** What differs between the faces: how operations answer, what decides one call, and the messages that they take and give. */
export interface Face {
  /** How operations answer: with effects and streams, or with promises and async iterables. */
  readonly answers: "effects" | "promises"
  /** What decides one call: the options of every operation that a strategy decides. */
  readonly request: object
  readonly contextOptions: object
  readonly previewOptions: object
  /** A message that goes in. */
  readonly message: unknown
  readonly rewrite: unknown
  readonly context: unknown
  readonly page: unknown
  readonly recalled: unknown
  readonly ownedRecalled: unknown
  readonly ownedFacts: unknown
  readonly preview: unknown
}

/** A message of `@memfold/core`, by a name that editors show in place of all its fields. */
export interface GivenMessage extends Message {}

/** The face with messages of `@memfold/core`. */
export interface Neutrals extends Face {
  readonly request: StrategyOptions
  readonly contextOptions: ContextOptions
  readonly previewOptions: PreviewOptions
  readonly message: GivenMessage
  readonly rewrite: Rewrite
  readonly context: AnsweredContext
  readonly page: MessagePage
  readonly recalled: Recalled
  readonly ownedRecalled: OwnedRecalled
  readonly ownedFacts: ReadonlyArray<FactInTime>
  readonly preview: Preview
}

/** The face for programs with Effect. */
export interface Effects extends Neutrals {
  readonly answers: "effects"
}

/** The face with Promises and messages of `@memfold/core`. */
export interface Promises extends Neutrals {
  readonly answers: "promises"
}

/** What an operation answers: an effect, or a promise that rejects with its errors. */
export type Answer<F extends Face, A, E> = F["answers"] extends "promises" ? Promise<A> : Effect.Effect<A, E>

/** What an operation delivers one by one: a stream, or an async iterable whose errors are thrown in the loop. */
export type Answers<F extends Face, A, E> = F["answers"] extends "promises"
  ? AsyncIterable<A>
  : Stream.Stream<A, E>
