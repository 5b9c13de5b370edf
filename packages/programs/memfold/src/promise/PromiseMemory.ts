/** The interface of a memory with Promises: its options, its operations and their errors. */
import type {
  Audit,
  BudgetOutcome,
  Dispatcher,
  Embedder,
  Reranker,
  EventLog,
  Memory,
  MemoryLayers,
  Metrics,
  CompactionOutcome,
  PlannedCompaction,
  Recall,
  Render,
  Session,
  Strategy,
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
  Known,
  ShippedStrategy,
  StoreForm,
  StoreUrl,
  StrategyName,
  SystemMessages,
  UnsupportedSection,
} from "@memfold/catalog"
import type { GivenLogger } from "./logging.js"
import type { AsyncEmbedder } from "./embedder.js"
import type { AsyncReranker } from "./reranker.js"
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
   * Puts the best messages of a search in order: `recall`, `recallOf` and the tools of recall ask it, contexts do not. Without a
   * reranker (default), words and the embedder decide alone.
   */
  readonly reranker?: AsyncReranker | Reranker.Service
  /**
   * Where the vectors of the embedder are kept: a layer, such as the layer of `@memfold/sqlite-vec`. By default in the process, where
   * they end with it.
   */
  readonly vectorIndex?: Layer.Layer<VectorIndex.VectorIndex>
  /**
   * Where the full-text index is kept.
   *
   * - `store` (default): in the store. It is written when a session is searched, and of a long session in the background as it grows.
   * - `searches`: in the store, written by searches alone.
   * - `process`: in the process. The first search of a session reads its whole log.
   */
  readonly fullTextIndex?: "store" | "searches" | "process"
}

/**
 * The options of {@link createMemory}. Only `store` is required. Durations are a number of milliseconds or a text such as
 * `"30 seconds"`.
 */
export interface CreateOptions<
  Format extends keyof Formats = "openai",
  System extends SystemMessages = "inline",
  Facts extends Layers.Fact.Declarations | null = null,
> extends Omit<Memory.Options, "strategy" | "wording" | "compaction" | "shadow" | "indexAhead"> {
  /**
   * Where sessions are stored: `memory:` (lost when the process ends), `sqlite:PATH`, `redis://HOST`, `rediss://HOST`
   * (TLS), `postgres://HOST/DATABASE`, `libsql://HOST` (install `@memfold/store-libsql`), `sealed:FOLDER,URL` for one of
   * them with the keys of a folder (`@memfold/sealed`), or an event log layer of your own.
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
   * `agent.contextWindow`, only that section counts. A name that is near that of a setting is a typing mistake, and an error; any other name that no strategy
   * knows belongs to another program or version: it is ignored, with a warning to the `logger`.
   */
  readonly settings?: object
  /**
   * What the environment variables with settings begin with; `"MEMFOLD_"` by default. With `"CHAT_"`, the rounds
   * strategy reads `CHAT_FULL_CONTEXT_TURNS`.
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
  /**
   * The facts about an owner that are wanted, each declared by `Fact.of`. `factsOf` then answers with an object of them, typed by their
   * schemas; other facts about users are refused. It switches memory layers on.
   */
  readonly facts?: Facts
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
   * Names of further fields that your server takes, such as `"reasoning_content"`, for the formats of
   * providers. A context has them wherever a message came with them. By default, a context has the fields that the API
   * documents, and everything else stays in the log.
   */
  readonly extraFields?: ReadonlyArray<string>
  /**
   * Who gets the contexts: the base URL of your client, or one of `"openai"`, `"anthropic"`, `"bedrock"`, `"deepseek"`, `"gemini"`,
   * `"groq"`, `"kimi"`, `"mistral"`, `"scaleway"`. A context has what that server wants beyond the API, such as
   * `reasoning_content` at calls, and not more images than it takes. By default, the server whose API the format is.
   */
  readonly server?: string
}

/** The options of any memory. */
export type AnyOptions = CreateOptions<keyof Formats, SystemMessages, Layers.Fact.Declarations | null>

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

/** Names in the options of a memory: a type checker refuses one that there is not. What is known when the program runs is checked then. */
export interface NamedOptions<Url extends string, Name extends string> {
  readonly store: (Url & Known<Url, StoreForm>) | object
  readonly strategy?: (Name & Known<Name, ShippedStrategy>) | object
}

/** The options of a preview. */
export interface PreviewOptions
  extends RequestOptions, Omit<Memory.PreviewOptions, "strategy" | "summarizer"> {
  /** Writes the summaries of the preview, instead of the memory's summarizer: its name, or a summarizer. */
  readonly summarizer?: GivenSummarizer | ReadonlyArray<GivenSummarizer>
}

/** A memory with Promises and messages of a format, as a face of the operations. */
export interface Formatted<
  Format extends keyof Formats,
  System extends SystemMessages,
  Facts extends Layers.Fact.Declarations | null = null,
>
  extends Memory.Face {
  readonly answers: "promises"
  readonly request: RequestOptions
  readonly contextOptions: Memory.ContextOptions & FormatOptions
  readonly previewOptions: PreviewOptions
  readonly message: Formats[Format]["given"]
  readonly rewrite: (
    messages: ReadonlyArray<Formats[Format]["given"]>,
  ) => ReadonlyArray<Formats[Format]["given"]> | null
  readonly context: FormattedContext<Format, System>
  readonly page: FormattedPage<Format>
  readonly recalled: FormattedRecall<Format>
  readonly ownedRecalled: FormattedOwnedRecall<Format>
  readonly ownedFacts: OwnedFacts<Facts>
  readonly preview: FormattedPreview<Format, System>
}

/** What `factsOf` answers: the declared facts by predicate, or a list of all if none were declared. */
export type OwnedFacts<Facts extends Layers.Fact.Declarations | null> = Facts extends Layers.Fact.Declarations
  ? Layers.Fact.Typed<Facts>
  : ReadonlyArray<MemoryLayers.FactInTime>

/** The operations of a memory that can take part in a transaction of the application. */
export type TransactionMemory<Format extends keyof Formats> = Pick<
  PromiseMemory<Format>,
  "append" | "edit" | "regenerate" | "describe" | "messages" | "state"
>

/**
 * A memory with Promises, made by {@link createMemory}. Sessions need no set-up: the first append starts one.
 *
 * Messages that operations take and give are in the format of the memory; a whole response of the provider's client is a message, too.
 * Where an operation takes a `strategy`, it takes the name of a shipped one, and its `settings`. Errors of loops are thrown in the loop.
 *
 * Every method rejects with `InvalidInput` for an invalid argument, with `LogError` if the store fails, with `DamagedEvent` if a stored
 * event cannot be read, and with `Closed` after `close`. One that takes messages rejects with `OpenAIDecodeError` or
 * `AnthropicDecodeError` for a message that does not fit the format (`use` names the package or the format that reads a message of
 * another library), and one that takes a `strategy` with `UnknownName`, `SettingsError` or `InvalidOption` if it or its `settings` are
 * wrong. Nothing is written then. The `@throws` of a method list what it rejects with besides. Tell errors apart by `error._tag`.
 */
export interface PromiseMemory<
  Format extends keyof Formats,
  System extends SystemMessages = "inline",
  Facts extends Layers.Fact.Declarations | null = null,
> extends Memory.Operations<Formatted<Format, System, Facts>> {
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
   * The memory as somebody uses it: what is appended, edited, redacted or erased through it carries the actor, and `audit` tells it.
   *
   * @param actor - `id`: the person or the program, never a secret; `via`: the token or the program that it came through; `onBehalfOf`:
   *   for whom, if for somebody else
   * @returns the memory; `close` closes it for everybody
   * @throws InvalidOption: the actor has no `id`
   *
   * @example
   * ```ts
   * await memory.as({ id: "ann", via: "web" }).append("chat-1", { role: "user", content: "Hello" })
   * ```
   */
  as(actor: Audit.Actor): PromiseMemory<Format, System, Facts>
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
   * ```
   */
  tools(session: string, options?: RequestOptions & { readonly tokens?: number }): MemoryTools<Format>
  /**
   * All sessions of the store.
   *
   * @returns an async iterable
   *
   * @example
   * ```ts
   * for await (const { session, version } of memory.sessions()) console.log(session, version)
   * ```
   */
  sessions(): AsyncIterable<EventLog.SessionInfo>
  /**
   * The memory in messages of `@memfold/core`, whatever its format is: for packages that connect it to a library, such as
   * `@memfold/ai-sdk`.
   *
   * @example
   * ```ts
   * await memory.neutral.append("chat-1", { role: "user", parts: [{ type: "text", text: "Hello" }] })
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
