import { type Message, Structure } from "@memfold/core"

/** The messages of a round, `[from, to)` in the session. */
export interface Round {
  readonly from: number
  readonly to: number
  readonly messages: ReadonlyArray<Message.Message>
}

/**
 * Messages as rounds. What stands before the first of them is the rest of an earlier one, if the assistant or a tool
 * says anything there.
 */
export const rounds = (messages: ReadonlyArray<Message.Message>, from: number): ReadonlyArray<Round> => {
  const starts: Array<number> = []
  let structure = Structure.empty
  messages.forEach((message, position) => {
    const placed = Structure.place(structure, position, message)
    structure = placed.structure
    if (placed.startsRound) starts.push(position)
  })
  const [first = messages.length] = starts
  if (messages.slice(0, first).some(({ role }) => role !== "system")) starts.unshift(0)
  return starts.map((start, position) => {
    const end = starts[position + 1] ?? messages.length
    return { from: from + start, to: from + end, messages: messages.slice(start, end) }
  })
}
