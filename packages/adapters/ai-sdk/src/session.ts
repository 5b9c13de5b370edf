/** Sessions of the AI SDK: what `streamText`, `generateText` and agents need to go on with a stored conversation. */
import { BranchLeft, type PlaceOfCall, StoredSession } from "@memfold/codec"
import type { Memory, Message, Render, Session } from "@memfold/core"
import type { LanguageModelMiddleware, ModelMessage, UIMessage } from "ai"
import { Effect, Random } from "effect"
import type { AiSdkContext, Major } from "./encode.js"
import { formOf, metadataOf } from "./form.js"
import { modelMiddleware } from "./middleware.js"
import { answersOf, isOfPage } from "./received.js"
import { decoded, Page, regenerates } from "./page.js"
import { answeredGroup, rendered, type RenderedContext } from "./rendered.js"
import {
  type EndOfCall,
  type EndOfPage,
  isEndOfPage,
  ownMessages,
  type Step,
  type StepToPrepare,
  usageOf,
} from "./steps.js"

/** What a user says: a text, or messages of a page (`UIMessage`) or of a program (`ModelMessage`). */
export type UserInput = string | UIMessage | ModelMessage | ReadonlyArray<UIMessage | ModelMessage>

/** Options of {@link aiSdk}. */
export interface AiSdkOptions {
  /** The major version of `ai` that is used; 7 by default. Files in tool results and the middleware differ. */
  readonly major?: Major
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
}

const randomId = (): string =>
  Effect.runSync(Effect.all(Array.from({ length: 4 }, () => Random.nextIntBetween(0, 2 ** 32))))
    .map((one) => one.toString(16).padStart(8, "0"))
    .join("")

const joined = (...texts: ReadonlyArray<string | undefined>): { readonly system?: string } => {
  const all = texts.filter((text) => text !== undefined && text !== "")
  return all.length === 0 ? {} : { system: all.join("\n\n") }
}

/** A call of the AI SDK that is under way: what of it is stored. */
interface Turn extends PlaceOfCall {
  readonly id: string
  total: number
  /** The id of the answer on the page; `undefined` if the call continues an answer that has no id. */
  readonly responseId: string | undefined
  /** Whether the answer goes on with an earlier one, after results or approvals of the page. */
  readonly continues: boolean
  /** How many messages of the answer the session had before. */
  readonly earlier: number
  prefix: Session.Prefix
  /** How many produced messages are stored, and how many of them are the assistant's. */
  saved: number
  answers: number
  /** Version 7: how many messages were produced before the first step, by tools that had been approved. */
  initial: number
  /** How many messages the context had, and its system text. */
  readonly given: number
  readonly system: string | undefined
}

/** What a call begins with. */
type CallStart = AiSdkContext & { readonly prefix: Session.Prefix }

/** A session for one request at a time. Make one for each request: they cost nothing. */
export class AiSdkSession {
  private turn: Turn | undefined
  private readonly stored: StoredSession
  private readonly page: Page
  private readonly memory: Memory.Neutral

  /** @internal */
  constructor(
    owner: Memory.AnyMemory,
    /** The id of the session. */
    readonly id: string,
    private readonly options: SessionOptions & { readonly major: Major },
  ) {
    this.stored = new StoredSession(owner, id, "ai-sdk")
    this.page = new Page(this.stored)
    this.memory = this.stored.memory
  }

  private inOrder<A>(work: () => Promise<A>): Promise<A> {
    return this.stored.inOrder(work)
  }

  private newest(): Promise<ReadonlyArray<Message.Message>> {
    return this.stored.newest()
  }

  private async store(messages: ReadonlyArray<Message.Message>, idempotencyKey: string): Promise<void> {
    await this.stored.append(messages, { idempotencyKey })
  }

  private async receiveAny(given: UserInput, options: MessagesOptions): Promise<void> {
    const one = typeof given === "string" ? { role: "user" as const, content: given } : given
    const isList = Array.isArray(one)
    const list: ReadonlyArray<UIMessage | ModelMessage> = isList
      ? (one as ReadonlyArray<UIMessage | ModelMessage>)
      : [one as UIMessage | ModelMessage]
    if (list.length > 0 && list.every(isOfPage)) return this.page.receive(list, isList, options)
    const { idempotencyKey } = options
    if (list.length > 0) await this.store(decoded(list), idempotencyKey ?? `ai-sdk/given/${randomId()}`)
  }

  /** The messages of an open group that the AI SDK goes on with by itself. */
  private async answered({ layout }: Render.Context): Promise<ReadonlyArray<Message.Message>> {
    const open = layout.find(({ section }) => section === "open")
    if (open === undefined) return []
    const { messages, from } = await this.memory.messages(this.id, { limit: open.to - open.from })
    return from === open.from ? answeredGroup(messages) : []
  }

  private async read(): Promise<RenderedContext & CallStart> {
    const context = await this.memory.context(this.id)
    const { system, ...rest } = rendered(context, await this.answered(context), this.options.major)
    return { ...joined(this.options.instructions, system), ...rest, prefix: context.prefix }
  }

  /**
   * Stores what the user says, and returns the context for the model: `{ system, messages }`, to be spread into
   * `streamText` or `generateText`. Without a message it only reads: to try again after an error, or to resume.
   *
   * Messages of a page are stored once, however often they are sent: give the new message, or a list of all messages of the
   * page. Of a message of the assistant, approvals and results of tools that run on the page are new.
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
  messages(given?: UserInput, options: MessagesOptions = {}): Promise<AiSdkContext> {
    return this.inOrder(async () => {
      if (given !== undefined) await this.receiveAny(given, options)
      else if (regenerates(options)) await this.page.takeBack(options.messageId)
      const context = await this.read()
      this.turn = await this.begin(context)
      const { system, messages } = context
      return { ...(system === undefined ? {} : { system }), messages }
    })
  }

  private async begin(context: CallStart): Promise<Turn> {
    const stored = await this.newest()
    const answer = stored.slice(stored.findLastIndex(({ role }) => role === "user" || role === "system") + 1)
    const continued = answer.findLast((message) => formOf(message).ui?.id !== undefined)
    const id = randomId()
    return {
      id,
      branch: await this.stored.branch(),
      total: context.prefix.total,
      responseId: answer.length === 0 ? `msg-${id}` : continued && formOf(continued).ui?.id,
      continues: answer.length > 0,
      earlier: answer.filter(({ role }) => role === "assistant").length,
      prefix: context.prefix,
      saved: 0,
      answers: 0,
      initial: 0,
      given: context.messages.length,
      system: context.system,
    }
  }

  private async current(): Promise<Turn> {
    if (this.turn !== undefined) return this.turn
    return (this.turn = await this.begin(await this.read()))
  }

  /** Stores messages that the model and the tools produced, behind the stored messages of the same call. */
  private async save(turn: Turn, produced: ReadonlyArray<Message.Message>): Promise<void> {
    if (produced.length === 0 || (await this.stored.isLeft(turn))) return
    const named = produced.map((message, index) => {
      const form = formOf(message)
      if (turn.responseId === undefined || form.ui !== undefined) return message
      const continues = turn.continues || turn.saved + index > 0 ? { continues: true } : {}
      const step = message.role === "assistant" ? { step: true } : {}
      return { ...message, ...metadataOf({ ...form, ui: { id: turn.responseId, ...continues, ...step } }) }
    })
    const idempotencyKey = `ai-sdk/produced/${turn.id}/${turn.saved}`
    await this.stored.append(named, { idempotencyKey, prefix: turn.prefix })
    turn.saved += produced.length
    turn.answers += produced.filter(({ role }) => role === "assistant").length
  }

  /** Stores what the steps produced and is not stored yet, with the tokens of each step. */
  private async saveSteps(
    turn: Turn,
    steps: ReadonlyArray<Step>,
    all: ReadonlyArray<ModelMessage> | undefined,
  ): Promise<void> {
    const own = ownMessages(steps)
    const ofSteps = own.flat()
    if (all !== undefined) turn.initial = all.length - ofSteps.length
    const before = all?.slice(0, turn.initial) ?? []
    const unknown = turn.initial - before.length
    const produced = [
      ...decoded(before),
      ...own.flatMap((messages, index) => {
        const usage = usageOf(steps[index]?.usage)
        return decoded(messages).map((message) =>
          message.role === "assistant" && usage !== undefined ? { ...message, usage } : message,
        )
      }),
    ]
    await this.save(turn, produced.slice(Math.max(turn.saved - unknown, 0)))
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
    this.inOrder(async () => {
      const turn = await this.current()
      if (await this.stored.isLeft(turn)) throw new BranchLeft({ session: this.id })
      await this.saveApproved(turn, step)
      await this.saveSteps(turn, step.steps, step.responseMessages)
      const steering = (step.experimental_steeringMessages ?? []).slice()
      if (steering.length > 0) {
        await this.store(decoded(steering), `ai-sdk/steering/${turn.id}/${step.stepNumber}`)
      }
      const { system, messages, prefix } = await this.read()
      turn.prefix = prefix
      turn.total = prefix.total
      return { ...this.instructed(turn, step, system), messages }
    })

  /** In versions 5 and 6, tools that had been approved run before the first step, and only its messages say so. */
  private async saveApproved(
    turn: Turn,
    { stepNumber, responseMessages, messages }: StepToPrepare,
  ): Promise<void> {
    if (stepNumber !== 0 || turn.saved > 0 || responseMessages !== undefined) return
    const results = messages.slice(turn.given).filter(({ role }) => role === "tool")
    await this.save(turn, decoded(results))
  }

  /** The system text, with instructions that the call has from elsewhere (such as an agent). Only version 7 passes them. */
  private instructed(
    turn: Turn,
    { initialInstructions: given }: StepToPrepare,
    system: string | undefined,
  ): { readonly system?: string } {
    if (given === undefined || given === null || given === turn.system) return joined(system)
    if (typeof given === "string") {
      const isBehind = turn.system !== undefined && given.endsWith(turn.system)
      const own = isBehind ? given.slice(0, -turn.system.length).trimEnd() : given
      return own === this.options.instructions ? joined(system) : joined(own, system)
    }
    // Only version 7 says its instructions, and it takes a list of system messages as well.
    const list = [given].flat().concat(system === undefined ? [] : [{ role: "system", content: system }])
    return { system: list as unknown as string }
  }

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
    this.inOrder(async () => {
      const turn = await this.current()
      if (isEndOfPage(event)) return this.savePage(turn, event)
      return this.saveSteps(turn, event.steps, event.responseMessages)
    })

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

  /** Stores what a message of a page has beyond what is stored of it. */
  private async savePage(turn: Turn, { responseMessage, isContinuation }: EndOfPage): Promise<void> {
    const answers = answersOf(responseMessage, await this.newest(), false)
    const produced = decoded([responseMessage])
    const skip = turn.answers + (isContinuation === true ? turn.earlier : 0)
    const ends = produced.flatMap(({ role }, index) => (role === "assistant" ? [index] : []))
    const from = ends[skip] ?? produced.length
    if (answers !== undefined) await this.save(turn, [answers])
    await this.save(turn, produced.slice(from))
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
    return modelMiddleware(
      {
        major: this.options.major,
        inOrder: (work) => this.inOrder(work),
        decode: decoded,
        newest: () => this.newest(),
        ask: async (messages, name) => {
          await this.store(messages, `ai-sdk/given/${name ?? randomId()}`)
          this.turn = undefined
        },
        save: async (messages, prefix) => {
          const turn = await this.current()
          turn.prefix = prefix
          await this.save(turn, messages)
        },
        takeBack: () => this.memory.regenerate(this.id),
        read: async () => {
          const context = await this.read()
          this.turn ??= await this.begin(context)
          this.turn.total = context.prefix.total
          return context
        },
        position: () => `${this.turn?.id} ${this.turn?.saved}`,
      },
      idempotencyKey,
    )
  }

  /**
   * The id of the answer on the page, for `generateMessageId` of `toUIMessageStreamResponse`. With it, the page and
   * {@link AiSdkSession.uiMessages} have the same id.
   */
  readonly generateMessageId = (): string => this.turn?.responseId ?? `msg-${randomId()}`

  /**
   * The context as it is now, with its layout and its size.
   *
   * @throws InvalidInput, LogError, DamagedEvent, Closed: as `context` of the memory
   */
  async context(): Promise<RenderedContext> {
    const { prefix: _prefix, ...context } = await this.read()
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
    return this.inOrder(() => this.store(decoded(list), idempotencyKey ?? `ai-sdk/given/${randomId()}`))
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
}

/** The sessions of a memory for the AI SDK. */
export interface AiSdkMemory {
  /** A session; it needs no set-up. */
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
export const aiSdk = (memory: Memory.AnyMemory, { major = 7 }: AiSdkOptions = {}): AiSdkMemory => {
  return { session: (id, options = {}) => new AiSdkSession(memory, id, { ...options, major }) }
}
