/** Parts behind a result. */
import type { Message } from "@memfold/core"

/** What a message of a tool has behind one of its results, up to the next result: it is sent with that one. */
export const followingParts = ({ role, parts }: Message.Message, at: number): ReadonlyArray<Message.Part> => {
  let end = at + 1
  if (role === "tool") while (end < parts.length && parts[end]!.type !== "tool-result") end++
  return parts.slice(at + 1, end)
}
