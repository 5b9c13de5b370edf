/**
 * The memory for programs that do not use Effect: Promises, plain objects, errors that are thrown.
 */
import * as Anthropic from "@memfold/anthropic"
import {
  CurrentSummarizer,
  type EventCodec,
  type EventLog,
  Memory,
  type Message,
  type Outcome,
  Prompt,
  type Render,
  type Session,
  type Strategy,
  Summarizer,
  TokenCounter,
  Wording,
} from "@memfold/core"
import * as OpenAI from "@memfold/openai"
import {
  Cause,
  Duration,
  Effect,
  Either,
  Exit,
  Layer,
  Logger,
  ManagedRuntime,
  Option,
  Runtime,
  Schema,
  Stream,
} from "effect"
import { byName, strategyNamed, summarizers } from "./parts.js"
import { storeLayer } from "./store.js"

/**
 * A function that asks a model of yours: it gets the instructions and the conversation, and answers with the
 * summary. Whatever it throws counts as a failure of the summarizer, and nothing is lost. The signal tells when
 * nobody waits for the answer any more.
 */
export type AskModel = (
  prompt: { readonly system: string; readonly user: string },
  options: { readonly signal: AbortSignal },
) => Promise<string | Summarizer.Result>

/** The memory was closed, and does nothing more. */
export class Closed extends Schema.TaggedError<Closed>()("Closed", {}) {
  override get message(): string {
    return "This memory was closed; create another one"
  }
}

/** An option of {@link createMemory} is not what it can be. */
export class InvalidOption extends Schema.TaggedError<InvalidOption>()("InvalidOption", {
  option: Schema.String,
  allowed: Schema.String,
}) {
  override get message(): string {
    return `createMemory: "${this.option}" has to be ${this.allowed}`
  }
}

/** The message formats that {@link createMemory} speaks. */
export interface Formats {
  readonly openai: {
    readonly given: OpenAI.OpenAIMessage
    readonly context: ReadonlyArray<OpenAI.OpenAIMessage>
  }
  readonly anthropic: {
    readonly given: Anthropic.AnthropicMessage
    readonly context: Anthropic.AnthropicConversation
  }
  readonly memfold: { readonly given: Message.Message; readonly context: ReadonlyArray<Message.Message> }
}

/** What a memory is made of. Everything has a default but the store. */
export interface CreateOptions<Format extends keyof Formats = "openai"> extends Partial<
  Omit<Memory.Options, "strategy" | "wording">
> {
  /** `memory:`, `sqlite:PATH`, or an event log layer of your own. */
  readonly store: string | Layer.Layer<EventLog.EventLog, EventLog.LogError>
  /**
   * When to compact, what stays, and how it is folded: a strategy, or the name of a shipped one; the sliding window
   * by default.
   */
  readonly strategy?: Strategy.Strategy | string
  /**
   * Settings of a strategy given by its name: what a settings file holds, parsed, in camelCase or snake_case. They
   * come before the environment and the defaults; names nobody knows are passed over.
   */
  readonly settings?: object
  /** How summaries are worded, in place of the strategy's own way: the name of a preset, or a wording. */
  readonly wording?: keyof typeof Wording.presets | Wording.Wording
  /** `extractive` (default; no model, no network), `echo`, a function that asks a model, or a service. */
  readonly summarizer?: string | AskModel | Summarizer.Service
  /** Counts tokens; a multilingual estimate by default. */
  readonly tokenCounter?: TokenCounter.Service
  /** The form of the messages that go in and come out; OpenAI's Chat Completions by default. */
  readonly format?: Format
}

/** A context in the format of the memory, with its layout. */
export interface FormattedContext<Format extends keyof Formats> {
  readonly messages: Formats[Format]["context"]
  readonly layout: ReadonlyArray<Render.Section>
  readonly tokens: number
}

/** For one request alone; the session does not remember it. */
export interface RequestOptions {
  /** Another strategy than the memory's. */
  readonly strategy?: Strategy.Strategy | string
  /** Settings that come before the memory's own; the strategy has to be given by its name. */
  readonly settings?: Readonly<Record<string, unknown>>
}

/** A memory with Promises. Every method rejects with the typed errors of `@memfold/core`. */
export interface PromiseMemory<Format extends keyof Formats> {
  /** Appends messages, all or none; resolves once they are durable. A commit id makes a retry harmless. */
  append(
    session: string,
    messages: Formats[Format]["given"] | ReadonlyArray<Formats[Format]["given"]>,
    options?: RequestOptions & { readonly commit?: string },
  ): Promise<Memory.Appended>
  /** What the model should get now, or would have got at a version. */
  context(session: string, options?: RequestOptions & Memory.AtOptions): Promise<FormattedContext<Format>>
  state(session: string, options?: Memory.AtOptions): Promise<Session.SessionState>
  /** The decoded events of a session, in order. */
  events(session: string, options?: EventLog.ReadOptions): AsyncIterable<EventCodec.Recorded>
  /** Every summary the session ever had, oldest first, with what has become of each. */
  summaries(session: string): Promise<ReadonlyArray<Session.SummaryRecord>>
  /** Finishes every compaction that is due. */
  settle(session: string, options?: RequestOptions): Promise<ReadonlyArray<Outcome>>
  /** Compacts now, whatever the trigger says. */
  compact(session: string, options?: RequestOptions & { readonly instructions?: string }): Promise<Outcome>
  /** Starts the session over; the log keeps what was. */
  clear(session: string): Promise<void>
  /** Removes the session with its log; `false` if there was none. */
  delete(session: string): Promise<boolean>
  sessions(): AsyncIterable<EventLog.SessionInfo>
  /** Ends the compactions that are running and closes the store. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

interface Codec {
  readonly decode: (given: ReadonlyArray<unknown>) => Either.Either<ReadonlyArray<Message.Message>, Error>
  readonly encode: (messages: ReadonlyArray<Message.Message>) => unknown
}

const codecs: Readonly<Record<keyof Formats, Codec>> = {
  openai: { decode: OpenAI.decodeMessages, encode: OpenAI.encodeMessages },
  anthropic: { decode: Anthropic.decodeMessages, encode: Anthropic.encodeMessages },
  memfold: {
    // What does not fit the form of a message is found by the memory itself.
    decode: (given) => Either.right(given as ReadonlyArray<Message.Message>),
    encode: (messages) => messages,
  },
}

/** A function that asks a model, as a summarizer. */
const asking = (ask: AskModel): Summarizer.Service => ({
  name: "model",
  summarize: (request) =>
    Effect.tryPromise({
      try: async (signal) => await ask(Prompt.forRequest(request), { signal }),
      catch: (error) =>
        new Summarizer.SummarizerError({
          session: request.session,
          reason: "unavailable",
          // Its message may quote the conversation or a key; its name does not.
          detail: `the function that asks the model threw ${error instanceof Error ? error.name : typeof error}`,
        }),
    }).pipe(Effect.map((answer) => (typeof answer === "string" ? { text: answer } : answer))),
})

const summarizerOf = (given: NonNullable<CreateOptions["summarizer"]>): Summarizer.Service => {
  if (typeof given === "function") return asking(given)
  return typeof given === "string"
    ? Either.getOrThrowWith(byName("summarizer", summarizers, given), same)
    : given
}

const same = <E>(error: E): E => error

/** The strategy that is meant, by itself or by its name with settings. */
const strategyOf = (
  given: Strategy.Strategy | string,
  sources: Pick<Strategy.Sources, "request" | "file">,
): Strategy.Strategy => {
  if (typeof given === "string") return Either.getOrThrowWith(strategyNamed(given, sources), same)
  if (sources.request === undefined && sources.file === undefined) return given
  throw new InvalidOption({ option: "settings", allowed: "left out, or the strategy given by its name" })
}

const modes: ReadonlySet<unknown> = new Set([undefined, "background", "inline", "manual"])
const durations = ["summarizerTimeout", "lease", "backOff"] as const

/** What a type checker would have found, for programs without one: a wrong option throws before anything is done. */
const checkOptions = (options: CreateOptions<keyof Formats>): void => {
  const { store, strategy, format, compaction, wording } = options
  const refuse = (option: string, allowed: string) => {
    throw new InvalidOption({ option, allowed })
  }
  if (typeof store !== "string" && !Layer.isLayer(store)) refuse("store", "memory:, sqlite:PATH, or a layer")
  if (format !== undefined && !Object.hasOwn(codecs, format)) refuse("format", Object.keys(codecs).join(", "))
  if (!modes.has(compaction)) refuse("compaction", "background, inline, or manual")
  if (typeof strategy === "object" && typeof strategy.keep?.from !== "function") {
    refuse("strategy", "a strategy, or the name of one")
  }
  if (typeof wording === "string" && !Object.hasOwn(Wording.presets, wording)) {
    refuse("wording", `${Object.keys(Wording.presets).join(", ")}, or a wording`)
  }
  for (const name of durations) {
    const given = options[name]
    if (given !== undefined && Option.isNone(Duration.decodeUnknown(given))) {
      refuse(name, 'a duration, such as "30 seconds" or a number of milliseconds')
    }
  }
}

/** One line of text on standard error: standard output belongs to the program. */
const logging = Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.logfmtLogger))

/**
 * A memory for conversations. It opens its store at the first call; a store that cannot be opened makes that call
 * reject, and the next one tries again. Options that cannot be meant throw at once: `UnknownName`,
 * `InvalidOption`. Warnings go to standard error.
 *
 * @example
 * ```ts
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({ store: "sqlite:chats.db" })
 * await memory.append("chat-1", { role: "user", content: "My order is KX-4471." })
 * await memory.append("chat-1", { role: "assistant", content: "Thank you, I found it." })
 * const { messages, tokens } = await memory.context("chat-1")
 * console.log(messages, tokens)
 * await memory.close()
 * ```
 */
export const createMemory = <Format extends keyof Formats = "openai">(
  options: CreateOptions<Format>,
): PromiseMemory<Format> => {
  checkOptions(options as CreateOptions<keyof Formats>)
  const { store, summarizer, tokenCounter, format, settings, wording, ...engine } = options
  const named = options.strategy ?? "sliding-window"
  const strategy = strategyOf(named, { file: settings })
  /** The options of a request, for the engine. */
  const requested = <Options extends RequestOptions>(given: Options | undefined) => {
    const { strategy: other, settings: request, ...rest } = given ?? ({} as Options)
    const changed = other !== undefined || request !== undefined
    const file = typeof (other ?? named) === "string" ? settings : undefined
    return { ...rest, ...(changed ? { strategy: strategyOf(other ?? named, { request, file }) } : {}) }
  }
  const codec = codecs[format ?? "openai"]
  const log = typeof store === "string" ? Either.getOrThrowWith(storeLayer(store), same) : store
  const parts = Layer.mergeAll(
    summarizer === undefined ? Layer.empty : Layer.succeed(CurrentSummarizer, summarizerOf(summarizer)),
    tokenCounter === undefined ? Layer.empty : Layer.succeed(TokenCounter.TokenCounter, tokenCounter),
  )
  const layer = Memory.layer({
    ...engine,
    strategy,
    ...(wording === undefined
      ? {}
      : { wording: typeof wording === "string" ? Wording.presets[wording] : wording }),
  }).pipe(Layer.provide(log), Layer.provide(parts), Layer.provideMerge(logging))
  let runtime = ManagedRuntime.make(layer)
  let closed = false

  /** The running memory. What failed to open is opened anew by the next call. */
  const opened = async () => {
    if (closed) throw new Closed()
    const current = runtime
    try {
      return await current.runtime()
    } catch (error) {
      if (runtime === current) runtime = ManagedRuntime.make(layer)
      throw Runtime.isFiberFailure(error) ? Cause.squash(error[Runtime.FiberFailureCauseId]) : error
    }
  }
  const run = async <A>(use: (memory: Memory.Service) => Effect.Effect<A, Error>): Promise<A> => {
    const exit = await Runtime.runPromiseExit(await opened())(Effect.flatMap(Memory.Memory, use))
    if (Exit.isSuccess(exit)) return exit.value
    throw Cause.squash(exit.cause)
  }
  const iterate = <A>(
    use: (memory: Memory.Service) => Stream.Stream<A, Memory.MemoryError>,
  ): AsyncIterable<A> => ({
    async *[Symbol.asyncIterator]() {
      yield* Stream.toAsyncIterableRuntime(Stream.unwrap(Effect.map(Memory.Memory, use)), await opened())
    },
  })
  const close = async () => {
    closed = true
    await runtime.dispose()
  }

  return {
    append: (session, messages, given) =>
      run((memory) =>
        Effect.flatMap(codec.decode(Array.isArray(messages) ? messages : [messages]), (decoded) =>
          memory.append(session, decoded, requested(given)),
        ),
      ),
    context: async (session, given) => {
      const { messages, layout, tokens } = await run((memory) => memory.context(session, requested(given)))
      return { messages: codec.encode(messages) as Formats[Format]["context"], layout, tokens }
    },
    state: (session, at) => run((memory) => memory.state(session, at)),
    events: (session, range) => iterate((memory) => memory.events(session, range)),
    summaries: (session) => run((memory) => memory.summaries(session)),
    settle: (session, given) => run((memory) => memory.settle(session, requested(given))),
    compact: (session, given) => run((memory) => memory.compact(session, requested(given))),
    clear: (session) => run((memory) => memory.clear(session)),
    delete: (session) => run((memory) => memory.delete(session)),
    sessions: () => iterate((memory) => memory.sessions),
    close,
    [Symbol.asyncDispose]: close,
  }
}
