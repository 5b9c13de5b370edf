/** Where a conversation may be cut without cutting a group of tool calls, and where its turns begin. */
import { type Message, Structure } from "@memfold/core"

export interface Boundaries {
  /** The nearest boundary at or before an index. Inside a group, that is the start of the group. */
  readonly before: (index: number) => number
  /**
   * How many messages are needed to recognize a boundary: a group with an open call ends only with the next user
   * message.
   */
  readonly seenAt: (boundary: number) => number
  /** Where the newest turn before an index begins; `null` if there is none. */
  readonly turnBefore: (index: number) => number | null
}

export const boundariesOf = (messages: ReadonlyArray<Message.Message>): Boundaries => {
  const groups: Array<number> = []
  const turns: Array<number> = []
  /** Whether there are open calls after this many messages. */
  const waiting = [false]
  let structure = Structure.empty
  messages.forEach((message, index) => {
    const placed = Structure.addMessage(structure, index, message)
    structure = placed.structure
    groups.push(placed.group)
    waiting.push(structure.open !== null)
    if (placed.startsTurn) turns.push(index)
  })
  return {
    before: (index) => groups[index] ?? structure.open?.from ?? messages.length,
    seenAt: (boundary) => (waiting[boundary] === true ? boundary + 1 : boundary),
    turnBefore: (index) => turns.findLast((start) => start < index) ?? null,
  }
}
