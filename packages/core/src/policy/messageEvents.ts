import type { MessageAppended } from "../event/Event.js"
import type { Message } from "../message/Message.js"
import { addMessage } from "../message/Structure.js"
import type { SessionState } from "../session/SessionState.js"
import type { Strategy } from "./Strategy.js"

/** The events of an append: each message with its index, its tokens, and the pin of the strategy's rule. */
export const messageEvents = (
  { pin }: Strategy,
  before: SessionState,
  counted: ReadonlyArray<{ readonly message: Message; readonly tokens: number }>,
): ReadonlyArray<MessageAppended> => {
  let structure = before.structure
  return counted.map(({ message, tokens }, position) => {
    const index = before.total + position
    const pinned = pin?.pins(message, structure) === true
    structure = pin === undefined ? structure : addMessage(structure, index, message).structure
    return { _tag: "MessageAppended", index, message: pinned ? { ...message, pinned } : message, tokens }
  })
}
