/** About how much memory messages take: what is kept of them is bounded by their text, and not by their number alone. */
import type { Message } from "@memfold/message/Message"
import type { SessionState } from "../session/SessionState.js"

/** The length of a value, in UTF-16 code units, and something for the value itself. */
const lengthOf = (value: unknown): number =>
  typeof value === "string"
    ? value.length
    : typeof value === "object" && value !== null
      ? JSON.stringify(value).length
      : 8

/** About how long a message is, in UTF-16 code units. */
export const messageLength = ({ parts }: Message): number =>
  parts.reduce(
    (sum, part) => Object.values(part).reduce<number>((all, value) => all + lengthOf(value), sum),
    64,
  )

export const stateLength = ({ uncovered, pinned }: SessionState): number =>
  [...pinned, ...uncovered].reduce((sum, { message }) => sum + messageLength(message), 0)
