/** A page that shows a branch which the conversation has left. */
import type { Memory, Message } from "@memfold/core"
import { branchWith } from "./leftBranch.js"
import type { StoredSession } from "./StoredSession.js"

/**
 * Goes back to the newest branch with a message that a page shows, if the branch in force does not have the message: another page has
 * left that branch, or the page shows an earlier state again. Returns whether it did.
 *
 * @param isShown - whether a message is the shown one, by its index on its branch
 * @param newest - the messages of the branch in force that were read
 *
 * @example
 * ```ts
 * import { goBack, type StoredSession } from "@memfold/codec"
 * import { Message } from "@memfold/core"
 *
 * export const showAgain = async (session: StoredSession, answer: string) =>
 *   goBack(session, (message) => Message.text(message) === answer, await session.newestPage())
 * ```
 */
export const goBack = async (
  { memory, id }: StoredSession,
  isShown: (message: Message.Message, index: number) => boolean,
  { messages, from }: Pick<Memory.MessagePage, "messages" | "from">,
): Promise<boolean> => {
  if (messages.some((one, position) => isShown(one, from + position))) return false
  const branch = await branchWith(memory, id, isShown)
  if (branch === undefined) return false
  await memory.checkout(id, branch)
  return true
}
