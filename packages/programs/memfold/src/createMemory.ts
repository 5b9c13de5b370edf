/** The memory with Promises, for programs that do not use Effect. */
import {
  codecs,
  defaultStrategy,
  type Formats,
  type StoreUrl,
  type StrategyName,
  summarizerOf,
  type SystemMessages,
  wrongCacheControl,
  wrongExtraFields,
  wrongServer,
} from "@memfold/catalog"
import { Memory, type Recall } from "@memfold/core"
import { Fact } from "@memfold/layers"
import { atOnce } from "@memfold/log/breathe"
import { Effect, Either, identity } from "effect"
import { type LifeCycle, livingAs, makeLifeCycle, type Run, runWithin } from "./promise/lifeCycle.js"
import { contextsIn } from "./promise/contexts.js"
import { checkingOptions, checkOptions, onlyGiven, strategyOf } from "./promise/options.js"
import type {
  AnyOptions,
  CreateOptions,
  NamedOptions,
  OwnedFacts,
  PromiseMemory,
  RequestOptions,
  TransactionMemory,
} from "./promise/PromiseMemory.js"
import { type ListCodec, rewriteIn } from "./promise/rewrite.js"
import { startOf } from "./promise/start.js"
import { toolsOf } from "./promise/tools.js"

/** Operations in messages of core, with the options that a call of this memory can have. */
interface Requests extends Omit<Memory.Promises, "request"> {
  readonly request: RequestOptions
}

/**
 * Creates a memory. The store is opened by the first call: if that fails, the call rejects with `LogError`, or with
 * `MissingPackage` if the store's driver is not installed, and the next call tries again. Nothing is printed unless you give a `logger`.
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
  Url extends string = StoreUrl,
  Name extends string = StrategyName,
  Facts extends Fact.Declarations | null = null,
>(
  options: CreateOptions<Format, System, Facts> & NamedOptions<Url, Name>,
): PromiseMemory<Format, System, Facts> => {
  const given = options as AnyOptions
  checkOptions(given)
  return faceOf<Format, System, Facts>(given, makeLifeCycle(startOf(given)))
}

/** The operations of a memory in its format, as its life cycle runs them. */
const faceOf = <
  Format extends keyof Formats,
  System extends SystemMessages,
  Facts extends Fact.Declarations | null,
>(
  given: AnyOptions,
  life: LifeCycle,
): PromiseMemory<Format, System, Facts> => {
  const {
    strategy: named = defaultStrategy,
    format = "openai",
    systemMessages,
    settings,
    environmentPrefix,
    extraFields: ownFields,
    server: ownServer,
    facts: declared = null,
  } = given
  const { run, iterate, close } = life
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
  /** An argument of an operation: what chooses a strategy is the options of one call. */
  const argument = (one: unknown) =>
    typeof one === "object" && one !== null && ("strategy" in one || "settings" in one)
      ? requested(one as RequestOptions)
      : one
  const codec = codecs[format]
  /** A message that was found, in the format of the memory. */
  const formatted = <Found extends Recall.RecalledMessage>({ message, ...rest }: Found) => ({
    ...rest,
    message: codec.encodeExact([message]) as Formats[Format]["context"],
  })

  const formattedContext = contextsIn<Format, System>(format as Format, systemMessages as System)
  /** Messages of the format, one by one. */
  const listCodec: ListCodec<Formats[Format]["given"]> = {
    decode: (items) => Either.getOrThrowWith(atOnce(codec.decode(items)), identity),
    encode: (message) => {
      const encoded = codec.encodeExact([message]) as
        | ReadonlyArray<Formats[Format]["given"]>
        | { readonly system?: unknown; readonly messages: ReadonlyArray<Formats[Format]["given"]> }
      if (!("messages" in encoded)) return encoded
      const system = encoded.system === undefined ? [] : [{ role: "system", content: encoded.system }]
      return [...(system as ReadonlyArray<Formats[Format]["given"]>), ...encoded.messages]
    },
  }

  // Decoded in one step: a shorter append that was called later must not overtake this one.
  const decoded = (messages: unknown) =>
    Effect.suspend(() => atOnce(codec.decode(Array.isArray(messages) ? messages : [messages])))
  /** The operations that a transaction of the application can have, too. */
  const operationsOn = (run: Run<Memory.TransactionMemory>): TransactionMemory<Format> => ({
    ...Memory.promised<"describe" | "regenerate" | "state", Requests>({
      names: ["describe", "regenerate", "state"],
      run,
      argument,
    }),
    append: (session, messages, given) =>
      run(
        (memory) =>
          Effect.flatMap(decoded(messages), (list) => memory.append(session, list, requested(given))),
        { finishes: true },
      ),
    messages: async (session, page) => {
      const { messages, ...rest } = await run((memory) => memory.messages(session, page))
      return { ...rest, messages: codec.encodeExact(messages) as Formats[Format]["context"] }
    },
    edit: (session, from, messages, given) =>
      run(
        (memory) =>
          Effect.flatMap(decoded(messages), (list) => memory.edit(session, from, list, requested(given))),
        { finishes: true },
      ),
  })

  return checkingOptions<PromiseMemory<Format, System, Facts>>({
    ...Memory.promised<keyof Memory.Operations<Requests>, Requests>({ run, iterate, argument }),
    ...operationsOn(run),
    within: (transaction) => checkingOptions(operationsOn(runWithin(run, transaction))),
    context: async (session, { model, summaries, cacheControl, extraFields, server, ...given } = {}) => {
      const wrong = wrongCacheControl(cacheControl) ?? wrongExtraFields(extraFields) ?? wrongServer(server)
      if (wrong !== null) throw new Memory.InvalidInput({ session, detail: wrong })
      const own = { extraFields: extraFields ?? ownFields, server: server ?? ownServer }
      const options = onlyGiven({ model, summaries, cacheControl, ...own })
      return formattedContext(await run((memory) => memory.context(session, requested(given))), options)
    },
    recall: async (session, query, given) => {
      const found = await run((memory) => memory.recall(session, query, requested(given)))
      return { ...found, messages: found.messages.map(formatted) }
    },
    recallOf: async (owner, query, given) => {
      const found = await run((memory) => memory.recallOf(owner, query, given))
      return { ...found, messages: found.messages.map(formatted) }
    },
    factsOf: (owner, given) =>
      run((memory) => {
        const facts = memory.factsOf(owner, given)
        return (
          declared === null ? facts : Effect.flatMap(facts, (found) => Fact.typed(declared, found))
        ) as Effect.Effect<OwnedFacts<Facts>, Effect.Effect.Error<typeof facts>>
      }),
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
    preview: async (session, { summarizer, ...given } = {}) => {
      const { before, after, ...preview } = await run((memory) =>
        memory.preview(session, {
          ...requested(given),
          ...(summarizer === undefined ? {} : { summarizer: summarizerOf(summarizer) }),
        }),
      )
      return { ...preview, before: formattedContext(before), after: formattedContext(after) }
    },
    rewrite: (session, rewrite, given) =>
      run((memory) => memory.rewrite(session, rewriteIn(session, rewrite, listCodec), requested(given)), {
        finishes: true,
      }),
    sessions: () => iterate((memory) => memory.sessions),
    neutral: Memory.neutralBy(run),
    as: (actor) => faceOf<Format, System, Facts>(given, livingAs(life, actor)),
    close,
    [Symbol.asyncDispose]: close,
  })
}
