/** The memory with Promises, for programs that do not use Effect. */
import {
  codecs,
  defaultStrategy,
  type Formats,
  type SystemMessages,
  wrongCacheControl,
  wrongExtraFields,
} from "@memfold/catalog"
import { Memory, type Recall } from "@memfold/core"
import { Effect, Either } from "effect"
import { makeLifeCycle, type Run, runWithin } from "./promise/lifeCycle.js"
import { contextsIn, lookingOperations } from "./promise/looking.js"
import { neutralOperations } from "./promise/neutral.js"
import { checkOptions, same, strategyOf } from "./promise/options.js"
import type {
  CreateOptions,
  PromiseMemory,
  RequestOptions,
  TransactionMemory,
} from "./promise/PromiseMemory.js"
import { type ListCodec, rewriteIn } from "./promise/rewrite.js"
import { startOf } from "./promise/start.js"
import { toolsOf } from "./promise/tools.js"

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
>(
  options: CreateOptions<Format, System>,
): PromiseMemory<Format, System> => {
  const given = options as CreateOptions<keyof Formats, SystemMessages>
  checkOptions(given)
  const {
    strategy: named = defaultStrategy,
    format = "openai",
    systemMessages,
    settings,
    environmentPrefix,
    extraFields: ownFields,
  } = given
  const { run, iterate, close } = makeLifeCycle(startOf(given))
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
  /** A message that was found, in the format of the memory. */
  const formatted = <Found extends Recall.RecalledMessage>({ message, ...rest }: Found) => ({
    ...rest,
    message: codec.encodeExact([message]) as Formats[Format]["context"],
  })

  const formattedContext = contextsIn<Format, System>(format as Format, systemMessages as System)
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

  /** The operations that a transaction of the application can have, too. */
  const operationsOn = (run: Run<Memory.TransactionMemory>): TransactionMemory<Format> => {
    // Decoded in one step: a shorter append that was called later must not overtake this one.
    const decoded = (messages: unknown) =>
      Effect.suspend(() => codec.decode(Array.isArray(messages) ? messages : [messages]))
    return {
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
      state: (session, at) => run((memory) => memory.state(session, at)),
      describe: (session, change) => run((memory) => memory.describe(session, change)),
      edit: (session, from, messages, given) =>
        run(
          (memory) =>
            Effect.flatMap(decoded(messages), (list) => memory.edit(session, from, list, requested(given))),
          { finishes: true },
        ),
      regenerate: (session, given) =>
        run((memory) => memory.regenerate(session, requested(given)), { finishes: true }),
    }
  }

  return {
    ...operationsOn(run),
    within: (transaction) => operationsOn(runWithin(run, transaction)),
    context: async (session, { model, summaries, cacheControl, extraFields = ownFields, ...given } = {}) => {
      const wrong = wrongCacheControl(cacheControl) ?? wrongExtraFields(extraFields)
      if (wrong !== null) throw new Memory.InvalidInput({ session, detail: wrong })
      const options = {
        ...(model === undefined ? {} : { model }),
        ...(summaries === undefined ? {} : { summaries }),
        ...(cacheControl === undefined ? {} : { cacheControl }),
        ...(extraFields === undefined ? {} : { extraFields }),
      }
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
    events: (session, range) => iterate((memory) => memory.events(session, range)),
    summaries: (session) => run((memory) => memory.summaries(session)),
    // What `which` says decides between one outcome and a list, which only the types of `compact` can tell.
    compact: ((session: string, given?: RequestOptions & Memory.CompactOptions) =>
      run((memory) => memory.compact(session, requested(given)))) as PromiseMemory<Format, System>["compact"],
    ...lookingOperations({ run, requested, formatted: formattedContext }),
    subscribe: (session, given) => iterate((memory) => memory.subscribe(session, given)),
    facts: (session) => run((memory) => memory.facts(session)),
    removeFact: (session, fact, given) => run((memory) => memory.removeFact(session, fact, given)),
    revert: (session, given) => run((memory) => memory.revert(session, given)),
    fork: (session, to, given) => run((memory) => memory.fork(session, to, given)),
    redact: (session, message) => run((memory) => memory.redact(session, message)),
    rewrite: (session, rewrite, given) =>
      run((memory) => memory.rewrite(session, rewriteIn(rewrite, listCodec), requested(given)), {
        finishes: true,
      }),
    branches: (session) => run((memory) => memory.branches(session)),
    checkout: (session, branch, given) =>
      run((memory) => memory.checkout(session, branch, requested(given)), { finishes: true }),
    undo: (session, given) => run((memory) => memory.undo(session, requested(given)), { finishes: true }),
    clear: (session) => run((memory) => memory.clear(session)),
    delete: (session) => run((memory) => memory.delete(session)),
    deleteOf: (owner) => run((memory) => memory.deleteOf(owner)),
    sessions: () => iterate((memory) => memory.sessions),
    neutral: neutralOperations(run),
    sessionsOf: (owner, page) => run((memory) => memory.sessionsOf(owner, page)),
    eventsOf: (owner) => iterate((memory) => memory.eventsOf(owner)),
    close,
    [Symbol.asyncDispose]: close,
  }
}
