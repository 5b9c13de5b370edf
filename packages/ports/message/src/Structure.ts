/**
 * Groups and turns, found one message at a time.
 *
 * A *group* is an assistant message with calls and everything up to its last answer; nothing ever cuts it. Calls are tool
 * calls, and items of providers that another item answers (see `items.ts`). A *turn* reaches from a user message to just before the next one. Both are found as messages are appended, in constant
 * time per message: a policy never scans the history.
 */
import type { Message } from "./Message.js"
import { type OpenCall, pairMessage } from "./pairs.js"

export * from "./pairs.js"

/** The structure of a conversation after its newest message. Its size depends only on the number of open calls. */
export interface Structure {
  /** The incomplete group: the index at which it starts, and its open calls; `null` if no call is open. */
  readonly open: { readonly from: number; readonly calls: ReadonlyArray<OpenCall> } | null
  /**
   * The newest turn; `null` before the first user message.
   *
   * - `from`: the index at which it starts
   * - `answered`: whether it has an assistant message
   * - `ended`: whether its newest message is an assistant message
   */
  readonly turn: { readonly from: number; readonly answered: boolean; readonly ended: boolean } | null
}

/** The structure of an empty conversation. */
export const empty: Structure = { open: null, turn: null }

/**
 * Where the messages begin that wait for an answer of the client; `null` if none do. A model cannot go on before that answer.
 * What the provider answers waits for nobody: the next request brings it.
 */
export const waitsFrom = ({ open }: Structure): number | null =>
  open?.calls.some(({ item }) => item !== "provider") === true ? open.from : null

/** Whether the newest turn is complete: it ends with an assistant message, and no tool call is open. */
export const turnComplete = ({ open, turn }: Structure): boolean => turn?.ended === true && open === null

/** The place of a message in the conversation. */
export interface Placement {
  readonly structure: Structure
  /** The index at which the message's group starts; its own index if it belongs to no group. */
  readonly group: number
  /** Whether the message starts a turn. */
  readonly startsTurn: boolean
}

/**
 * Adds the next message to the structure.
 *
 * A user message closes all open calls: an abandoned call never blocks a compaction. Consecutive user messages
 * without an answer between them belong to one turn.
 *
 * @param structure the structure before the message
 * @param index the message index of the message
 *
 * @example
 * ```ts
 * import { Message, Structure } from "@memfold/message"
 *
 * const { structure } = Structure.addMessage(Structure.empty, 0, Message.user("Is it raining in Graz?"))
 * console.log(structure.turn?.ended) // false
 * ```
 */
export const addMessage = (structure: Structure, index: number, message: Message): Placement => {
  if (message.role === "user") {
    const { turn } = structure
    const continues = turn !== null && !turn.answered
    return {
      structure: { open: null, turn: { from: continues ? turn.from : index, answered: false, ended: false } },
      group: index,
      startsTurn: !continues,
    }
  }
  const { open: waiting } = pairMessage(structure.open?.calls ?? [], message)
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
