/** The interface of a memory with Promises: its options, its operations and their errors. */
import type {
  BudgetOutcome,
  Dispatcher,
  Embedder,
  EventCodec,
  EventLog,
  Memory,
  Metrics,
  MessageName,
  CompactionOutcome,
  PlannedCompaction,
  Recall,
  Render,
  Session,
  Strategy,
  SubscribeOptions,
  TokenCounter,
  VectorIndex,
  HookDecision,
  Wording,
} from "@memfold/core"
import type * as Layers from "@memfold/layers"
import type { Layer } from "effect"
import type {
  ContextMessages,
  FormatOptions,
  Formats,
  GivenSummarizer,
  QueueUrl,
  StoreUrl,
  StrategyName,
  SystemMessages,
  UnsupportedSection,
} from "@memfold/catalog"
import type { GivenLogger } from "./logging.js"
import type { AsyncEmbedder } from "./embedder.js"
import type { MemoryTools } from "./tools.js"

/**
 * Functions of the application that run around each compaction. They may be asynchronous. A hook that throws or rejects
 * is ignored, and a warning is logged.
 *
 * @example
 * ```ts
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({
 *   store: "memory:",
 *   compaction: {
 *     hooks: {
 *       beforeCompaction: ({ session }) =>
 *         session.startsWith("legal-") ? { veto: true } : { instructions: "Keep every order number." },
 *       afterCompaction: ({ session, outcome }) => console.log(session, outcome._tag),
 *     },
 *   },
 * })
 * await memory.close()
 * ```
 */
export interface AsyncHooks {
  /**
   * Runs before each compaction, with the plan that is about to start. Return `{ veto: true }` to stop this compaction,
   * `{ instructions }` to add a text to the summarizer's prompt, or `undefined` to let it run. After a veto, the hook
   * runs again the next time a compaction is due.
   */
  readonly beforeCompaction?: (planned: PlannedCompaction) => Promise<HookDecision> | HookDecision
  /** Runs after each compaction, whether it succeeded or not. */
  readonly afterCompaction?: (ended: {
    readonly session: string
    readonly outcome: CompactionOutcome
  }) => Promise<void> | void
}

/** When and how compactions run. */
export interface CompactionOptions extends Omit<Memory.CompactionOptions, "hooks"> {
  /** Functions that run before and after each compaction. */
  readonly hooks?: AsyncHooks
}

/** What recall searches with. */
export interface RecallParts {
  /**
   * Turns texts into vectors, so that recall finds messages by their meaning beside their words. Without an embedder (default),
   * recall needs no model and no network.
   */
  readonly embedder?: AsyncEmbedder | Embedder.Service
  /**
   * Where the vectors of the embedder are kept: a layer, such as the layer of `@memfold/sqlite-vec`. By default in the process, where
   * they end with it.
   */
  readonly vectorIndex?: Layer.Layer<VectorIndex.VectorIndex>
  /**
   * Where the full-text index is kept.
   *
   * - `store` (default): in the store. It is written when a session is searched, not by appends.
   * - `process`: in the process. The first search of a session reads its whole log.
   */
  readonly fullTextIndex?: "store" | "process"
}

/**
 * The options of {@link createMemory}. Only `store` is required. Durations are a number of milliseconds or a text such as
 * `"30 seconds"`.
 */
export interface CreateOptions<
  Format extends keyof Formats = "openai",
  System extends SystemMessages = "inline",
> extends Omit<Memory.Options, "strategy" | "wording" | "compaction" | "shadow"> {
  /**
   * Where sessions are stored: `memory:` (lost when the process ends), `sqlite:PATH`, `redis://HOST`, `rediss://HOST`
   * (TLS), `postgres://HOST/DATABASE`, or an event log layer of your own.
   */
  readonly store: StoreUrl | Layer.Layer<EventLog.EventLog, EventLog.LogError>
  /**
   * The queue that carries compactions to `memfold worker` processes, for `compaction: { mode: "dispatch" }`:
   * `redis://HOST` (install `@memfold/worker-bullmq`), `postgres://HOST/DATABASE` (`@memfold/worker-pg-boss`),
   * `cluster:postgres://HOST/DATABASE` or `cluster:sqlite:FILE` (`@memfold/worker-cluster`), or a layer of your own.
   */
  readonly queue?: QueueUrl | Layer.Layer<Dispatcher.Dispatcher, Dispatcher.DispatchError>
  /**
   * When to compact, which messages stay verbatim, and how summaries are written: a strategy, or the name of a shipped
   * one such as `"rounds"`. The default is `BreakEven()`.
   */
  readonly strategy?: Strategy.Strategy | StrategyName
  /**
   * A parsed settings file, for a strategy given by its name. Keys are in camelCase or snake_case. Its values take
   * precedence over environment variables and defaults. If it has the section of a strategy, such as
   * `agent.contextWindow`, only that section counts. A setting that no shipped strategy knows is an error.
   */
  readonly settings?: object
  /**
   * What the environment variables with settings begin with; `"MEMFOLD_"` by default. With `"PRIZM_"`, the rounds
   * strategy reads `PRIZM_FULL_CONTEXT_TURNS`.
   */
  readonly environmentPrefix?: string
  /** How new summaries are worded, instead of the strategy's own wording: the name of a preset, or a wording. */
  readonly wording?: keyof typeof Wording.presets | Wording.Wording
  /**
   * Writes the summaries: `"extractive"` (default; picks sentences, needs no model and no network), `"echo"` (writes only
   * the range, for tests), a function that asks a model, `{ ask, maxInputTokens }` to state the model's window, or a service. In
   * a list, each summarizer is the fallback of the summarizer before it.
   */
  readonly summarizer?: GivenSummarizer | ReadonlyArray<GivenSummarizer>
  /** What recall searches with; words alone by default. */
  readonly recall?: RecallParts
  /**
   * Memory layers: facts about the user and the scope, learned after each turn and recalled into contexts. `true` learns
   * by rules that need no model. Off by default.
   */
  readonly layers?: boolean | Layers.Options
  /** When and how compactions run; in the background by default. */
  readonly compaction?: CompactionOptions
  /**
   * A strategy to compare with: it decides alongside and changes nothing. The metric `memfold_shadow_decisions` and the
   * debug log show where its decisions differ.
   */
  readonly shadow?: Strategy.Strategy | StrategyName
  /** Counts the tokens of a text. The default is a multilingual estimate. */
  readonly tokenCounter?: TokenCounter.Service
  /**
   * Where the log goes: a level (`"error"`, `"warning"`, `"info"` or `"debug"`) to print lines to standard error, or a
   * function that gets each entry. By default `"error"`: a damaged summary that is made again is such an error.
   */
  readonly logger?: GivenLogger
  /**
   * A function that gets each update of a metric, such as `memfold_compactions`. It runs synchronously and should return at
   * once.
   */
  readonly metrics?: (update: Metrics.Update) => void
  /**
   * The format of messages that go in and come out: `"openai"` (Chat Completions, the default), `"openai-responses"`
   * (items of the Responses API), `"anthropic"` (Messages) or `"memfold"`.
   */
  readonly format?: Format
  /**
   * Where the system messages of a context stand, the summary among them. `"inline"` (default): among the messages.
   * `"apart"`: a context is `{ system, messages }`, or `{ instructions, input }` for `"openai-responses"`, for libraries
   * and servers that refuse a system message behind another one. With `"anthropic"` they are always apart.
   */
  readonly systemMessages?: System
  /**
   * Names of fields beyond those of the API that your server takes, such as `"reasoning_content"`, for the formats of
   * providers. A context has them wherever a message came with them. By default, a context has the fields that the API
   * documents, and everything else stays in the log.
   */
  readonly extraFields?: ReadonlyArray<string>
}

/** The messages for the next call of a model, in the format of the memory. */
export interface FormattedContext<Format extends keyof Formats, System extends SystemMessages = "inline"> {
  /** The messages to send to the provider. */
  readonly messages: ContextMessages<Format, System>
  /**
   * The sections of the context in order: what each one is, which messages it covers, and its tokens. Sections
   * `unsupported` come last: what the format has no place for.
   */
  readonly layout: ReadonlyArray<Render.Section | UnsupportedSection>
  /** The size of the context in tokens, by the memory's token counter. */
  readonly tokens: number
  /** What the answer is produced behind. Pass it to `append` with the answer. */
  readonly prefix: Session.Prefix
  /** How the context met the budget; missing if the memory has no budget, or for a past version. */
  readonly budget?: BudgetOutcome
  /** A compaction is due, and waits until a time, because the spend of the day has reached this cap. */
  readonly waits?: Memory.SpendReached
}

/** What `compact` would do, with its contexts in the format of the memory. */
export interface FormattedPreview<
  Format extends keyof Formats,
  System extends SystemMessages = "inline",
> extends Omit<Memory.Preview, "before" | "after"> {
  /** What the model gets now, rendered by the strategy of the preview. */
  readonly before: FormattedContext<Format, System>
  /** What the model would get behind the compactions. */
  readonly after: FormattedContext<Format, System>
}

/** A page of a conversation, in the format of the memory. */
export interface FormattedPage<Format extends keyof Formats> extends Omit<Memory.MessagePage, "messages"> {
  readonly messages: Formats[Format]["context"]
}

/** A message that `recall` found. */
export interface FormattedRecalledMessage<Format extends keyof Formats> extends Omit<
  Recall.RecalledMessage,
  "message"
> {
  /** The message in the format of the memory; of an excerpt, only its author and the excerpt. */
  readonly message: Formats[Format]["context"]
}

/** The messages that `recall` found, in the format of the memory. */
export interface FormattedRecall<Format extends keyof Formats> extends Omit<Recall.Recalled, "messages"> {
  readonly messages: ReadonlyArray<FormattedRecalledMessage<Format>>
}

/** A message that `recallOf` found, and the session that it is in. */
export interface FormattedOwnedRecalledMessage<
  Format extends keyof Formats,
> extends FormattedRecalledMessage<Format> {
  readonly session: string
}

/** The messages that `recallOf` found, in the format of the memory. */
export interface FormattedOwnedRecall<Format extends keyof Formats> extends Omit<
  Recall.OwnedRecalled,
  "messages"
> {
  readonly messages: ReadonlyArray<FormattedOwnedRecalledMessage<Format>>
}

/** Options that apply to one call only; the session does not remember them. */
export interface RequestOptions {
  /** Used instead of the memory's strategy: a strategy, or the name of a shipped one. */
  readonly strategy?: Strategy.Strategy | StrategyName
  /**
   * Settings for this call. They take precedence over the memory's own. The strategy must be given by its name, here or
   * in the options of the memory. An unknown key is an error.
   */
  readonly settings?: Readonly<Record<string, unknown>>
}

/** The options of a preview. */
export interface PreviewOptions
  extends RequestOptions, Omit<Memory.PreviewOptions, "strategy" | "summarizer"> {
  /** Writes the summaries of the preview, instead of the memory's summarizer: its name, or a summarizer. */
  readonly summarizer?: GivenSummarizer | ReadonlyArray<GivenSummarizer>
}

/** The operations of a memory that can take part in a transaction of the application. */
export type TransactionMemory<Format extends keyof Formats> = Pick<
  PromiseMemory<Format>,
  "append" | "edit" | "regenerate" | "describe" | "messages" | "state"
>

/**
 * A memory with Promises, made by {@link createMemory}. Sessions need no set-up: the first append starts one.
 *
 * Every method that takes a session rejects with `InvalidInput` for an invalid argument, with `LogError` if the store
 * fails, with `DamagedEvent` if a stored event cannot be read, and with `Closed` after `close`. The `@throws` of a method
 * list what it fails with besides. Tell errors apart by `error._tag`.
 */
export interface PromiseMemory<Format extends keyof Formats, System extends SystemMessages = "inline"> {
  /**
   * The memory as a transaction of your application sees it, if the store is in the same database: what you append is committed or
   * rolled back together with your own rows. Compactions that become due start in the background once the transaction is
   * committed. Await each call, and use the result until the transaction ends.
   *
   * @param transaction - the transaction of your database library, or its connection. `@memfold/store-postgres` lists what it takes
   * @returns the operations in the transaction. They reject with `LogError` if the store cannot join it
   *
   * @example
   * ```ts
   * import { drizzle } from "drizzle-orm/node-postgres"
   * import { sql } from "drizzle-orm"
   * import { createMemory } from "memfold"
   *
   * const db = drizzle("postgres://localhost/shop")
   * const memory = createMemory({ store: "postgres://localhost/shop" })
   * await db.transaction(async (tx) => {
   *   await tx.execute(sql`UPDATE orders SET status = 'sent' WHERE id = 4471`)
   *   await memory.within(tx).append("chat-1", { role: "assistant", content: "It is on its way." })
   * })
   * await memory.close()
   * ```
   */
  within(transaction: unknown): TransactionMemory<Format>
  /**
   * Appends messages to a session: all of them or none. Resolves once they are durable. A failed compaction never makes it
   * reject. With `compaction: { mode: "inline" }`, it waits for the compactions that are due.
   *
   * @param session - the id of the session; any text that is not empty
   * @param messages - one message or a list, in the format of the memory; a whole response of the provider's client, too
   * @param options - `idempotencyKey`: a text that you choose for this append. With the same key, a retry writes nothing
   *   and resolves with `duplicate: true` and the range of the first append. `prefix`: the `prefix` of the context that
   *   the messages answer; it decides whether later contexts send signed reasoning back to the provider. Without it, the
   *   log decides, and in doubt leaves the reasoning out. `owner` and `title`: what the session is listed by from then
   *   on, as with `describe`; an append does not take a session from another owner. `ifVersion`: nothing is appended if the session
   *   is at another version. Also a `strategy` or `settings` for this call.
   * @returns the message indexes `[from, to)`, the version of the session, and whether it was a duplicate
   * @throws OpenAIDecodeError, or AnthropicDecodeError: a message does not fit the format; nothing was appended. For a
   *   message of another library, `use` names the package or the format that reads it
   * @throws InvalidInput: the session id, the key or a message is invalid; nothing was appended
   * @throws IdempotencyKeyReused: the key was used before for other messages; nothing was appended
   * @throws OwnerMismatch: the session belongs to another owner than `owner`; this append wrote nothing
   * @throws VersionMismatch: the session is not at `ifVersion`; nothing was appended
   * @throws LogError: the store failed; retry with the same idempotency key
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws UnknownName, SettingsError or InvalidOption: the `strategy` or the `settings` are wrong
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * const { from, to, duplicate } = await memory.append(
   *   "chat-1",
   *   { role: "user", content: "My order is KX-4471." },
   *   { idempotencyKey: "request-8841" },
   * )
   * console.log(from, to, duplicate)
   * const { messages, prefix } = await memory.context("chat-1")
   * console.log(messages) // send them to the model
   * await memory.append("chat-1", { role: "assistant", content: "Thank you, I found it." }, { prefix })
   * await memory.close()
   * ```
   */
  append(
    session: string,
    messages: Formats[Format]["given"] | ReadonlyArray<Formats[Format]["given"]>,
    options?: RequestOptions &
      Session.DescriptionChange & {
        readonly idempotencyKey?: string
        readonly prefix?: Session.Prefix
        readonly ifVersion?: number
      },
  ): Promise<Memory.AppendedMessages>
  /**
   * The messages to send to the model, now or as they were at a version. With a `budget`, it waits for compactions while
   * the context is larger.
   *
   * @param session - the id of the session; a session without events has an empty context
   * @param options - `atVersion`: a version of the session, from 0 to the newest, for a context of the past. Also a `strategy` or
   *   `settings` for this call. `recall`: adds earlier messages that fit the newest user message, `tokens` (1,000) at the
   *   most, right before it. `model` and `summaries` choose the form of a summary that a provider wrote.
   *   `cacheControl`: marks where Anthropic's prompt cache is set, at most three times. `extraFields`: as in the options of
   *   the memory, for this context.
   * @returns the messages, their layout and their tokens
   * @throws InvalidInput: the session id or the version is invalid
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws UnknownName, SettingsError or InvalidOption: the `strategy` or the `settings` are wrong
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * const { messages, layout, tokens } = await memory.context("chat-1")
   * console.log(messages, tokens)
   * for (const { section, tokens } of layout) console.log(section, tokens)
   * await memory.close()
   * ```
   */
  context(
    session: string,
    options?: RequestOptions & Memory.ContextOptions & FormatOptions,
  ): Promise<FormattedContext<Format, System>>
  /**
   * The conversation as it was said, covered messages included, for a chat page: page by page from its end. It starts at
   * the last clear.
   *
   * @param session - the id of the session; a session without events has an empty page
   * @param options - `limit`: the most messages of a page, 1 or more, 50 by default; `before`: the `before` of a page, to
   *   read the messages before it; `branch`: the id of a branch that was left (see `branches`), to read it without returning to it
   * @returns the messages `[from, to)` in the format of the memory, their times, and `before`
   * @throws InvalidInput: the session id, the limit or the cursor is invalid; after a clear, cursors are
   * @throws UnknownBranch: the session has left no such branch
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * const newest = await memory.messages("chat-1", { limit: 20 })
   * if (newest.before !== null) {
   *   const { messages } = await memory.messages("chat-1", { limit: 20, before: newest.before })
   *   console.log(messages)
   * }
   * await memory.close()
   * ```
   */
  messages(session: string, options?: Memory.PageOptions): Promise<FormattedPage<Format>>
  /**
   * Searches the messages since the last clear, covered messages included, without a model. Returns the best matches and
   * the messages around them, within a budget of tokens and in the order of the conversation. Groups of tool calls are
   * returned whole. Of a long message, the part that fits the query is returned.
   *
   * @param session - the id of the session; a session without events has no messages
   * @param query - a question, words, an identifier or a path, in any language. Messages of a time that it names ("last week", "in
   *   March") come first; a query of a time alone finds only messages of that time
   * @param options - `tokens`: the most tokens of the result, 1,000 by default. `messages`: `"all"` (default), or
   *   `"outside-context"` for messages that the next context does not show word for word. `after` and `before`: only messages
   *   between these times, in milliseconds since the epoch. `timeZone`: for words such as "yesterday", `"UTC"` by default. `atVersion`: searches the
   *   session as it was at this version. Also a `strategy` or `settings` for this call.
   * @returns the messages with their index, time, role and `rank` (1 fits best), and all of them as one `text` for a prompt
   * @throws InvalidInput: the session id, the query or an option is invalid
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws UnknownName, SettingsError or InvalidOption: the `strategy` or the `settings` are wrong
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * const { messages, text, tokens } = await memory.recall("chat-1", "Which order was late?", { tokens: 500 })
   * for (const { index, time, role, text } of messages) console.log(index, new Date(time), role, text)
   * console.log(text, tokens)
   * await memory.close()
   * ```
   */
  recall(
    session: string,
    query: string,
    options?: RequestOptions & Memory.RecallOptions,
  ): Promise<FormattedRecall<Format>>
  /**
   * Searches all sessions of an owner as `recall` searches one, within one budget: what the user said in any of them. The
   * messages of all sessions are ranked together, and each one names its session. Sessions of other owners, or of none,
   * are never found.
   *
   * @param owner - the owner, as it was given to `append` or `describe`
   * @param query - a question, or words to search for
   * @param options - `tokens`: the most tokens of the result, 1,000 by default. `without`: ids of sessions that are not
   *   searched, such as the session that is going on. `after`, `before` and `timeZone`: as for `recall`
   * @returns the messages with their session, index, time and role: the messages of a session together, in order. All of them
   *   are one `text` for a prompt, with a line above the messages of each session. `unreadable` names the sessions that
   *   could not be searched, because one of their stored events is damaged
   * @throws InvalidInput: the owner, the query or an option is invalid
   * @throws LogError: the store failed
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * await memory.append("chat-1", { role: "user", content: "I am allergic to nuts." }, { owner: "ann" })
   * const { messages, text } = await memory.recallOf("ann", "allergic", { tokens: 500, without: ["chat-2"] })
   * for (const { session, index, role, text } of messages) console.log(session, index, role, text)
   * console.log(text)
   * await memory.close()
   * ```
   */
  recallOf(
    owner: string,
    query: string,
    options?: Memory.OwnerRecallOptions,
  ): Promise<FormattedOwnedRecall<Format>>
  /**
   * Tools for the model: `search_memory` searches the messages that the context does not show, and `read_messages` reads
   * what was said around them. The definitions come in the formats of OpenAI, Anthropic and the AI SDK. Results are normal
   * tool results: append them.
   *
   * @param session - the id of the session
   * @param options - `tokens`: the most tokens of a result, 1,000 by default. Also `strategy` or `settings`: pass the
   *   values that you render the contexts of this session with
   * @returns the definitions, `answer` for the calls of a message, and `call` for one call. Both reject as `recall` does
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * const tools = memory.tools("chat-1")
   * console.log(tools.openai) // send them with the messages of the context
   * const answer = {
   *   role: "assistant" as const,
   *   content: null,
   *   tool_calls: [
   *     {
   *       id: "call_1",
   *       type: "function" as const,
   *       function: { name: "search_memory", arguments: '{"query":"order"}' },
   *     },
   *   ],
   * }
   * await memory.append("chat-1", answer)
   * await memory.append("chat-1", await tools.answer(answer))
   * await memory.close()
   * ```
   */
  tools(session: string, options?: RequestOptions & { readonly tokens?: number }): MemoryTools<Format>
  /**
   * The folded state of a session, now or at a version: its uncovered messages, the active summary, the running
   * compaction.
   *
   * @param session - the id of the session
   * @param options - `atVersion`: a version of the session, from 0 to the newest; the newest by default
   * @returns the state
   * @throws InvalidInput: the session id or the version is invalid
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * const { total, coveredTo, version } = await memory.state("chat-1")
   * console.log(`a summary covers ${coveredTo} of ${total} messages, at version ${version}`)
   * await memory.close()
   * ```
   */
  state(session: string, options?: Memory.AtVersionOptions): Promise<Session.SessionState>
  /**
   * The events of a session, decoded and in order. They are read from the store as the loop goes on.
   *
   * @param session - the id of the session
   * @param options - `fromVersion` and `toVersion`, both inclusive and from 1; `reverse: true` for the newest first
   * @returns an async iterable; its errors are thrown in the loop
   * @throws InvalidInput: the session id is invalid
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event cannot be read; the events before it have been delivered
   * @throws Closed: the memory was closed before the loop
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * for await (const { version, time, event } of memory.events("chat-1")) {
   *   console.log(version, new Date(time).toISOString(), event._tag)
   * }
   * await memory.close()
   * ```
   */
  events(session: string, options?: EventLog.ReadOptions): AsyncIterable<EventCodec.RecordedEvent>
  /**
   * Every summary that the session ever had, oldest first, with its status: active, superseded or invalid.
   *
   * @param session - the id of the session
   * @returns the summaries
   * @throws InvalidInput: the session id is invalid
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * for (const { id, status, text } of await memory.summaries("chat-1")) console.log(id, status, text)
   * await memory.close()
   * ```
   */
  summaries(session: string): Promise<ReadonlyArray<Session.SummaryRecord>>
  /**
   * Runs compactions, whether they are due or not:
   *
   * - `compact(session)`: one compaction, now. The tail stays uncovered all the same
   * - `compact(session, { which: "due" })`: every compaction that is due. Call it after you append a long history at once,
   *   with `compaction: { mode: "manual" }`, or from a job for sessions whose process is gone
   * - `compact(session, { which: "all" })`: takes every compaction back and compacts again from the messages, for example
   *   after a change of strategy. If that fails, the messages stay uncovered; `compact` tries again
   *
   * @param session - the id of the session
   * @param options - for one compaction, `instructions`: a text that is added to the summarizer's prompt; and `takeOver`:
   *   takes the lock from a compaction that runs, for example of a process that was killed; its result will be thrown away.
   *   Also a `strategy` or `settings` for this call.
   * @returns the outcome of one compaction: `Committed`, `Pruned`, `Idle` (nothing to compact, a veto, or compaction is
   *   off), `Failed` or `Lost` (another process had the lock, or the session changed). For several, their outcomes in order;
   *   empty if nothing was due. A failed compaction is an outcome, not an error.
   * @throws InvalidInput: the session id, `which` or the instructions are invalid
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws UnknownName, SettingsError or InvalidOption: the `strategy` or the `settings` are wrong
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory, Rounds } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db", compaction: { mode: "manual" } })
   * const outcome = await memory.compact("chat-1", { instructions: "Keep every order number." })
   * if (outcome._tag === "Committed") console.log(outcome.committed.tokensAfter)
   * for await (const { session } of memory.sessions()) {
   *   const outcomes = await memory.compact(session, { which: "due" })
   *   console.log(session, outcomes.length)
   * }
   * await memory.compact("chat-1", { which: "all", strategy: Rounds({ fullContextTurns: 6 }) })
   * await memory.close()
   * ```
   */
  compact(
    session: string,
    options?: RequestOptions & Omit<Memory.CompactOptions, "strategy">,
  ): Promise<CompactionOutcome>
  compact(
    session: string,
    options: RequestOptions & Omit<Memory.CompactManyOptions, "strategy">,
  ): Promise<ReadonlyArray<CompactionOutcome>>
  /**
   * The session through time: every version with the size of its context, and every compaction with its reason, its sizes and what
   * became of it. It reads the whole log once.
   *
   * @param session - the id of the session; a session without events has no versions
   * @returns the versions from 1, and the compactions in the order of their starts
   * @throws InvalidInput: the session id is invalid
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * const { versions, compactions } = await memory.timeline("chat-1")
   * console.log(Math.max(...versions.map(({ tokens }) => tokens)), compactions.length)
   * const [first] = compactions
   * if (first !== undefined) console.log(await memory.context("chat-1", { atVersion: first.startedAt }))
   * await memory.close()
   * ```
   */
  timeline(session: string): Promise<Memory.Timeline>
  /**
   * Which messages each sentence of a text rests on: messages that share its words and identifiers, weighted by how rare they are. A
   * sentence that none supports is marked, and so is one with an identifier that no message has. No model is asked, and the answer is
   * always the same.
   *
   * @param session - the id of the session
   * @param what - a text, traced to all messages since the last clear; or `{ summary }`, the id of a summary, traced to the messages
   *   that it covers
   * @returns the sentences with their places in the text, each with the messages it rests on and the words that both have
   * @throws InvalidInput: the session id or the text is invalid
   * @throws UnknownSummary: the session has no such summary
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * const { sentences } = await memory.trace("chat-1", "Order KX-4471 was sent on Monday.")
   * for (const { text, supported, messages, missing } of sentences)
   *   console.log(supported ? messages.map(({ index }) => index) : `nobody said: ${text}`, missing)
   * await memory.close()
   * ```
   */
  trace(session: string, what: Memory.Traced): Promise<Memory.Trace>
  /**
   * In which summaries a message lives on: every summary that covers it, with the sentences that rest on it.
   *
   * @param session - the id of the session
   * @param message - the index of the message, or the version of the event that appended it
   * @returns the summaries, oldest first; one without sentences has lost the message
   * @throws InvalidInput: the session id or the name of the message is invalid
   * @throws UnknownMessage: the session has no such message
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * for (const { summary, sentences } of await memory.traceMessage("chat-1", 0)) console.log(summary, sentences.length)
   * await memory.close()
   * ```
   */
  traceMessage(session: string, message: MessageName): Promise<ReadonlyArray<Memory.TracedSummary>>
  /**
   * What `compact` would do: the messages and the summary that would be replaced, what would stand in their place, and the
   * contexts before and behind it. It writes nothing, takes no lock, and asks no hook.
   *
   * @param session - the id of the session
   * @param options - `which` and for one compaction `instructions` and `takeOver`, as for `compact`; a `strategy` or `settings` to try.
   *   `summarizer`: writes the summaries of the preview instead of the memory's, which is asked by default, and costs what it costs
   * @returns the compactions in their order, each with its outcome and what it would replace; why nothing more would be done; and both
   *   contexts
   * @throws InvalidInput: the session id or an option is invalid
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws UnknownName, SettingsError or InvalidOption: the `strategy` or the `settings` are wrong
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * const { compactions, before, after } = await memory.preview("chat-1", {
   *   strategy: "rounds",
   *   settings: { fullContextTurns: 2 },
   *   summarizer: "extractive",
   * })
   * for (const { outcome, replaced } of compactions) console.log(outcome._tag, replaced.messages)
   * console.log(before.tokens, after.tokens)
   * await memory.close()
   * ```
   */
  preview(session: string, options?: PreviewOptions): Promise<FormattedPreview<Format, System>>
  /**
   * The stored events and then new ones as they come, each once and in order. The loop ends at `break` or when the memory
   * is closed. Events of other processes are polled for, unless the store reports them.
   *
   * @param session - the id of the session
   * @param options - `fromVersion`: the first version to deliver, 1 by default; `pollInterval`: 1 second by default
   * @returns an async iterable; its errors are thrown in the loop
   * @throws InvalidInput: the session id is invalid
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event cannot be read
   * @throws Closed: the memory was closed before the loop
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * for await (const { version, event } of memory.subscribe("chat-1")) {
   *   console.log(version, event._tag)
   *   if (event._tag === "SummaryCommitted") break
   * }
   * await memory.close()
   * ```
   */
  subscribe(session: string, options?: SubscribeOptions): AsyncIterable<EventCodec.RecordedEvent>
  /**
   * The active facts of a session, about its user and its scope. In background mode, facts of a turn appear soon after
   * the turn is complete.
   *
   * @param session - the id of the session
   * @returns the facts; empty without memory layers
   * @throws InvalidInput: the session id is invalid
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws LayersError: the memory layers failed
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db", layers: true })
   * for (const { layer, kind, text } of await memory.facts("chat-1")) console.log(layer, kind, text)
   * await memory.close()
   * ```
   */
  facts(session: string): Promise<ReadonlyArray<Session.KnownFact>>
  /**
   * Removes a wrong or outdated fact. It is no longer recalled into contexts. To erase its text too, `redact` the message
   * that it was learned from.
   *
   * @param session - the id of the session
   * @param fact - the id of the fact, as `facts` returns it
   * @param options - `reason`: a text that is kept in the log
   * @returns `false` if the session has no such active fact, or there are no memory layers
   * @throws InvalidInput: the session id is invalid
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws LayersError: the memory layers failed
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db", layers: true })
   * const wrong = (await memory.facts("chat-1")).find(({ text }) => text.includes("Graz"))
   * if (wrong !== undefined) await memory.removeFact("chat-1", wrong.id, { reason: "moved" })
   * await memory.close()
   * ```
   */
  removeFact(session: string, fact: string, options?: { readonly reason?: string }): Promise<boolean>
  /**
   * Takes compactions back: to an earlier summary, or to the messages. Automatic compaction is paused until more messages
   * have come, because it would otherwise repeat at once.
   *
   * @param session - the id of the session
   * @param options - `toSummary`: the id of a summary, or `null` (default) for the messages; `pauseFor`: how many messages
   *   have to come before automatic compaction goes on, 0 or more, 20 by default
   * @returns how many compactions were taken back
   * @throws InvalidInput: an argument is invalid
   * @throws UnknownSummary: the session has no such summary to go back to
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * const [first] = await memory.summaries("chat-1")
   * await memory.revert("chat-1", { toSummary: first?.id ?? null, pauseFor: 10 })
   * await memory.close()
   * ```
   */
  revert(
    session: string,
    options?: { readonly toSummary?: string | null; readonly pauseFor?: number },
  ): Promise<number>
  /**
   * Starts a new session as a copy of this one, now or at a version. The two are independent from then on.
   *
   * @param session - the id of the session to copy
   * @param to - the id of the new session
   * @param options - `atVersion`: the version to copy up to, 0 or more; the newest by default. A batch is copied whole.
   * @returns the version of the new session
   * @throws InvalidInput: an argument is invalid
   * @throws CannotFork: there is a session `to` already, or there is nothing to copy
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * await memory.fork("chat-1", "chat-1-retry", { atVersion: 12 })
   * await memory.close()
   * ```
   */
  fork(session: string, to: string, options?: Memory.AtVersionOptions): Promise<number>
  /**
   * Erases a message's text from the log, from the summaries that cover it, and from the facts learned from it. These
   * summaries become invalid and their messages uncovered, until the next compaction. Backups of the store, and forks of
   * the session, still have the text.
   *
   * @param session - the id of the session
   * @param message - the index of the message, from 0, counted since the last clear; or `{ version }`, the version of the
   * event that appended it, which also names messages from before a clear
   * @returns `invalidated`: how many summaries became invalid
   * @throws InvalidInput: an argument is invalid
   * @throws UnknownMessage: the session has no such message
   * @throws CannotRedact: a newer version of memfold wrote an event that may contain the text
   * @throws LayersError: the memory layers failed
   * @throws VectorIndexError: the vectors of the message could not be deleted; redact it again
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * const { invalidated } = await memory.redact("chat-1", 4)
   * console.log(`${invalidated} summaries will be written again`)
   * await memory.close()
   * ```
   */
  redact(session: string, message: MessageName): Promise<{ readonly invalidated: number }>
  /**
   * Sets the owner and the title of a session, or removes them. A fork has the owner and the title of its source, and a clear keeps them.
   * Earlier titles stay in the log, and `redact` does not erase them.
   *
   * @param session - the id of the session; a session that does not exist begins with that
   * @param change - `owner` and `title`: a text, or `null` to remove it; what is missing stays
   * @throws InvalidInput: the session id, the owner or the title is invalid
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * await memory.describe("chat-1", { title: "Plans for Lisbon" })
   * await memory.close()
   * ```
   */
  describe(session: string, change: Session.DescriptionChange): Promise<void>
  /**
   * Changes what the conversation consists of, all or nothing: takes messages back, or replaces them. The log keeps what was
   * said before. Messages at the end only are appended. Otherwise the conversation goes on behind the messages that stay, as with
   * `edit`. It reads the whole log: where you know the place, `edit` costs less, and `last`.
   *
   * @param session - the id of the session
   * @param rewrite - a function without effects, because it runs again if another writer was first. It gets the messages of
   *   the branch in force in the format of the memory, and returns the messages that there are to be, or `null` to change
   *   nothing. Return what stays as it was given
   * @param options - `idempotencyKey`: with this key, a retry is applied once. `last`: the function gets only so many of the newest
   *   messages, and those before them stay; it may get all of them where another writer was first. Also a `strategy` or `settings`
   *   for this call
   * @returns whether it was applied, whether it was a duplicate, how many messages stayed, and how many there are
   * @throws OpenAIDecodeError, or AnthropicDecodeError: a returned message does not fit the format; nothing was changed
   * @throws InvalidInput: the session id, the key or a message is invalid; nothing was changed
   * @throws IdempotencyKeyReused: the key was used before for another rewrite; nothing was changed
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * // Takes the last answer back.
   * const { total } = await memory.rewrite("chat-1", (messages) => messages.slice(0, -1))
   * console.log(total)
   * await memory.close()
   * ```
   */
  rewrite(
    session: string,
    rewrite: (
      messages: ReadonlyArray<Formats[Format]["given"]>,
    ) => ReadonlyArray<Formats[Format]["given"]> | null,
    options?: RequestOptions & { readonly idempotencyKey?: string; readonly last?: number },
  ): Promise<Memory.Rewritten>
  /**
   * Goes on from an earlier place with other messages: for a page whose user edits a message. The messages before `from` stay, and
   * `messages` come behind them. What was said behind the place stays in the log as a branch, to which `checkout` returns. The
   * newest summary that covers nothing beyond the place is in force; none is written again.
   *
   * @param session - the id of the session
   * @param from - the first message to replace: its index (see `messages`), or `{ version }` of the event that appended it
   * @param messages - one message or a list, in the format of the memory. Without any, the conversation is only cut
   * @param options - `idempotencyKey`: with this key, a retry is applied once. `prefix` and `ifVersion`: as for `append`. Also a
   *   `strategy` or `settings` for this call
   * @returns the message indexes `[from, to)` of the new messages, the version of the session, the branch in force, the branch that
   *   was left, and whether it was a duplicate
   * @throws OpenAIDecodeError, or AnthropicDecodeError: a message does not fit the format; nothing was changed
   * @throws InvalidInput: the session id, the key or a message is invalid; nothing was changed
   * @throws UnknownMessage: the branch in force has no such message; nothing was changed
   * @throws IdempotencyKeyReused: the key was used before for another edit; nothing was changed
   * @throws VersionMismatch: the session is not at `ifVersion`; nothing was changed
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * await memory.append("chat-1", { role: "user", content: "Where is my order?" })
   * const { left } = await memory.edit("chat-1", 0, { role: "user", content: "Where is my invoice?" })
   * // The first question again.
   * if (left !== null) await memory.checkout("chat-1", left)
   * await memory.close()
   * ```
   */
  edit(
    session: string,
    from: MessageName,
    messages: Formats[Format]["given"] | ReadonlyArray<Formats[Format]["given"]>,
    options?: RequestOptions & {
      readonly idempotencyKey?: string
      readonly prefix?: Session.Prefix
      readonly ifVersion?: number
    },
  ): Promise<Memory.Edited>
  /**
   * Goes back to before an answer, so that the next context asks for another one. An answer is everything behind a user message,
   * tool calls included. The old answer stays in the log, on a branch.
   *
   * @param session - the id of the session
   * @param options - `from`: a message of the answer, by its index or `{ version }`; the newest answer by default.
   *   `idempotencyKey`: with this key, a retry is applied once. `ifVersion`: as for `append`. Also a `strategy` or `settings` for
   *   this call
   * @returns as `edit`; `left` is `null` if the conversation ends with a user message already
   * @throws InvalidInput: the session id or the key is invalid; nothing was changed
   * @throws UnknownMessage: the branch in force has no such message; nothing was changed
   * @throws IdempotencyKeyReused: the key was used before for something else; nothing was changed
   * @throws VersionMismatch: the session is not at `ifVersion`; nothing was changed
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * await memory.regenerate("chat-1")
   * const { messages } = await memory.context("chat-1") // ends with the question
   * await memory.close()
   * ```
   */
  regenerate(
    session: string,
    options?: RequestOptions & {
      readonly from?: MessageName
      readonly idempotencyKey?: string
      readonly ifVersion?: number
    },
  ): Promise<Memory.Edited>
  /**
   * The branches of a session: the branch in force, and then up to 1,000 branches that the conversation has left since the last
   * clear, newest first.
   *
   * @param session - the id of the session
   * @throws InvalidInput: the session id is invalid
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * for (const { id, from, total, leftAt } of await memory.branches("chat-1"))
   *   console.log(id, `messages ${from} to ${total}`, leftAt === null ? "in force" : new Date(leftAt))
   * await memory.close()
   * ```
   */
  branches(session: string): Promise<ReadonlyArray<Memory.BranchInfo>>
  /**
   * Returns to a branch that was left: its messages and its summary are in force again.
   *
   * @param session - the id of the session
   * @param branch - the id of the branch, as `branches` lists it
   * @param options - a `strategy` or `settings` for this call
   * @returns as `edit`, without new messages
   * @throws InvalidInput: the session id or the id of the branch is invalid
   * @throws UnknownBranch: the session has left no such branch
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * const [, newest] = await memory.branches("chat-1")
   * if (newest !== undefined) await memory.checkout("chat-1", newest.id)
   * await memory.close()
   * ```
   */
  checkout(session: string, branch: number, options?: RequestOptions): Promise<Memory.Edited>
  /**
   * Takes back the newest compaction, revert, recompaction, edit, regeneration, checkout or clear. What a revert or a recompaction
   * took back is in force again, unless a message was redacted since. Undoing the undo of anything but a compaction or a clear does
   * it again.
   *
   * @param session - the id of the session
   * @param options - `pauseFor`: after a compaction was taken back, the number of messages without automatic compaction, 20 by
   *   default. Also a `strategy` or `settings` for this call
   * @returns what was taken back, `null` if there was nothing; and the version of the session
   * @throws InvalidInput: the session id or `pauseFor` is invalid
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * await memory.clear("chat-1")
   * const { undone } = await memory.undo("chat-1")
   * console.log(undone) // clear
   * await memory.close()
   * ```
   */
  undo(session: string, options?: RequestOptions & { readonly pauseFor?: number }): Promise<Memory.Undone>
  /**
   * Starts the session over, without messages. Message indexes start again from 0. The log keeps the earlier events.
   *
   * @param session - the id of the session
   * @throws InvalidInput: the session id is invalid
   * @throws LogError: the store failed
   * @throws DamagedEvent: a stored event of the session cannot be read
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * await memory.clear("chat-1")
   * await memory.close()
   * ```
   */
  clear(session: string): Promise<void>
  /**
   * Deletes the session with its log.
   *
   * @param session - the id of the session
   * @returns `false` if there was no such session
   * @throws InvalidInput: the session id is invalid
   * @throws LogError: the store failed
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * console.log(await memory.delete("chat-1"))
   * await memory.close()
   * ```
   */
  delete(session: string): Promise<boolean>
  /**
   * Deletes everything of an owner: all sessions with their logs, the facts that the memory layers learned in them, and the
   * facts about the user of that name (`layers.userOf`). If it rejects, call it again: what is left is found.
   *
   * @param owner - the owner, an id of the application
   * @returns how many sessions there were
   * @throws InvalidInput: the owner is invalid
   * @throws LayersError: facts could not be deleted
   * @throws VectorIndexError: vectors could not be deleted
   * @throws LogError: the store failed
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * console.log(await memory.deleteOf("ann"))
   * await memory.close()
   * ```
   */
  deleteOf(owner: string): Promise<number>
  /**
   * All sessions of the store.
   *
   * @returns an async iterable; its errors are thrown in the loop
   * @throws LogError: the store failed
   * @throws Closed: the memory was closed before the loop
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * for await (const { session, version } of memory.sessions()) console.log(session, version)
   * await memory.close()
   * ```
   */
  sessions(): AsyncIterable<EventLog.SessionInfo>
  /**
   * The sessions of an owner, newest activity first, page by page: for the list in a chat application.
   * The owner and the title of a session are set with `append`, or with `describe`.
   *
   * @param owner - the owner, an id of the application
   * @param page - `limit`: the most sessions of a page, 1 or more, 50 by default; `before`: the `before` of a page, to
   *   read the sessions before it
   * @returns the sessions, and `before`
   * @throws InvalidInput: the owner, the limit or the cursor is invalid
   * @throws LogError: the store failed
   * @throws Closed: the memory was closed
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * await memory.append("chat-1", { role: "user", content: "Hello" }, { owner: "ann", title: "Greetings" })
   * const { sessions, before } = await memory.sessionsOf("ann", { limit: 20 })
   * for (const { session, title, updatedTime } of sessions) console.log(session, title, new Date(updatedTime))
   * console.log(before === null)
   * await memory.close()
   * ```
   */
  sessionsOf(owner: string, page?: Memory.SessionPageOptions): Promise<Memory.SessionPage>
  /**
   * Every event of an owner: of all sessions, newest activity first, and of the log with the facts about the user of that name.
   * For an owner who asks for a copy; `memfold export --owner` writes a file that can be imported.
   *
   * @param owner - the owner, an id of the application
   * @returns an async iterable; its errors are thrown in the loop
   * @throws InvalidInput: the owner is invalid
   * @throws DamagedEvent: an event cannot be read
   * @throws LogError: the store failed
   * @throws Closed: the memory was closed before the loop
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * for await (const { session, version, event } of memory.eventsOf("ann")) console.log(session, version, event._tag)
   * await memory.close()
   * ```
   */
  eventsOf(owner: string): AsyncIterable<EventCodec.RecordedEvent>
  /**
   * The memory in messages of `@memfold/core`, whatever its format is: for packages that connect it to a library, such as
   * `@memfold/ai-sdk`.
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * await memory.neutral.append("chat-1", { role: "user", parts: [{ type: "text", text: "Hello" }] })
   * await memory.close()
   * ```
   */
  readonly neutral: Memory.Neutral
  /**
   * Ends running compactions (after at most `shutdown`), ends every loop over events, and closes the store. Later calls
   * reject with `Closed`. `await using` calls it at the end of the block.
   *
   * @example
   * ```ts
   * import { createMemory } from "memfold"
   *
   * await using memory = createMemory({ store: "sqlite:chats.db", compaction: { shutdown: "10 seconds" } })
   * await memory.append("chat-1", { role: "user", content: "Hello" })
   * ```
   */
  close(): Promise<void>
  /** Closes the memory, as `close` does. */
  [Symbol.asyncDispose](): Promise<void>
}
