/**
 * Groups and rounds, found one message at a time.
 *
 * A *group* is the smallest unit a boundary may not cut: an assistant message with tool calls and everything up
 * to its last result. A *round* reaches from a user message to just before the next one. Both are found while
 * messages arrive, in constant time, so that a policy never has to look back over the history.
 */
import type { Message } from "./Message.js"
import { calls, results } from "./Message.js"

/** A call that still waits for its result. */
export interface OpenCall {
  readonly id: string
  readonly name: string
}

/** What has to be remembered between two messages. It stays as small as the calls that are open. */
export interface Structure {
  /** The group that waits for results, and which. */
  readonly open: { readonly from: number; readonly calls: ReadonlyArray<OpenCall> } | null
  /** The newest round: whether the assistant has said anything in it, and whether its newest message is that. */
  readonly turn: { readonly from: number; readonly answered: boolean; readonly ended: boolean } | null
}

/** Before the first message. */
export const empty: Structure = { open: null, turn: null }

/** Whether the newest round is complete: it ends with an assistant message that has no open call. */
export const turnComplete = ({ open, turn }: Structure): boolean => turn?.ended === true && open === null

/** Where a message belongs. */
export interface Placement {
  readonly structure: Structure
  /** The index at which the message's group starts; its own index when it stands alone. */
  readonly group: number
  /** Whether a round starts here. */
  readonly startsTurn: boolean
}

/**
 * The call a result answers: the oldest open one with its id, since ids get reused; a result without an id goes
 * to the oldest open call of its name, or simply the oldest. `-1` when it answers none: it came late, twice, or
 * was never asked for.
 */
export const answeredCall = (
  open: ReadonlyArray<OpenCall>,
  result: { readonly id: string; readonly name?: string | undefined },
): number => {
  if (result.id !== "") return open.findIndex((call) => call.id === result.id)
  const named = open.findIndex((call) => call.name === result.name)
  return named === -1 && open.length > 0 ? 0 : named
}

/**
 * Places the next message.
 *
 * A user message closes whatever is open: a call unanswered by then is dead and never blocks a compaction. User
 * messages in a row, before any answer, open one round together.
 */
export const addMessage = (structure: Structure, index: number, message: Message): Placement => {
  if (message.role === "user") {
    const { turn } = structure
    const goesOn = turn !== null && !turn.answered
    return {
      structure: { open: null, turn: { from: goesOn ? turn.from : index, answered: false, ended: false } },
      group: index,
      startsTurn: !goesOn,
    }
  }
  const waiting = [...(structure.open?.calls ?? [])]
  for (const result of results(message)) {
    const at = answeredCall(waiting, result)
    if (at !== -1) waiting.splice(at, 1)
  }
  for (const call of calls(message)) waiting.push({ id: call.id, name: call.name })
  const group = structure.open?.from ?? index
  const ended = message.role === "assistant"
  return {
    structure: {
      open: waiting.length > 0 ? { from: group, calls: waiting } : null,
      turn: structure.turn && { ...structure.turn, answered: structure.turn.answered || ended, ended },
    },
    group,
    startsTurn: false,
  }
}
