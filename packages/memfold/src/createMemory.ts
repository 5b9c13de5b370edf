/** The memory with Promises, for programs that do not use Effect. */
import { CurrentSummarizer, Memory, TokenCounter, Wording } from "@memfold/core"
import * as Layers from "@memfold/layers"
import {
  Cause,
  Deferred,
  Effect,
  Either,
  Exit,
  Layer,
  Logger,
  ManagedRuntime,
  Runtime,
  Schema,
  Stream,
} from "effect"
import { codecs, type Formats } from "./promise/formats.js"
import { summarizerOf } from "./promise/models.js"
import { checkOptions, hooksOf, same, strategyOf } from "./promise/options.js"
import type { CreateOptions, PromiseMemory, RequestOptions } from "./promise/PromiseMemory.js"
import { storeLayer } from "./store.js"

export { InvalidOption } from "./promise/options.js"

/** The memory was closed before this call. Create another one. */
export class Closed extends Schema.TaggedError<Closed>()("Closed", {}) {
  override get message(): string {
    return "This memory was closed; create another one"
  }
}

/** Logs go to standard error, one line each; standard output belongs to the application. */
const logging = Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.logfmtLogger))

const layersOf = (given: true | Layers.Options) => Layers.layer(given === true ? {} : given)

/**
 * Creates a memory. The store is opened by the first call: if that fails, the call rejects with `LogError`, and the next
 * call tries again. Warnings go to standard error.
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
export const createMemory = <Format extends keyof Formats = "openai">(
  options: CreateOptions<Format>,
): PromiseMemory<Format> => {
  checkOptions(options as CreateOptions<keyof Formats>)
  const { store, summarizer, tokenCounter, format, settings, wording, layers, hooks, shadow, ...engine } =
    options
  const named = options.strategy ?? "sliding-window"
  const strategy = strategyOf(named, { file: settings })
  /** The options of one call, in the form that the engine takes. */
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
    ...(hooks === undefined ? {} : { hooks: hooksOf(hooks) }),
    ...(shadow === undefined ? {} : { shadow: strategyOf(shadow, {}) }),
    ...(wording === undefined
      ? {}
      : { wording: typeof wording === "string" ? Wording.presets[wording] : wording }),
  }).pipe(
    Layer.provide(layers === undefined || layers === false ? Layer.empty : layersOf(layers)),
    Layer.provide(log),
    Layer.provide(parts),
    Layer.provideMerge(logging),
  )
  let runtime = ManagedRuntime.make(layer)
  let closed = false
  const closing = Effect.runSync(Deferred.make<void>())

  /** The running memory. If opening fails, the next call tries again. */
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
      const all = Stream.unwrap(Effect.map(Memory.Memory, use)).pipe(Stream.interruptWhenDeferred(closing))
      yield* Stream.toAsyncIterableRuntime(all, await opened())
    },
  })
  const close = async () => {
    closed = true
    // Ends the loops over events before the store is closed.
    await Effect.runPromise(Deferred.succeed(closing, undefined))
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
      const { messages, ...rest } = await run((memory) => memory.context(session, requested(given)))
      return { ...rest, messages: codec.encode(messages) as Formats[Format]["context"] }
    },
    state: (session, at) => run((memory) => memory.state(session, at)),
    events: (session, range) => iterate((memory) => memory.events(session, range)),
    summaries: (session) => run((memory) => memory.summaries(session)),
    compactDue: (session, given) => run((memory) => memory.compactDue(session, requested(given))),
    compact: (session, given) => run((memory) => memory.compact(session, requested(given))),
    subscribe: (session, given) => iterate((memory) => memory.subscribe(session, given)),
    facts: (session) => run((memory) => memory.facts(session)),
    removeFact: (session, fact, given) => run((memory) => memory.removeFact(session, fact, given)),
    revert: (session, given) => run((memory) => memory.revert(session, given)),
    recompact: (session, given) => run((memory) => memory.recompact(session, requested(given))),
    fork: (session, to, given) => run((memory) => memory.fork(session, to, given)),
    redact: (session, index) => run((memory) => memory.redact(session, index)),
    clear: (session) => run((memory) => memory.clear(session)),
    delete: (session) => run((memory) => memory.delete(session)),
    sessions: () => iterate((memory) => memory.sessions),
    close,
    [Symbol.asyncDispose]: close,
  }
}
