/** The interface of a memory for programs with Effect: its operations, their errors, and its options. */
import { Context, type Effect, type Stream } from "effect"
import type { LogError, SessionInfo } from "@memfold/log/EventLog"
import type { GuardRefused } from "../guard/Guard.js"
import type { Message, ToolCall } from "@memfold/message/Message"
import type { MemoryError, StrategyOptions } from "./MemoryOptions.js"
import type { Effects } from "./operations/Face.js"
import type { Operations } from "./operations/Operations.js"

export * from "./MemoryOptions.js"
export type { FactsOptions, RebuildFactsOptions, RebuiltFactsOptions, RemoveFactOptions } from "./facts.js"

/** Runs compactions: one outcome for one compaction, and a list of them for several. */
export type Compact = Service["compact"]

/**
 * The operations of a memory that can take part in a transaction of the application. They are committed and rolled back with
 * it. Use it until the transaction ends, one call after the other.
 */
export type TransactionMemory = Pick<
  Service,
  "append" | "edit" | "regenerate" | "describe" | "messages" | "state"
>

/**
 * Reads of sessions as this process knows them: they ask the store for nothing, unless the process does not know the session. Give
 * what is written on their ground the `version` as its `ifVersion`: then it is refused if somebody else was first.
 */
export interface KnownMemory extends Pick<Service, "branches" | "context" | "messages"> {
  /** Messages as an append would store them: compare these with what is stored. It fails as the append would. */
  asStored(
    session: string,
    messages: ReadonlyArray<Message>,
  ): Effect.Effect<ReadonlyArray<Message>, MemoryError | GuardRefused>
  /** The version that this process knows; `null` if it does not know the session. */
  version(session: string): Effect.Effect<number | null>
}

/** The operations of a memory, and what only programs with Effect and workers use. */
export interface Service extends Operations<Effects> {
  /** For adapters, which compare what they are given with the session many times in a turn. */
  readonly known?: KnownMemory
  /**
   * The memory as a transaction of the application sees it, if the store is in the same database: an append is committed or rolled
   * back together with the application's own rows. Compactions that become due start in the background once the transaction is
   * committed. The store says what it takes as a transaction; it fails with `LogError` for anything else.
   */
  within(transaction: unknown): Effect.Effect<TransactionMemory, LogError>
  /**
   * Answers a call of a tool of recall (`Recall.toolDefinitions`) by a message with its result: append it like any other
   * tool result. `null` for a call of another tool. `search_memory` searches what the context does not show; a result has
   * at most `tokens` (1,000 by default). Wrong arguments of the model are answered by an error as the result.
   */
  answerToolCall(
    session: string,
    call: ToolCall,
    options?: StrategyOptions & { readonly tokens?: number },
  ): Effect.Effect<Message | null, MemoryError>
  /**
   * Looks at a session as a write does: what is due starts, or is dispatched, as the memory's mode says, and what comes due later gets
   * its timer or its look. For sessions whose process was killed between a write and its look. A session whose compactions have
   * failed too often in a row is left alone.
   */
  look(session: string, options?: StrategyOptions): Effect.Effect<void, MemoryError>
  /** All sessions of the store. */
  readonly sessions: Stream.Stream<SessionInfo, MemoryError>
}

/**
 * The memory, as a service of Effect.
 *
 * @example
 * ```ts
 * import { InMemoryEventLog, Keep, Memory, Message, Strategy, SummaryMode, Trigger } from "@memfold/core"
 * import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
 * import { Effect, Layer } from "effect"
 *
 * const strategy = Strategy.make({
 *   name: "short",
 *   when: Trigger.backlog({ messages: 10 }),
 *   keep: Keep.lastMessages(20),
 *   summaryMode: SummaryMode.rolling,
 * })
 *
 * const program = Effect.gen(function* () {
 *   const memory = yield* Memory.Memory
 *   yield* memory.append("chat-1", [Message.user("Hello"), Message.assistant("Hello to you")])
 *   return yield* memory.context("chat-1")
 * })
 *
 * const live = Memory.layer({ strategy }).pipe(
 *   Layer.provide([InMemoryEventLog.layer, ExtractiveSummarizer.layer()]),
 * )
 * const context = await Effect.runPromise(program.pipe(Effect.provide(live)))
 * console.log(context.messages.length, context.layout)
 * ```
 */
export class Memory extends Context.Tag("@memfold/core/Memory")<Memory, Service>() {}
