/** Sessions of the AI SDK: what `streamText`, `generateText` and agents need to go on with a stored conversation. */
import { StoredSession } from "@memfold/codec"
import type { Memory } from "@memfold/core"
import type { LanguageModelMiddleware, ModelMessage, UIMessage } from "ai"
import { Calls } from "./calls.js"
import { Contexts } from "./contexts.js"
import type { AiSdkContext, ConvertDataPart, Major } from "./encode.js"
import { modelMiddleware } from "./middleware.js"
import { decoded, Page, regenerates } from "./page.js"
import { isOfPage } from "./received.js"
import type { RenderedContext } from "./rendered.js"
import { type EndOfCall, type EndOfPage, isEndOfPage, type StepToPrepare } from "./steps.js"

/** What a user says: a text, or messages of a page (`UIMessage`) or of a program (`ModelMessage`). */
export type UserInput = string | UIMessage | ModelMessage | ReadonlyArray<UIMessage | ModelMessage>

/** Options of {@link aiSdk}. */
export interface AiSdkOptions {
  /** The major version of `ai` that is used; 7 by default. Files in tool results and the middleware differ. */
  readonly major?: Major
  /**
   * Who gets the contexts: a name such as `mistral`, or the base URL of the provider. Steps and the middleware know it from their
   * model; say it where a model has another address than its package, and for `messages`, which sees no model.
   */
  readonly server?: string
  /** What a model gets of parts of a page with data, as for `convertToModelMessages`; nothing by default. */
  readonly convertDataPart?: ConvertDataPart
}

/** Options of a session. */
export interface SessionOptions {
  /** Instructions for the model. They stand before the system messages of the session, and are not stored. */
  readonly instructions?: string
}

/** Options of {@link AiSdkSession.messages}. */
export interface MessagesOptions {
  /**
   * Names this append, so that a retry of the request does not store its messages again. Messages of a page need none: they
   * have ids.
   */
  readonly idempotencyKey?: string
  /**
   * The `trigger` of a request of `useChat`. With `"regenerate-message"`, the answer behind the last message is taken back,
   * an unfinished one, too.
   */
  readonly trigger?: string | undefined
  /**
   * The `messageId` of a request of `useChat`: the message that the user edited, or whose answer is to be made again. It is
   * needed if the page sends only its last message.
   */
  readonly messageId?: string | undefined
  /**
   * What a list of a page shows. `"all"` (default), as `useChat` sends it: what is missing at its start or at its end was taken back.
   * `"end"`: the list may begin later than the conversation, on a page that loaded the newest messages alone (`uiMessages` with a
   * `limit`), or that sends only its new messages.
   */
  readonly shows?: "all" | "end" | undefined
}

/** What a program reads of a session and stores in it, without a call of the model. */
export class OpenSession {
  /** @internal */
  protected readonly stored: StoredSession
  /** @internal */
  protected readonly page: Page
  /** @internal */
  protected readonly calls: Calls

  /** @internal */
  constructor(
    owner: Memory.AnyMemory,
    readonly id: string,
    protected readonly options: SessionOptions & AiSdkOptions & { readonly major: Major },
  ) {
    this.stored = new StoredSession(owner, id, "ai-sdk")
    this.page = new Page(this.stored)
    this.calls = new Calls(this.stored, new Contexts(this.stored, options), options.instructions)
  }

  /**
   * The context as it is now, with its layout and its size.
   *
   * @throws InvalidInput, LogError, DamagedEvent, Closed: as `context` of the memory
   */
  async context(): Promise<RenderedContext> {
    const { prefix: _prefix, server: _server, ...context } = await this.calls.contexts.read()
    return context
  }

  /**
   * Stores messages as they are, such as a conversation from elsewhere: model messages or page messages, answers included.
   *
   * @param messages one message or a list
   * @param options a name for this append
   * @throws AiSdkDecodeError: a message is none of the AI SDK; nothing was stored
   * @throws InvalidInput, LogError, DamagedEvent, IdempotencyKeyReused, Closed: as `append` of the memory
   */
  append(
    messages: UIMessage | ModelMessage | ReadonlyArray<UIMessage | ModelMessage>,
    { idempotencyKey }: Pick<MessagesOptions, "idempotencyKey"> = {},
  ): Promise<void> {
    const list = Array.isArray(messages) ? (messages as ReadonlyArray<unknown>) : [messages]
    return this.stored.inOrder(async () => void (await this.stored.append(decoded(list), { idempotencyKey })))
  }

  /**
   * The conversation for a page, as `useChat` takes it: covered messages included, messages that a page sent as they were.
   *
   * @param options `limit`: how many stored messages to read at least, from the newest; all by default. The first message of
   *   the list is always whole
   * @throws InvalidInput, LogError, DamagedEvent, Closed: as `messages` of the memory
   *
   * @example
   * ```ts
   * import { aiSdk } from "@memfold/ai-sdk"
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * console.log(await aiSdk(memory).session("chat-1").uiMessages({ limit: 50 }))
   * await memory.close()
   * ```
   */
  uiMessages({ limit }: { readonly limit?: number } = {}): Promise<Array<UIMessage>> {
    return this.page.read(limit)
  }

  /**
   * The id of the answer on the page, for `generateMessageId` of `toUIMessageStreamResponse`. With it, the page and
   * {@link AiSdkSession.uiMessages} have the same id.
   */
  readonly generateMessageId = (): string => this.calls.responseId()
}

/**
 * A session for one request at a time. Make one for each request: they cost nothing.
 *
 * @example
 * ```ts
 * import { aiSdk } from "@memfold/ai-sdk"
 * import { generateText } from "ai"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({ store: "sqlite:chats.db" })
 * const chat = aiSdk(memory).session("chat-1")
 * const context = await chat.messages("My order is KX-4471.")
 * const result = await generateText({ model: "openai/gpt-6.2-sol", ...context, prepareStep: chat.prepareStep })
 * await chat.onFinish(result)
 * await memory.close()
 * ```
 */
export class AiSdkSession extends OpenSession {
  /**
   * Stores what the user says, and returns the context for the model: `{ system, messages }`, to be spread into
   * `streamText` or `generateText`. Without a message it only reads: to try again after an error, or to resume.
   *
   * Messages of a page are stored once, however often they are sent. Give the new message, or a list of all messages of the page; of
   * a list that does not begin where the conversation begins, say that it shows its `"end"`. Of a message of the assistant, approvals and results of tools that run on the page are new.
   *
   * What the page shows is what the model gets. If the user edited a message, took messages back or asks for another answer,
   * the conversation goes on from that place, and what was said behind it stays in the log, on a branch (see `branches` and
   * `checkout` of the memory). An unfinished answer behind the list goes on, unless the page asks for another one. Without a
   * message, a request for another answer takes back the newest answer, or the answer that `messageId` names.
   *
   * @param given a text, a message, or a list
   * @param options a name for this append; `trigger` and `messageId` of a request of `useChat`
   * @returns the context
   * @throws AiSdkDecodeError: a message is none of the AI SDK; nothing of it was stored
   * @throws InvalidInput, LogError, DamagedEvent, IdempotencyKeyReused, Closed: as `append` and `context` of the memory
   */
  messages(given?: UserInput, options: MessagesOptions = {}): Promise<AiSdkContext> {
    return this.stored.inOrder(async () => {
      if (given !== undefined) await this.receive(given, options)
      else if (regenerates(options)) await this.page.takeBack(options.messageId)
      return this.calls.begin()
    })
  }

  private async receive(given: UserInput, options: MessagesOptions): Promise<void> {
    const one = typeof given === "string" ? { role: "user" as const, content: given } : given
    const isList = Array.isArray(one)
    const list = [one].flat() as ReadonlyArray<UIMessage | ModelMessage>
    if (list.length > 0 && list.every(isOfPage))
      return this.stored.compare((stored) => new Page(stored).receive(list, isList, options))
    const { idempotencyKey } = options
    await this.stored.append(decoded(list), { idempotencyKey })
  }

  /**
   * Prepares a step of an agent: stores what the step before produced, and returns the context for the next one, so that
   * a long loop is compacted while it runs. Give it to `streamText`, `generateText` or an agent.
   *
   * @returns the context; in AI SDK 7 it is kept for later steps, in 5 and 6 it is made again for each
   * @throws BranchLeft: the user edited the question meanwhile, or asked for another answer; the call ends
   * @throws LogError, DamagedEvent, Closed: as `append` and `context` of the memory; the call fails, and
   *   {@link AiSdkSession.messages} without a message goes on from the last stored step
   */
  readonly prepareStep = (step: StepToPrepare): Promise<AiSdkContext> =>
    this.stored.inOrder(() => this.calls.prepare(step))

  /**
   * Stores what the call produced. Give it to `onEnd` (AI SDK 7) or `onFinish` (5 and 6) of `streamText`, or call it with the
   * result of `generateText`. Nothing is stored twice, however often it is called.
   *
   * Or give it to `onEnd` or `onFinish` of `toUIMessageStreamResponse`: then the message of the page is stored with its data
   * parts and its metadata.
   *
   * @throws LogError, DamagedEvent, Closed: as `append` of the memory
   */
  readonly onEnd = (event: EndOfCall | EndOfPage): Promise<void> =>
    this.stored.inOrder(() =>
      isEndOfPage(event)
        ? this.calls.savePage(event)
        : this.calls.saveSteps(event.steps, event.responseMessages),
    )

  /** {@link AiSdkSession.onEnd} under its name in AI SDK 5 and 6. */
  readonly onFinish = (event: EndOfCall | EndOfPage): Promise<void> => this.onEnd(event)

  /**
   * Stores the finished steps of a stream that was aborted. The session goes on after the last of them: what the user says next
   * follows it.
   *
   * @throws LogError, DamagedEvent, Closed: as `append` of the memory
   */
  readonly onAbort = (event: EndOfCall): Promise<void> => this.onEnd(event)

  /**
   * The callbacks of `streamText`, to be spread into its options: right in AI SDK 5, 6 and 7, which call the end of a stream by
   * different names and ignore a name that they do not know. Version 7 knows both names and calls one.
   *
   * @example
   * ```ts
   * import { aiSdk } from "@memfold/ai-sdk"
   * import { streamText } from "ai"
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * const chat = aiSdk(memory).session("chat-1")
   * const context = await chat.messages("My order is KX-4471.")
   * await streamText({ model: "openai/gpt-6.2-sol", ...context, ...chat.callbacks }).consumeStream()
   * await memory.close()
   * ```
   */
  readonly callbacks = {
    prepareStep: this.prepareStep,
    onEnd: this.onEnd,
    onFinish: this.onFinish,
    onAbort: this.onAbort,
  }

  /**
   * A middleware for `wrapLanguageModel`: each call of the model is one of this session. Calls of `generateText` and `streamText`
   * then pass only new messages, and need no callbacks. Do not combine it with {@link AiSdkSession.messages} or
   * {@link AiSdkSession.prepareStep}: they store these messages, too.
   *
   * - What the user says is stored before the model is asked; a call that the SDK tries again stores it once.
   * - Each step of a tool loop is stored with its results when the next step begins, and the answer when it is whole. Of a
   *   loop that stops after a step with calls, give the result or the event to {@link AiSdkSession.onEnd}.
   * - System messages of the call stand before the session's system messages, and are not stored.
   * - Of a call with earlier answers, what follows the last of them is new, unless the session is empty or has it. If the session
   *   has the answer to it, too, the call asks for another one, as with `trigger` of {@link AiSdkSession.messages}.
   *
   * @param options a name for what is asked, so that a request that is sent again stores it once
   *
   * @example
   * ```ts
   * import { aiSdk } from "@memfold/ai-sdk"
   * import { gateway, generateText, wrapLanguageModel } from "ai"
   * import { createMemory } from "memfold"
   *
   * const memory = createMemory({ store: "sqlite:chats.db" })
   * const middleware = aiSdk(memory).session("chat-1").middleware()
   * const model = wrapLanguageModel({ model: gateway("openai/gpt-6.2-sol"), middleware })
   * const { text } = await generateText({ model, prompt: "My order is KX-4471." })
   * console.log(text)
   * await memory.close()
   * ```
   */
  middleware({ idempotencyKey }: Pick<MessagesOptions, "idempotencyKey"> = {}): LanguageModelMiddleware {
    return modelMiddleware(this.stored, this.calls, this.options.major, idempotencyKey)
  }
}

/** The sessions of a memory for the AI SDK. */
export interface AiSdkMemory {
  readonly session: (id: string, options?: SessionOptions) => AiSdkSession
}

/**
 * Connects a memory to the AI SDK.
 *
 * @param memory a memory of `createMemory` in any format, or the service of `@memfold/core`
 * @param options the version of the AI SDK
 *
 * @example
 * ```ts
 * import { aiSdk } from "@memfold/ai-sdk"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({ store: "sqlite:chats.db" })
 * const chat = aiSdk(memory).session("chat-1", { instructions: "Be brief." })
 * await memory.close()
 * ```
 */
export const aiSdk = (memory: Memory.AnyMemory, { major = 7, ...given }: AiSdkOptions = {}): AiSdkMemory => {
  return { session: (id, options = {}) => new AiSdkSession(memory, id, { ...given, ...options, major }) }
}
