/** The processors: an agent whose context is a stored session. */
import { BranchLeft, type PlaceOfCall } from "@memfold/codec"
import { Memory, type Session } from "@memfold/core"
import type { MastraDBMessage, MessageList } from "@mastra/core/agent"
import type { InputProcessor, OutputProcessor, Processor } from "@mastra/core/processors"
import type { RequestContext } from "@mastra/core/request-context"
import { NoSession } from "./NoSession.js"
import type { Target } from "./prompt.js"
import { type GivenMessage, MastraSession, type RenderedPrompt } from "./session.js"

/** What {@link MemfoldOptions.session} is told about a call of the agent. */
export interface AgentCall {
  readonly threadId: string | undefined
  readonly resourceId: string | undefined
  readonly requestContext: RequestContext | undefined
}

/**
 * Options of {@link memfold}.
 *
 * - `memory`: a memory of `createMemory` in any format, or the service of `@memfold/core`
 * - `session`: the id of the session, or a function of the call; the id of the thread by default
 */
export interface MemfoldOptions {
  readonly memory: Memory.AnyMemory
  readonly session?: string | ((call: AgentCall) => string | undefined)
}

/** What {@link memfold} gives an agent. */
export interface MemfoldProcessors {
  readonly inputProcessors: Array<InputProcessor>
  readonly outputProcessors: Array<OutputProcessor>
}

/**
 * Makes errors readable in Mastra, which writes an error of Effect as its JSON, without the message.
 *
 * @returns what the work returns; if the work throws, its error is the `cause` of a plain error
 */
const legible = async <A>(work: () => Promise<A>): Promise<A> => {
  try {
    return await work()
  } catch (cause) {
    if (!(cause instanceof Error) || !("_tag" in cause)) throw cause
    throw Object.assign(new Error(cause.message, { cause }), { name: cause.name })
  }
}

/** What a call of the agent has from one step to the next. */
interface CallState {
  prefix?: Session.Prefix
  /** The ids of the messages that the application sent. */
  sent?: ReadonlySet<string>
  /** The ids of messages that the application sent again without the ids that the session has. */
  known?: ReadonlySet<string>
  /** The ids of messages that another page has sent, and this one did not see. */
  unseen?: ReadonlyArray<string> | undefined
  place?: PlaceOfCall
  signal?: AbortSignal
}

const textOf = (message: MastraDBMessage | undefined): string | undefined => {
  const last = message?.role === "assistant" ? message.content.parts.at(-1) : undefined
  return last?.type === "text" ? last.text : undefined
}

/** Mastra adds what a model said before it was aborted as a message of its own, even if the list has it. */
const withoutEcho = (given: ReadonlyArray<GivenMessage>): ReadonlyArray<GivenMessage> => {
  const [before, last] = given.slice(-2).map(({ message }) => message)
  const text = textOf(last)
  return text !== undefined && last?.content.parts.length === 1 && text === textOf(before)
    ? given.slice(0, -1)
    : given
}

/** Stores the messages of a call, without messages that Mastra's own memory added. */
const save = async (
  chat: MastraSession,
  list: MessageList,
  call: CallState,
  ended: boolean,
): Promise<void> => {
  const { getSource } = list.makeMessageSourceChecker()
  const all = list.get.all.db()
  // What the model adds to such a message makes it one of the model for Mastra.
  const sent =
    call.sent ??
    new Set(all.filter((message) => getSource(message) !== "response").map((message) => message.id))
  const given = await chat.given(all.filter((message) => getSource(message) !== "memory"))
  // A call that goes on after an approval, in any process, has its own answer in the list. Nobody sent that list.
  const goesOn = given.some(
    ({ message, messages }) => getSource(message) === "response" && messages.length > 0,
  )
  const compared = { known: call.known, unseen: call.unseen }
  if (compared.known === undefined) {
    const { known, unseen } = goesOn ? { known: [] } : await chat.receive(given)
    Object.assign(compared, { known: new Set(known), unseen })
  }
  const own = given.filter(({ id }) => compared.known?.has(id) !== true)
  const messages = call.signal?.aborted === true ? withoutEcho(own) : own
  await chat.save(messages, { sent, unseen: compared.unseen, ended, prefix: call.prefix })
  // Behind the write: what was compared with an older session is compared again.
  Object.assign(call, { ...compared, sent })
}

/** Ends a call whose question was edited meanwhile, or that is to be answered anew. */
const refuseLeft = async (chat: MastraSession, { place }: CallState): Promise<void> => {
  if (place !== undefined && (await chat.isLeft(place))) throw new BranchLeft({ session: chat.id })
}

/**
 * Processors that give an agent of Mastra a durable, compacted session; the agent needs no `memory` of Mastra. Before each
 * call of the model they store the new messages, and the prompt becomes the instructions of the agent and the context of the
 * session. The processors leave the message list of the call alone, so a call streams and returns what it would without them.
 *
 * Put processors that change the user's message before `inputProcessors`, and processors that change the answer before
 * `outputProcessors`: then the session has the changed texts. A step is stored with the results of its calls. So a process
 * that is killed while a tool runs loses that step, and `stream([])` continues before it.
 *
 * @param options the memory, and which session a call belongs to
 * @throws NoSession: a call of the agent has no thread, and there is no `session`
 * @throws MastraDecodeError: the call has a message that is none of Mastra; nothing of it was stored
 * @throws BranchLeft: the user edited the question while the model answered, or asked for another answer; the call ends
 * @throws InvalidInput, LogError, DamagedEvent, Closed: as `append` and `context` of the memory. `generate` throws all of them;
 *   `stream` has them in the stream and in `error`
 * @throws InvalidOption: the value is no memory
 *
 * @example
 * ```ts
 * import { Agent } from "@mastra/core/agent"
 * import { memfold } from "@memfold/mastra"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({ store: "sqlite:chats.db" })
 * const agent = new Agent({
 *   id: "support",
 *   name: "Support",
 *   instructions: "Be brief.",
 *   model: "openai/gpt-6.2-sol",
 *   ...memfold({ memory }),
 * })
 * await agent.generate("My order is KX-4471.", { memory: { thread: "chat-1", resource: "user-1" } })
 * await memory.close()
 * ```
 */
export const memfold = ({ memory, session }: MemfoldOptions): MemfoldProcessors => {
  // A mistake is found where it is made, and not in the first call of the agent.
  Memory.neutralOf(memory)
  const sessionOf = (list: MessageList, requestContext: RequestContext | undefined): MastraSession => {
    const { memoryInfo } = list.serialize()
    const call = { threadId: memoryInfo?.threadId, resourceId: memoryInfo?.resourceId, requestContext }
    const id = typeof session === "function" ? session(call) : (session ?? call.threadId)
    if (id === undefined || id === "") throw new NoSession()
    return new MastraSession(memory, id)
  }
  // One processor in both lists would be a step of Mastra's workflow in each of them. By their id, both have one state.
  const named = { id: "memfold", name: "memfold" } as const
  const input = {
    ...named,
    processLLMRequest: ({ prompt, model, messageList, requestContext, state, abortSignal }) =>
      legible(async () => {
        if (messageList === undefined) throw new NoSession()
        const chat = sessionOf(messageList, requestContext)
        const call = state as CallState
        if (abortSignal !== undefined) call.signal = abortSignal
        const context = await chat.inOrder(async () => {
          await chat.compare(async (session) => {
            await refuseLeft(session, call)
            await save(session, messageList, call, false)
          })
          const read = await chat.read(model)
          const branch = call.place?.branch ?? (await chat.known.branch())
          call.place = { branch, total: read.prefix.total }
          return read
        })
        call.prefix = context.prefix
        const instructions = prompt.filter(({ role }) => role === "system")
        return { prompt: [...instructions, ...context.prompt] }
      }),
  } satisfies Processor<"memfold">
  const output = {
    ...named,
    processOutputResult: ({ messageList, requestContext, state }) =>
      legible(async () => {
        const chat = sessionOf(messageList, requestContext)
        const call = state as CallState
        await chat.inOrder(() =>
          chat.compare(async (session) => {
            const { place } = call
            if (place === undefined || !(await session.isLeft(place)))
              await save(session, messageList, call, true)
          }),
        )
        return messageList
      }),
  } satisfies Processor<"memfold">
  return { inputProcessors: [input], outputProcessors: [output] }
}

/**
 * The whole conversation of a session, covered messages included, as Mastra's messages: for a page, or for an export.
 *
 * @throws InvalidInput, LogError, DamagedEvent, Closed: as `messages` of the memory
 *
 * @example
 * ```ts
 * import { messagesOf } from "@memfold/mastra"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({ store: "sqlite:chats.db" })
 * console.log((await messagesOf(memory, "chat-1")).length)
 * await memory.close()
 * ```
 */
export const messagesOf = (memory: Memory.AnyMemory, session: string): Promise<Array<MastraDBMessage>> => {
  const chat = new MastraSession(memory, session)
  return chat.inOrder(() => chat.all())
}

/**
 * The context of a session as a model would get it now, without the instructions of the agent, with its layout and its size.
 *
 * @param target the model that it is for; by default one of Anthropic that reads no files by their address
 * @throws InvalidInput, LogError, DamagedEvent, Closed: as `context` of the memory
 *
 * @example
 * ```ts
 * import { contextOf } from "@memfold/mastra"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({ store: "sqlite:chats.db" })
 * const { prompt, layout, tokens } = await contextOf(memory, "chat-1")
 * console.log(prompt.length, layout, tokens)
 * await memory.close()
 * ```
 */
export const contextOf = async (
  memory: Memory.AnyMemory,
  session: string,
  target: Target = { specificationVersion: "v4", provider: "anthropic", supportedUrls: {} },
): Promise<RenderedPrompt> => {
  const chat = new MastraSession(memory, session)
  const { prefix: _prefix, ...context } = await chat.inOrder(() => chat.read(target))
  return context
}
