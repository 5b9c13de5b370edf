/** A conversation that is sent again without ids: what of it is stored is known by what it says. */
import { Message } from "@memfold/core"
import { isAnswer, isUnfinished } from "@memfold/codec"

/** What a session has of the messages behind an answer. */
export interface Resent {
  readonly known: number
  /** Whether the newest of them has been answered: then another answer is asked for. */
  readonly isAnswered: boolean
}

/** What a message says, whatever a provider or a library noted beside it. */
const saidIn = ({ role, parts }: Message.Message): string =>
  JSON.stringify([
    role,
    parts.flatMap(({ providerData: _noted, ...part }: Message.Part) =>
      part.type === "opaque" ? [] : [part],
    ),
  ])

/**
 * Compares messages behind an answer with what a session has behind that answer.
 *
 * @param answer - the text of the answer
 * @param given - the messages behind it
 * @param stored - the newest stored messages
 * @returns `null` if none of the stored messages is the answer
 */
export const resentBehind = (
  answer: string,
  given: ReadonlyArray<Message.Message>,
  stored: ReadonlyArray<Message.Message>,
): Resent | null => {
  const at = stored.findLastIndex((one) => one.role === "assistant" && Message.text(one) === answer)
  if (at === -1 || answer === "") return null
  const behind = stored.slice(at + 1)
  const end = given.findIndex(
    (message, position) => behind[position] === undefined || saidIn(message) !== saidIn(behind[position]),
  )
  const known = end === -1 ? given.length : end
  const others = behind.slice(known)
  if (others.length === 0) return { known, isAnswered: false }
  // Whoever sends examples with each call asks something else, or asks it again much later.
  if (known === 0 || !others.every(isAnswer)) return { known: 0, isAnswered: false }
  return { known, isAnswered: !isUnfinished(others) }
}
