/** The memory with Promises, for programs that do not use Effect. */
import {
  CurrentSummarizer,
  Embedder,
  EventLog,
  FullTextIndex,
  Memory,
  Metrics,
  Recall,
  TokenCounter,
  Wording,
} from "@memfold/core"
import * as Layers from "@memfold/layers"
import {
  Cause,
  Context,
  Deferred,
  Effect,
  Either,
  Exit,
  type Fiber,
  FiberId,
  Layer,
  Runtime,
  Schema,
  Scope,
  Stream,
} from "effect"
import {
  codecs,
  formatContext,
  type Formats,
  storeOf,
  summarizerOf,
  type SystemMessages,
  wrongCacheControl,
} from "@memfold/catalog"
import { logTo } from "./promise/logging.js"
import { embedderOf } from "./promise/embedder.js"
import { checkOptions, hooksOf, same, strategyOf } from "./promise/options.js"
import type {
  CreateOptions,
  FormattedContext,
  PromiseMemory,
  RequestOptions,
} from "./promise/PromiseMemory.js"
import { type ListCodec, rewriteIn } from "./promise/rewrite.js"
import { toolsOf } from "./promise/tools.js"

/** The memory was closed before this call. Create another one. */
export class Closed extends Schema.TaggedError<Closed>()("Closed", {}) {
  override get message(): string {
    return "This memory was closed; create another one"
  }
}

/** A memory with its store open, and the runtime that its operations run in. */
interface Running {
  readonly memory: Memory.Service
  readonly runtime: Runtime.Runtime<never>
}

/** The opening of a memory: under way, or done. */
interface Opening {
  readonly running: Promise<Running>
  /** Ends it, and everything that it opened. */
  readonly close: () => Promise<void>
}

/** How a fiber ended. */
const settled = <A, E>(fiber: Fiber.RuntimeFiber<A, E>): Promise<Exit.Exit<A, E>> =>
  new Promise((resolve) => fiber.addObserver(resolve))

const layersOf = (given: true | Layers.Options) => Layers.layer(given === true ? {} : given)

/**
 * Creates a memory. The store is opened by the first call: if that fails, the call rejects with `LogError`, and the next
 * call tries again. Nothing is printed unless you give a `logger`.
 *
 * @param options - the store and, if you want, everything else; see {@link CreateOptions}
 * @returns the memory; `close` it at the end, or declare it with `await using`
 * @throws InvalidOption: an option is unknown, or its value is not allowed
 * @throws UnknownName: there is no such store, strategy or summarizer
 * @throws SettingsError: a setting of the strategy is out of its range
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
export const createMemory = <
  Format extends keyof Formats = "openai",
  System extends SystemMessages = "inline",
>(
  options: CreateOptions<Format, System>,
): PromiseMemory<Format, System> => {
  checkOptions(options as CreateOptions<keyof Formats, SystemMessages>)
  const {
    store,
    summarizer,
    recall = {},
    tokenCounter,
    format: given,
    systemMessages,
    settings,
    environmentPrefix,
    wording,
    layers,
    compaction: { hooks, ...compaction } = {},
    shadow,
    logger,
    metrics,
    ...engine
  } = options
  const format: keyof Formats = given ?? "openai"
  const named = options.strategy ?? "break-even"
  const strategy = strategyOf(named, { file: settings, environmentPrefix })
  /** The options of one call, in the form that the engine takes. */
  const requested = <Options extends RequestOptions>(given: Options | undefined) => {
    if (given === undefined) return {}
    const { strategy: other, settings: request, ...rest } = given
    const changed = other !== undefined || request !== undefined
    const file = typeof (other ?? named) === "string" ? settings : undefined
    return {
      ...rest,
      ...(changed ? { strategy: strategyOf(other ?? named, { request, file, environmentPrefix }) } : {}),
    }
  }
  const codec = codecs[format]
  const log =
    typeof store === "string" ? { open: Either.getOrThrowWith(storeOf(store), same) } : { layer: store }
  const engineOptions: Memory.Options = {
    ...engine,
    strategy,
    compaction: { ...compaction, ...(hooks === undefined ? {} : { hooks: hooksOf(hooks) }) },
    ...(shadow === undefined ? {} : { shadow: strategyOf(shadow, { environmentPrefix }) }),
    ...(wording === undefined
      ? {}
      : { wording: typeof wording === "string" ? Wording.presets[wording] : wording }),
  }
  const { embedder, vectorIndex, fullTextIndex } = recall
  /** The parts that are ready, and layers of those that read the log. Whatever is missing has a default. */
  const ready = [
    ...(summarizer === undefined ? [] : [Context.make(CurrentSummarizer, summarizerOf(summarizer))]),
    ...(embedder === undefined ? [] : [Context.make(Embedder.Embedder, embedderOf(embedder))]),
    ...(fullTextIndex === "process" ? [Context.make(FullTextIndex.FullTextIndex, Recall.inProcess())] : []),
    ...(tokenCounter === undefined ? [] : [Context.make(TokenCounter.TokenCounter, tokenCounter)]),
  ]
  const parts: ReadonlyArray<Layer.Layer<never, never, EventLog.EventLog>> = [
    ...(vectorIndex === undefined ? [] : [vectorIndex]),
    ...(layers === undefined || layers === false ? [] : [layersOf(layers)]),
  ]
  // Not a layer of layers: to build those takes longer in a new process than everything else that is done here.
  const start: Effect.Effect<Running, EventLog.LogError, Scope.Scope> = Effect.gen(function* () {
    yield* logTo(logger)
    const scope = yield* Effect.scope
    // What several of the given layers share is built once.
    const shared = yield* Layer.makeMemoMap
    if (metrics !== undefined) yield* Layer.buildWithMemoMap(Metrics.listen(metrics), shared, scope)
    const withLog =
      "layer" in log
        ? yield* Layer.buildWithMemoMap(log.layer, shared, scope)
        : Context.make(EventLog.EventLog, yield* log.open)
    let context = Context.mergeAll(withLog, ...ready)
    for (const part of parts) {
      const built = yield* Effect.provide(Layer.buildWithMemoMap(part, shared, scope), withLog)
      context = Context.merge(context, built)
    }
    const memory = yield* Effect.provide(Memory.make(engineOptions), context)
    return { memory, runtime: yield* Effect.runtime<never>() }
  })
  let opening: Opening | null = null
  let closed = false
  /** The calls that are interrupted when the memory is closed: all but appends, which finish. */
  const interruptible = new Set<Fiber.RuntimeFiber<unknown, unknown>>()
  const closing = Deferred.unsafeMake<void>(FiberId.none)

  const open = (): Opening => {
    const scope = Effect.runSync(Scope.make())
    const fiber = Effect.runFork(Scope.extend(start, scope))
    const ended = settled(fiber)
    const end = async () => {
      fiber.unsafeInterruptAsFork(FiberId.none)
      await Effect.runPromise(Scope.close(scope, await ended))
    }
    const running = ended.then(async (exit) => {
      if (Exit.isSuccess(exit)) return exit.value
      await end()
      opening = null
      throw closed ? new Closed() : Cause.squash(exit.cause)
    })
    return { running, close: end }
  }
  /**
   * The running memory. If opening fails, the next call tries again. All calls wait for the same promise, so they go on in
   * the order in which they were made.
   */
  const opened = async () => {
    if (closed) throw new Closed()
    const running = await (opening ??= open()).running
    if (closed) throw new Closed()
    return running
  }
  /** The running memory, once no call waits for it any more: a later call would overtake those that do. */
  let known: Running | null = null
  let waiting = 0
  const run = async <A>(
    use: (memory: Memory.Service) => Effect.Effect<A, Error>,
    { finishes = false } = {},
  ): Promise<A> => {
    if (closed) throw new Closed()
    let running = known
    if (running === null) {
      waiting++
      try {
        running = await opened()
      } finally {
        waiting--
      }
      if (waiting === 0) known = running
    }
    const { memory, runtime } = running
    const fiber = Runtime.runFork(runtime)(use(memory))
    if (!finishes) interruptible.add(fiber)
    const exit = await settled(fiber)
    interruptible.delete(fiber)
    if (Exit.isSuccess(exit)) return exit.value
    throw closed && Cause.isInterrupted(exit.cause) ? new Closed() : Cause.squash(exit.cause)
  }
  const iterate = <A>(
    use: (memory: Memory.Service) => Stream.Stream<A, Memory.MemoryError>,
  ): AsyncIterable<A> => ({
    async *[Symbol.asyncIterator]() {
      const { memory, runtime } = await opened()
      yield* Stream.toAsyncIterableRuntime(Stream.interruptWhenDeferred(use(memory), closing), runtime)
    },
  })
  const close = async () => {
    closed = true
    // Ends the loops over events before the store is closed.
    await Effect.runPromise(Deferred.succeed(closing, undefined))
    for (const fiber of interruptible) fiber.unsafeInterruptAsFork(FiberId.none)
    await opening?.close()
  }

  /** A message that was found, in the format of the memory. */
  const formatted = <Found extends Recall.RecalledMessage>({ message, ...rest }: Found) => ({
    ...rest,
    message: codec.encodeExact([message]) as Formats[Format]["context"],
  })

  /** Messages of the format, one by one. */
  const listCodec: ListCodec<Formats[Format]["given"]> = {
    decode: (items) => Either.getOrThrowWith(codec.decode(items), same),
    encode: (message) => {
      const encoded = codec.encodeExact([message]) as
        | ReadonlyArray<Formats[Format]["given"]>
        | { readonly system?: unknown; readonly messages: ReadonlyArray<Formats[Format]["given"]> }
      if (!("messages" in encoded)) return encoded
      const system = encoded.system === undefined ? [] : [{ role: "system", content: encoded.system }]
      return [...(system as ReadonlyArray<Formats[Format]["given"]>), ...encoded.messages]
    },
  }

  return {
    append: (session, messages, given) =>
      run(
        (memory) =>
          // Decoded in one step: a shorter append that was called later must not overtake this one.
          Either.match(codec.decode(Array.isArray(messages) ? messages : [messages]), {
            onLeft: Effect.fail,
            onRight: (decoded) => memory.append(session, decoded, requested(given)),
          }),
        { finishes: true },
      ),
    context: async (session, { model, summaries, cacheControl, ...given } = {}) => {
      const wrong = wrongCacheControl(cacheControl)
      if (wrong !== null) throw new Memory.InvalidInput({ session, detail: wrong })
      const options = {
        ...(model === undefined ? {} : { model }),
        ...(summaries === undefined ? {} : { summaries }),
        ...(cacheControl === undefined ? {} : { cacheControl }),
      }
      const context = await run((memory) => memory.context(session, requested(given)))
      const { messages: _messages, sources: _sources, cacheMarks: _marks, ...rest } = context
      return { ...rest, ...formatContext(format, context, systemMessages, options) } as FormattedContext<
        Format,
        System
      >
    },
    messages: async (session, page) => {
      const { messages, ...rest } = await run((memory) => memory.messages(session, page))
      return { ...rest, messages: codec.encodeExact(messages) as Formats[Format]["context"] }
    },
    recall: async (session, query, given) => {
      const found = await run((memory) => memory.recall(session, query, requested(given)))
      return { ...found, messages: found.messages.map(formatted) }
    },
    recallOf: async (owner, query, given) => {
      const found = await run((memory) => memory.recallOf(owner, query, given))
      return { ...found, messages: found.messages.map(formatted) }
    },
    tools: (session, { tokens, ...given } = {}) =>
      toolsOf<Format>(
        (call) =>
          run((memory) =>
            memory.answerToolCall(session, call, {
              ...requested(given),
              ...(tokens === undefined ? {} : { tokens }),
            }),
          ),
        {
          decode: (message) => listCodec.decode([message]),
          encode: (results) => results.flatMap(listCodec.encode),
        },
      ),
    state: (session, at) => run((memory) => memory.state(session, at)),
    events: (session, range) => iterate((memory) => memory.events(session, range)),
    summaries: (session) => run((memory) => memory.summaries(session)),
    // What `which` says decides between one outcome and a list, which only the types of `compact` can tell.
    compact: ((session: string, given?: RequestOptions & Memory.CompactOptions) =>
      run((memory) => memory.compact(session, requested(given)))) as PromiseMemory<Format, System>["compact"],
    subscribe: (session, given) => iterate((memory) => memory.subscribe(session, given)),
    facts: (session) => run((memory) => memory.facts(session)),
    removeFact: (session, fact, given) => run((memory) => memory.removeFact(session, fact, given)),
    revert: (session, given) => run((memory) => memory.revert(session, given)),
    fork: (session, to, given) => run((memory) => memory.fork(session, to, given)),
    redact: (session, message) => run((memory) => memory.redact(session, message)),
    describe: (session, change) => run((memory) => memory.describe(session, change)),
    rewrite: (session, rewrite, given) =>
      run((memory) => memory.rewrite(session, rewriteIn(rewrite, listCodec), requested(given)), {
        finishes: true,
      }),
    clear: (session) => run((memory) => memory.clear(session)),
    delete: (session) => run((memory) => memory.delete(session)),
    sessions: () => iterate((memory) => memory.sessions),
    neutral: {
      append: (session, messages, given) =>
        run((memory) => memory.append(session, messages, given), { finishes: true }),
      context: (session) => run((memory) => memory.context(session)),
      messages: (session, page) => run((memory) => memory.messages(session, page)),
      rewrite: (session, rewrite, given) =>
        run((memory) => memory.rewrite(session, rewrite, given), { finishes: true }),
      clear: (session) => run((memory) => memory.clear(session)),
    },
    sessionsOf: (owner, page) => run((memory) => memory.sessionsOf(owner, page)),
    close,
    [Symbol.asyncDispose]: close,
  }
}
