/** Chats of Effect AI on sessions of a memory: durable, and compacted. */
import {
  AiError,
  type Chat,
  LanguageModel,
  Model,
  Prompt,
  type Response,
  type Tool,
  type Toolkit,
} from "@effect/ai"
import {
  answersEarlier,
  type ContextParts,
  digest,
  randomId,
  unsupportedSections,
  withLateResults,
} from "@memfold/codec"
import { Memory, type Message, type Session } from "@memfold/core"
import { Context, Effect, Either, Option, Schema, Stream } from "effect"
import { decodePrompt } from "./decode.js"
import { encodeContext, encodePrompt } from "./encode.js"
import { History } from "./history.js"
import { prepended } from "./prepended.js"
import { decodeResponse, type WriteParams } from "./response.js"
import { type Sessions, sessionOf } from "./sessions.js"
import { inTurn, turnInScope } from "./turns.js"
import { finishedSteps } from "./wholeParts.js"

/** A context as a model gets it, and what it consists of. */
export interface RenderedContext extends ContextParts {
  readonly prompt: Prompt.Prompt
}

/**
 * A chat on a session. It is a `Chat.Service`:
 *
 * - the model gets the context: a summary of what is older, and the newest messages as they were
 * - `history`, `export` and `exportJson` have the whole conversation
 * - a store that fails is an `UnknownError` with the memory's own error as its `cause`; in `history`, which has no errors, and
 *   at the end of a stream that was interrupted, it is a defect
 */
export interface Service extends Chat.Service {
  readonly id: string
  /** The context as it is now, with its layout and its size. */
  readonly context: Effect.Effect<RenderedContext, AiError.AiError>
}

/** Options of {@link open}. */
export interface OpenOptions {
  /** Instructions for the model. They stand before the system messages of the session, and are not stored. */
  readonly instructions?: string
}

/**
 * Names a request, so that sending it again, perhaps to another process, stores its prompt once. Within one chat,
 * `Effect.retry` and calling again after an error need no name. Once a request has its answer, sending it again
 * asks for another one: only that one stays in the conversation, and the log keeps the first one as a branch. Once the user has
 * said something else, it is asked behind that, which some providers refuse: look at `history` first.
 *
 * @example
 * ```ts
 * import { MemfoldChat } from "@memfold/effect-ai"
 * import { Effect } from "effect"
 *
 * const ask = (request: string, text: string) =>
 *   Effect.gen(function* () {
 *     const chat = yield* MemfoldChat.open("chat-1")
 *     return yield* chat.generateText({ prompt: text })
 *   }).pipe(Effect.provideService(MemfoldChat.RequestId, request))
 * ```
 */
export class RequestId extends Context.Reference<RequestId>()("@memfold/effect-ai/RequestId", {
  defaultValue: (): string | undefined => undefined,
}) {}

/** A prompt that was stored and has no answer yet: asking it again stores nothing. */
interface Pending {
  readonly prompt: string
  readonly key: string
}

interface ModelCall {
  readonly key: string
  readonly given: ReadonlyArray<Message.Message>
  readonly prompt: Prompt.Prompt
  readonly prefix: Session.Prefix
}

type AnyToolkit = Toolkit.WithHandler<Record<string, Tool.Any>>

/** Writes the parameters of calls as the tools of a toolkit have them encoded. */
const writerOf = (toolkit: AnyToolkit | undefined): WriteParams => {
  const tools = Object.values(toolkit?.tools ?? {})
  return (name, params) => {
    const schema = tools.find((tool) => tool.name === name)?.parametersSchema
    if (schema === undefined) return params
    const encode = Schema.encodeUnknownEither(schema as Schema.Schema<unknown, unknown>)
    return Either.getOrElse(encode(params), () => params)
  }
}

const same = (one: Message.Message | undefined, other: Message.Message): boolean =>
  one?.role === other.role && JSON.stringify(one.parts) === JSON.stringify(other.parts)

/** Whether messages are a whole answer: nothing of the user, and no call that the model has not gone on after. */
const isAnswer = (messages: ReadonlyArray<Message.Message>): boolean => {
  const last = messages.at(-1)
  return (
    last?.role === "assistant" &&
    last.parts.every(({ type }) => type !== "tool-call") &&
    messages.every(({ role }) => role !== "user")
  )
}

const endsWith = (messages: ReadonlyArray<Message.Message>, given: ReadonlyArray<Message.Message>): boolean =>
  given.every((message, at) => same(messages[messages.length - given.length + at], message))

/** The session without the answer to the messages; `null` if it does not end with them and a whole answer. */
const withoutAnswer =
  (given: ReadonlyArray<Message.Message>) =>
  (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Message.Message> | null => {
    const asked = messages.findLastIndex(({ role }) => role !== "assistant" && role !== "tool") + 1
    const before = messages.slice(0, asked)
    return endsWith(before, given) && isAnswer(messages.slice(asked)) ? before : null
  }

/** The session without the messages at its end; `null` if it does not end with them. */
const without =
  (given: ReadonlyArray<Message.Message>) =>
  (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Message.Message> | null =>
    endsWith(messages, given) ? messages.slice(0, messages.length - given.length) : null

/** How many messages of an answer are looked at, to find the question in front of it. */
const longestAnswer = 200

interface Call {
  readonly prompt: Prompt.RawInput
  readonly toolkit?: unknown
}

class Requests {
  private pending: Pending | undefined

  constructor(
    readonly memory: Memory.AnyMemory,
    readonly id: string,
    private readonly instructions: string | undefined,
  ) {}

  session(method: string): Sessions {
    return sessionOf(this.memory, this.id, method)
  }

  /** The context for the provider, as far as it is known. */
  read(
    method: string,
  ): Effect.Effect<RenderedContext & { readonly prefix: Session.Prefix }, AiError.UnknownError> {
    return Effect.gen(this, function* () {
      const provider = Option.getOrUndefined(yield* Effect.serviceOption(Model.ProviderName))
      const context = yield* this.session(method).context
      const { prompt, omitted } = encodeContext(context.messages, { provider })
      return {
        prompt: prepended(this.instructions, prompt),
        layout: [...context.layout, ...unsupportedSections(omitted, context.sources)],
        tokens: context.tokens,
        prefix: context.prefix,
      }
    })
  }

  /** Stores a prompt, once however often it is asked without success, and reads the context. */
  ask(method: string, prompt: Prompt.RawInput): Effect.Effect<ModelCall, AiError.UnknownError> {
    return Effect.gen(this, function* () {
      const decoded = decodePrompt(prompt)
      const named = digest(JSON.stringify(decoded))
      const request = yield* RequestId
      const isAgain = this.pending?.prompt === named
      const key =
        request === undefined ? (isAgain ? this.pending!.key : yield* randomId) : `${request}/${named}`
      this.pending = { prompt: named, key }
      const session = this.session(method)
      const given = yield* session.asStored(decoded)
      if (given.length > 0) {
        const idempotencyKey = `effect-ai/asked/${key}`
        // The application may answer a call after the user has gone on.
        const asked = answersEarlier(decoded)
          ? yield* session.rewrite(withLateResults(decoded), {
              idempotencyKey,
              last: decoded.length + longestAnswer,
            })
          : yield* session.append(decoded, { idempotencyKey })
        if (asked.duplicate)
          yield* session.rewrite(withoutAnswer(given), { last: given.length + longestAnswer })
      }
      const context = yield* this.read(method)
      return { key, given, prompt: context.prompt, prefix: context.prefix }
    })
  }

  /** Stores what the model and its tools produced, as one append, so that nothing comes between a call and its result. */
  answer(
    method: string,
    { prefix }: ModelCall,
    parts: ReadonlyArray<Response.AnyPart>,
    toolkit: AnyToolkit | undefined,
  ): Effect.Effect<void, AiError.UnknownError> {
    return Effect.gen(this, function* () {
      const messages = decodeResponse(parts, writerOf(toolkit))
      if (messages.length > 0) yield* this.session(method).append(messages, { prefix })
    })
  }

  /** The prompt has its answer: the same one again is a new one. */
  readonly done: Effect.Effect<void> = Effect.sync(() => {
    this.pending = undefined
  })

  /** What the package of a provider refuses would fail each later request as well: the session goes back to before it. */
  readonly takeBack =
    (method: string, { given }: ModelCall) =>
    (error: unknown): Effect.Effect<void, AiError.UnknownError> =>
      AiError.isAiError(error) && error._tag === "MalformedInput" && given.length > 0
        ? Effect.zipRight(this.session(method).rewrite(without(given), { last: given.length }), this.done)
        : Effect.void
}

const resolved = (toolkit: unknown): Effect.Effect<AnyToolkit | undefined, never> =>
  (Effect.isEffect(toolkit) ? toolkit : Effect.succeed(toolkit)) as Effect.Effect<AnyToolkit | undefined>

/** A call of the model without a stream, as one turn. */
const generate = <A extends { readonly content: ReadonlyArray<Response.AnyPart> }, E, R>(
  requests: Requests,
  method: string,
  options: Call,
  call: (own: { readonly prompt: Prompt.Prompt; readonly toolkit?: AnyToolkit }) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E | AiError.UnknownError, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const toolkit = yield* restore(resolved(options.toolkit))
      const asked = yield* restore(requests.ask(method, options.prompt))
      const own = { prompt: asked.prompt, ...(toolkit === undefined ? {} : { toolkit }) }
      const response = yield* restore(call(own)).pipe(Effect.tapError(requests.takeBack(method, asked)))
      yield* requests.answer(method, asked, response.content, toolkit)
      yield* requests.done
      return response
    }),
  ).pipe(inTurn(requests.memory, requests.id))

/** A stream of the model, as one turn: what it gave is stored before it ends. */
const stream = <A extends Response.AnyPart, E, R>(
  requests: Requests,
  options: Call,
  call: (own: { readonly prompt: Prompt.Prompt; readonly toolkit?: AnyToolkit }) => Stream.Stream<A, E, R>,
): Stream.Stream<A, E | AiError.UnknownError, R> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const method = "streamText"
      yield* turnInScope(requests.memory, requests.id)
      const toolkit = yield* resolved(options.toolkit)
      const asked = yield* requests.ask(method, options.prompt)
      const parts: Array<Response.AnyPart> = []
      let isStored = false
      const store = (hasEnded: boolean) =>
        Effect.suspend(() => {
          if (isStored) return Effect.void
          isStored = true
          const isWhole =
            (hasEnded || parts.some(({ type }) => type === "finish")) &&
            !parts.some(({ type }) => type === "error")
          return Effect.zipRight(
            requests.answer(method, asked, isWhole ? parts : finishedSteps(parts), toolkit),
            isWhole ? requests.done : Effect.void,
          )
        }).pipe(Effect.uninterruptible)
      // For a stream that fails, or that nobody reads to its end.
      yield* Effect.addFinalizer(() => Effect.orDie(store(false)))
      const own = { prompt: asked.prompt, ...(toolkit === undefined ? {} : { toolkit }) }
      return call(own).pipe(
        Stream.mapChunks((chunk) => {
          parts.push(...chunk)
          return chunk
        }),
        Stream.tapError(requests.takeBack(method, asked)),
        Stream.concat(Stream.execute(store(true))),
      )
    }),
  )

/**
 * A chat on a session of a memory.
 *
 * @param memory a memory of `createMemory` in any format, or the service of `@memfold/core`
 * @param id the id of the session; any text that is not empty
 * @param options instructions for the model
 *
 * @example
 * ```ts
 * import { MemfoldChat } from "@memfold/effect-ai"
 * import { Effect } from "effect"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({ store: "sqlite:chats.db" })
 * const program = Effect.gen(function* () {
 *   const chat = yield* MemfoldChat.make(memory, "chat-1", { instructions: "Be brief." })
 *   return yield* chat.generateText({ prompt: "My order is KX-4471." })
 * })
 * ```
 */
export const make = (
  memory: Memory.AnyMemory,
  id: string,
  { instructions }: OpenOptions = {},
): Effect.Effect<Service> =>
  Effect.gen(function* () {
    const own = yield* Effect.context<never>()
    const requests = new Requests(memory, id, instructions)
    const history = new History(requests.session("history"))
    const exported = <A>(method: string, schema: Schema.Schema<Prompt.Prompt, A>) =>
      requests.session(method).all.pipe(
        Effect.flatMap((messages) => Schema.encode(schema)(encodePrompt(messages))),
        Effect.catchTag("ParseError", (error) =>
          AiError.MalformedOutput.fromParseError({ module: "MemfoldChat", method, error }),
        ),
        Effect.withSpan(`MemfoldChat.${method}`),
      )
    // As `Chat` does it: services of the call take precedence over services from when the chat was opened.
    const withContext = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.mapInputContext(effect, (input: Context.Context<R>) => Context.merge(own, input))
    return {
      id,
      history,
      export: exported("export", Prompt.Prompt),
      exportJson: exported("exportJson", Prompt.FromJson),
      context: Effect.map(requests.read("context"), ({ prefix: _prefix, ...context }) => context),
      generateText: (options) =>
        generate(requests, "generateText", options, (call) =>
          LanguageModel.generateText({ ...options, ...call }),
        ).pipe(withContext, Effect.withSpan("MemfoldChat.generateText")),
      generateObject: (options) =>
        generate(requests, "generateObject", options, (call) =>
          LanguageModel.generateObject({ ...options, ...call }),
        ).pipe(withContext, Effect.withSpan("MemfoldChat.generateObject")),
      streamText: (options) =>
        stream(requests, options, (call) => LanguageModel.streamText({ ...options, ...call })).pipe(
          Stream.mapInputContext((input) => Context.merge(own, input)),
          Stream.withSpan("MemfoldChat.streamText"),
        ),
    } as Service
  })

/**
 * A chat on a session of the memory in the context. It costs nothing: nothing is read until something is asked.
 *
 * @param id the id of the session; any text that is not empty
 * @param options instructions for the model
 *
 * @example
 * ```ts
 * import { MemfoldChat } from "@memfold/effect-ai"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const chat = yield* MemfoldChat.open("chat-1")
 *   const { text } = yield* chat.generateText({ prompt: "My order is KX-4471." })
 *   return text
 * })
 * ```
 */
export const open = (id: string, options?: OpenOptions): Effect.Effect<Service, never, Memory.Memory> =>
  Effect.flatMap(Memory.Memory, (memory) => make(memory, id, options))
