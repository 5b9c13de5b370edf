/** The middleware: an agent whose context is a stored session. */
import type { BaseMessage } from "@langchain/core/messages"
import { isFields, randomId } from "@memfold/codec"
import { Memory, type Session } from "@memfold/core"
import { type AgentMiddleware, createMiddleware, type Runtime } from "langchain"
import { Effect } from "effect"
import { instructed } from "./instructed.js"
import { recipientFor } from "./model.js"
import { NoSession } from "./NoSession.js"
import { LangChainSession } from "./session.js"

/** What a middleware is told about a call of the agent. */
export type AgentRuntime = Pick<Runtime, "context"> & {
  readonly configurable?: { readonly thread_id?: string; readonly [key: string]: unknown }
}

/**
 * Options of {@link memfold}.
 *
 * - `memory`: a memory of `createMemory` in any format, or the service of `@memfold/core`
 * - `session`: the id of the session, or a function of the call's runtime; `configurable.thread_id` by default
 */
export interface MemfoldOptions {
  readonly memory: Memory.AnyMemory
  readonly session?: string | ((runtime: AgentRuntime) => string | undefined)
}

/** The answer of a model, alone or with a structured response beside it. */
const answerOf = (response: unknown): BaseMessage | undefined => {
  if (!isFields(response)) return undefined
  const { messages } = response
  return (Array.isArray(messages) ? messages[0] : response) as BaseMessage | undefined
}

/** The prefixes of answers that are not stored yet, by the answers' ids. Failed calls leave prefixes behind. */
class Prefixes {
  private readonly prefixes = new Map<string, Session.Prefix>()
  private static readonly most = 1_000

  set(id: string, prefix: Session.Prefix): void {
    const [oldest] = this.prefixes.keys()
    if (oldest !== undefined && this.prefixes.size >= Prefixes.most) this.prefixes.delete(oldest)
    this.prefixes.set(id, prefix)
  }

  readonly get = (id: string | undefined): Session.Prefix | undefined =>
    id === undefined ? undefined : this.prefixes.get(id)

  forget(messages: ReadonlyArray<BaseMessage>): void {
    for (const { id } of messages) if (id !== undefined) this.prefixes.delete(id)
  }
}

/**
 * A middleware for `createAgent` that gives an agent a durable, compacted session: in place of `summarizationMiddleware`,
 * and without a checkpointer. Before each call of the model it stores what is new in the state of the graph, and hands the
 * model the context of the session. The state is left alone: without a checkpointer it has the messages of this call only.
 *
 * Put it in front of the other middleware, so that they see the context. An answer with calls is stored with their results,
 * so a process that is killed while a tool runs loses that step, and `invoke({ messages: [] })` goes on before it.
 *
 * @param options the memory, and which session a call belongs to
 * @throws NoSession: a call of the agent has no `thread_id`, and there is no `session`
 * @throws LangChainDecodeError: the state has a message that is none of LangChain; nothing of it was stored
 * @throws InvalidInput, LogError, DamagedEvent, Closed: as `append` and `context` of the memory. LangChain wraps all of them in
 *   a `MiddlewareError`; the error itself is its `cause`
 * @throws InvalidOption: the value is no memory
 *
 * @example
 * ```ts
 * import { memfold } from "@memfold/langchain"
 * import { createAgent, HumanMessage } from "langchain"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({ store: "sqlite:chats.db" })
 * const agent = createAgent({ model: "openai:gpt-6.2-sol", middleware: [memfold({ memory })] })
 * await agent.invoke(
 *   { messages: [new HumanMessage("My order is KX-4471.")] },
 *   { configurable: { thread_id: "chat-1" } },
 * )
 * await memory.close()
 * ```
 */
export const memfold = ({
  memory,
  session,
}: MemfoldOptions): AgentMiddleware<undefined, undefined, unknown, readonly []> => {
  // A mistake is found where it is made, and not in the first call of the agent.
  Memory.neutralOf(memory)
  const prefixes = new Prefixes()
  const sessionOf = (runtime: AgentRuntime): LangChainSession => {
    const id = typeof session === "function" ? session(runtime) : (session ?? runtime.configurable?.thread_id)
    if (id === undefined || id === "") throw new NoSession()
    return new LangChainSession(memory, id)
  }
  /** The states that a call of the model was tried with. A further try removes nothing: others may have said something. */
  const tried = new WeakSet<ReadonlyArray<BaseMessage>>()
  const save = async (chat: LangChainSession, state: ReadonlyArray<BaseMessage>, mayBegin: boolean) => {
    await chat.save(state, { prefixOf: prefixes.get, mayBegin })
    prefixes.forget(state)
  }
  return createMiddleware({
    name: "memfold",
    wrapModelCall: async (request, handler) => {
      const chat = sessionOf(request.runtime)
      const recipient = await recipientFor(request.model)
      const context = await chat.inOrder(async () => {
        const { messages: state } = request.state
        await save(chat, state, !tried.has(state))
        tried.add(state)
        return chat.read(recipient)
      })
      const { messages, prefix } = context
      const response = await handler({ ...request, ...instructed(request.systemMessage, context), messages })
      const answer = answerOf(response)
      if (answer?.id !== undefined) {
        // Some servers give each answer one id. For the state of a graph, and in the session, it would be the earlier answer again.
        if (await chat.isTaken(answer.id, request.state.messages))
          answer.id = await Effect.runPromise(randomId)
        prefixes.set(answer.id, prefix)
      }
      return response
    },
    afterAgent: async (state, runtime) => {
      const chat = sessionOf(runtime)
      await chat.inOrder(() => save(chat, state.messages, false))
    },
  }) as AgentMiddleware<undefined, undefined, unknown, readonly []>
}
