/** Where a conversation may be cut (law L5), and where its rounds begin. */
import { type Message, Structure } from "@memfold/core"

export interface Boundaries {
  /** The nearest boundary at or before an index: the start of the group that it would cut. */
  readonly before: (index: number) => number
  /**
   * How many messages have to be there for a boundary to be seen as one: where a tool call was never
   * answered, only the user message after it tells that its group has ended.
   */
  readonly seenAt: (boundary: number) => number
  /** Where the newest round before an index begins; `null` where there is none. */
  readonly turnBefore: (index: number) => number | null
}

export const boundariesOf = (messages: ReadonlyArray<Message.Message>): Boundaries => {
  const groups: Array<number> = []
  const turns: Array<number> = []
  /** Whether calls wait for their results once so many messages are there. */
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
