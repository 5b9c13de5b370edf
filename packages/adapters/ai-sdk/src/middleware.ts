/** A middleware for language models: it stores what is new in a call, and asks the model with the context of the session. */
import { asStored, digest, type Fields, freeze, type StoredSession } from "@memfold/codec"
import { Message, type Session } from "@memfold/core"
import type { LanguageModelMiddleware } from "ai"
import type { Calls } from "./calls.js"
import type { Major } from "./encode.js"
import {
  answerOf,
  type CallParams,
  Collected,
  type Generated,
  openCalls,
  promptOf,
  type PromptMessage,
  usageOfCall,
} from "./modelCalls.js"
import { decoded } from "./page.js"
import { resentBehind } from "./resent.js"

/** An answer with calls: it is stored with their results, which the next step brings. */
interface Step {
  readonly message: PromptMessage
  readonly ids: string
  readonly usage: Message.Usage | undefined
  readonly prefix: Session.Prefix
  readonly position: string
}

interface ModelCall {
  readonly named: string
  readonly prefix: Session.Prefix
  isAnswered: boolean
}

const idsOf = (message: PromptMessage): string => JSON.stringify(openCalls(message))

const isSaid = ({ role }: PromptMessage): boolean => role !== "system"

const partsOf = (messages: ReadonlyArray<Message.Message>): string =>
  JSON.stringify(messages.map(({ role, parts }) => [role, parts]))

const endsWith = (
  stored: ReadonlyArray<Message.Message>,
  messages: ReadonlyArray<Message.Message>,
): boolean => messages.length > 0 && partsOf(stored.slice(-messages.length)) === partsOf(messages)

class Middleware {
  private step: Step | undefined
  private asked: ModelCall | undefined
  private readonly turns = new WeakMap<object, ModelCall>()

  constructor(
    private readonly stored: StoredSession,
    private readonly calls: Calls,
    private readonly major: Major,
    private readonly name: string | undefined,
  ) {}

  private decodedStep({ message, usage }: Step, given?: ReadonlyArray<PromptMessage>) {
    const messages = decoded(given ?? [message])
    return messages.map((one) => (one.role === "assistant" && usage !== undefined ? { ...one, usage } : one))
  }

  /** Stores what is new in the messages of a call: see {@link modelMiddleware}. */
  private async receive(given: ReadonlyArray<PromptMessage>, named: string): Promise<void> {
    const { step, asked } = this
    // The SDK tries a call again that failed.
    if (asked !== undefined && !asked.isAnswered && asked.named === named) return
    const last = given.findLastIndex(({ role }) => role === "assistant")
    const answer = given[last]
    if (answer !== undefined && step !== undefined && step.ids === idsOf(answer)) {
      this.step = undefined
      return this.calls.saveBehind(this.decodedStep(step, given.slice(last)), step.prefix)
    }
    // Of a call whose results nobody gave, such as the last one before a limit of steps.
    if (step !== undefined && step.position === this.calls.position()) {
      await this.calls.saveBehind(this.decodedStep(step), step.prefix)
    }
    this.step = undefined
    const idempotencyKey = this.name === undefined ? undefined : `ai-sdk/given/${this.name}/${named}`
    await this.stored.compare((session) => this.take(session, given, idempotencyKey))
    this.calls.end()
  }

  /** Stores what the session does not have of the messages of a call that begins. */
  private async take(
    session: StoredSession,
    given: ReadonlyArray<PromptMessage>,
    idempotencyKey: string | undefined,
  ): Promise<void> {
    const last = given.findLastIndex(({ role }) => role === "assistant")
    const answer = given[last]
    const stored = await session.newest()
    let from = last + 1
    if (stored.length === 0) from = 0
    else if (answer !== undefined && openCalls(answer).length > 0) {
      const parts = partsOf(decoded([answer]))
      if (!stored.some((message) => partsOf([message]) === parts)) from = last
    }
    const behind = await asStored(session, decoded(given.slice(from)))
    const isResult = behind.some(({ role }) => role === "tool")
    const isAgain = isResult && endsWith(stored, behind)
    const isAsked = answer !== undefined && from === last + 1 && !isResult && behind.length > 0
    const answers = isAsked ? await asStored(session, decoded([answer])) : []
    const said = answers.map(Message.text).join("")
    const resent = resentBehind(said, behind, stored)
    if (resent?.isAnswered === true) await session.memory.regenerate(session.id)
    const fresh = isAgain ? [] : behind.slice(resent?.known ?? 0)
    await session.append(fresh, { idempotencyKey })
  }

  async transform(params: CallParams, model: unknown): Promise<CallParams> {
    this.calls.contexts.meet(model)
    const given = params.prompt.filter(isSaid)
    const named = digest(JSON.stringify(freeze(given).json))
    return this.stored.inOrder(async () => {
      await this.receive(given, named)
      const { prefix, ...context } = await this.calls.ask()
      const own = params.prompt.filter((message) => !isSaid(message))
      const transformed = { ...params, prompt: promptOf(context, own, this.major) }
      this.asked = { named, prefix, isAnswered: false }
      this.turns.set(transformed, this.asked)
      return transformed
    })
  }

  /** Stores a whole answer, or keeps it until the results of its calls are there. */
  private answered(params: object, content: ReadonlyArray<Fields>, reported: unknown): Promise<void> {
    return this.stored.inOrder(async () => {
      const asked = this.turns.get(params)
      const message = answerOf(content)
      if (asked === undefined) return
      asked.isAnswered = true
      if (message === undefined) return
      const step: Step = {
        message,
        ids: idsOf(message),
        usage: usageOfCall(reported),
        prefix: asked.prefix,
        position: this.calls.position(),
      }
      if (openCalls(message).length > 0) this.step = step
      else await this.calls.saveBehind(this.decodedStep(step), asked.prefix)
    })
  }

  async generate<Result extends Generated>(params: object, call: () => PromiseLike<Result>): Promise<Result> {
    const result = await call()
    await this.answered(params, result.content, result.usage)
    return result
  }

  async stream<Result extends { readonly stream: ReadableStream<Fields> }>(
    params: object,
    call: () => PromiseLike<Result>,
  ): Promise<Result> {
    const result = await call()
    const collected = new Collected()
    const store = new TransformStream<Fields, Fields>({
      transform: async (chunk, controller) => {
        collected.add(chunk)
        // The SDK goes on as soon as it has the end.
        if (chunk["type"] === "finish" && collected.isWhole) {
          await this.answered(params, collected.content, collected.usage)
        }
        controller.enqueue(chunk)
      },
    })
    return { ...result, stream: result.stream.pipeThrough(store) }
  }
}

/**
 * The middleware of a session. What is new in a call:
 *
 * - all messages of the call, if none of them is an answer or the session is empty
 * - what follows its last answer otherwise. What the session has behind that answer is not new; if it has been answered, the
 *   call asks for another answer, and the first one is left on a branch
 * - in the next step of a tool loop, the answer with the calls and their results: as one append
 * - nothing, if it is a call that failed, tried again
 */
export const modelMiddleware = (
  stored: StoredSession,
  calls: Calls,
  major: Major,
  name: string | undefined,
): LanguageModelMiddleware => {
  const own = new Middleware(stored, calls, major, name)
  const middleware = {
    specificationVersion: `v${major - 3}`,
    transformParams: ({ params, model }: { readonly params: CallParams; readonly model?: unknown }) =>
      own.transform(params, model),
    wrapGenerate: ({
      doGenerate,
      params,
    }: {
      readonly doGenerate: () => PromiseLike<Generated>
      readonly params: object
    }) => own.generate(params, doGenerate),
    wrapStream: ({
      doStream,
      params,
    }: {
      readonly doStream: () => PromiseLike<{ readonly stream: ReadableStream<Fields> }>
      readonly params: object
    }) => own.stream(params, doStream),
  }
  // The types of each version differ in what is passed on here as it is.
  return middleware as unknown as LanguageModelMiddleware
}
