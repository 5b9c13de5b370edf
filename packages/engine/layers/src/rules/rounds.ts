import { type Message, Structure } from "@memfold/core"

/** The messages of a turn; message indexes `[from, to)`. */
export interface Turn {
  readonly from: number
  readonly to: number
  readonly messages: ReadonlyArray<Message.Message>
}

/**
 * Splits messages into turns. Messages before the first user message are the rest of an earlier turn, unless all of
 * them are system messages.
 */
export const turns = (messages: ReadonlyArray<Message.Message>, from: number): ReadonlyArray<Turn> => {
  const starts: Array<number> = []
  let structure = Structure.empty
  messages.forEach((message, position) => {
    const placed = Structure.addMessage(structure, position, message)
    structure = placed.structure
    if (placed.startsTurn) starts.push(position)
  })
  const [first = messages.length] = starts
  if (messages.slice(0, first).some(({ role }) => role !== "system")) starts.unshift(0)
  return starts.map((start, position) => {
    const end = starts[position + 1] ?? messages.length
    return { from: from + start, to: from + end, messages: messages.slice(start, end) }
  })
}
