/** What an append becomes: the events of new messages, and of a change of owner or title. */
import type { Event, GuardCounts, MessageAppended } from "../event/Event.js"
import type { Message } from "@memfold/message/Message"
import { addMessage } from "@memfold/message/Structure"
import type { Strategy } from "../policy/Strategy.js"
import { describe, type DescriptionChange } from "../session/description.js"
import { headsOf, type Origin } from "../session/prefix.js"
import type { SessionState } from "../session/SessionState.js"

/** A message with its tokens, and with the tokens of its bound parts if it has any. */
export interface CountedMessage {
  readonly message: Message
  readonly tokens: number
  readonly boundTokens?: number | undefined
  /** What a guard has left out of it. */
  readonly guarded?: GuardCounts | undefined
}

/**
 * The events of an append: each message with its index, its tokens, the pin of the strategy's rule, and the prefix behind
 * which its bound parts were produced. Only for bound parts, `origin` is asked for the request that produced the messages.
 */
export const messageEvents = (
  { pin }: Strategy,
  before: SessionState,
  counted: ReadonlyArray<CountedMessage>,
  origin: () => Origin = () => ({}),
): ReadonlyArray<MessageAppended> => {
  const heads = counted.some(({ boundTokens }) => boundTokens !== undefined)
    ? headsOf(
        before,
        counted.map(({ message }) => message),
        origin(),
      )
    : []
  let structure = before.structure
  return counted.map(({ message, tokens, boundTokens, guarded }, position) => {
    const index = before.total + position
    const pinned = pin?.pins(message, structure) === true
    structure = pin === undefined ? structure : addMessage(structure, index, message).structure
    const head = heads[position]
    const event = {
      _tag: "MessageAppended",
      index,
      message: pinned ? { ...message, pinned } : message,
      tokens,
      ...(guarded && { guarded }),
    } as const
    return boundTokens === undefined
      ? event
      : { ...event, bound: { tokens: boundTokens, ...(head === undefined ? {} : { head }) } }
  })
}

/**
 * The events of an append to a state: its messages, and the change of the session's owner or title, if there is one.
 *
 * @param before - the state that they are appended to
 * @param messages - the messages with their tokens
 * @param request - the strategy, the change, and what is known about the request that produced the messages
 */
export const appended = (
  before: SessionState,
  messages: ReadonlyArray<CountedMessage>,
  {
    strategy,
    description,
    origin,
  }: {
    readonly strategy: Strategy
    readonly description: DescriptionChange
    readonly origin: () => Origin
  },
): ReadonlyArray<Event> => [
  ...messageEvents(strategy, before, messages, origin),
  ...describe(before.description, description),
]
