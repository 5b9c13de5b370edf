/** What the AI SDK hands to its callbacks, as far as versions 5, 6 and 7 have it in common. */
import { isFields, randomId, usageOf as countedIn } from "@memfold/codec"
import type { ModelMessage, UIMessage } from "ai"
import { Effect } from "effect"

/** The token counts of a step. Some providers do not report them. */
export interface StepUsage {
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  /** Version 5 and 6. */
  readonly reasoningTokens?: number | undefined
  /** Version 6 and 7. */
  readonly outputTokenDetails?: { readonly reasoningTokens?: number | undefined } | undefined
}

/** A finished step: a call of the model, and its tools. */
export interface Step {
  readonly usage?: StepUsage
  readonly response: { readonly messages?: ReadonlyArray<ModelMessage> }
}

/** What `prepareStep` gets. */
export interface StepToPrepare {
  readonly steps: ReadonlyArray<Step>
  readonly stepNumber: number
  readonly messages: ReadonlyArray<ModelMessage>
  /** The model that is asked, or its name. */
  readonly model?: unknown
  /** Version 7: what was produced since the call began. */
  readonly responseMessages?: ReadonlyArray<ModelMessage>
  /** Version 7: the messages that the call began with. */
  readonly initialMessages?: ReadonlyArray<ModelMessage>
  /** Version 7: the instructions that the call began with. */
  readonly initialInstructions?: unknown
  /** Version 7: what the user said while the call ran. */
  readonly experimental_steeringMessages?: ReadonlyArray<ModelMessage>
}

/** The end of a call: an event of `onEnd`, `onFinish` or `onAbort`, or the result of `generateText`. */
export interface EndOfCall {
  readonly steps: ReadonlyArray<Step>
  /** Version 7, at the end of a call that was not aborted. */
  readonly responseMessages?: ReadonlyArray<ModelMessage>
}

/** The end of a stream for a page: an event of `toUIMessageStream` and `toUIMessageStreamResponse`. */
export interface EndOfPage {
  readonly responseMessage: UIMessage
  readonly isContinuation?: boolean
}

/** The usage of a step: the tokens that the model produced and that stay in the conversation, and the prompt's tokens. */
export const usageOf = (usage: StepUsage | undefined) => {
  const { inputTokens, outputTokens, outputTokenDetails, reasoningTokens } = usage ?? {}
  return countedIn(inputTokens, outputTokens, outputTokenDetails?.reasoningTokens ?? reasoningTokens).usage
}

const messagesOf = (step: Step): ReadonlyArray<ModelMessage> => step.response.messages ?? []

const same = (one: unknown, other: unknown): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other)

/**
 * The messages that each step produced. In versions 5 and 6, a step also lists the messages of the steps before it; in
 * version 7, only its own.
 */
export const ownMessages = (steps: ReadonlyArray<Step>): ReadonlyArray<ReadonlyArray<ModelMessage>> => {
  const all = steps.map(messagesOf)
  const grows = all.every((messages, index) => {
    const before = all[index - 1] ?? []
    return messages.length >= before.length && same(messages[0], before[0] ?? messages[0])
  })
  if (!grows) return all
  return all.map((messages, index) => messages.slice(all[index - 1]?.length ?? 0))
}

/** Whether an event is the end of a stream for a page. */
export const isEndOfPage = (event: EndOfCall | EndOfPage): event is EndOfPage =>
  "responseMessage" in event && isFields(event.responseMessage)

let [ofProcess, made] = ["", 0]

/** A name for an append, a call or an answer that has none. They are counted behind a random one: each call of an agent has one. */
export const newId = (): string => `${(ofProcess ||= Effect.runSync(randomId))}${made++}`
