/** Reads a conversation from its end. */
import type { Memory } from "@memfold/core"
import { present } from "./fields.js"

/** How a conversation is read from its end. */
export interface PagesBackOptions {
  /** How many messages a page has, or how many the next page has after this many messages. */
  readonly limit: number | ((read: number) => number)
  /** The id of the branch to read; the branch in force by default. */
  readonly branch?: number
}

/**
 * The pages of a conversation, the newest page first. A page is read when it is asked for.
 *
 * @param memory - what to read with
 * @param session - the id of the session
 * @param options - the size of the pages, and the branch
 *
 * @example
 * ```ts
 * import { pagesBack } from "@memfold/codec"
 * import { type Memory, Message } from "@memfold/core"
 *
 * export const newestQuestion = async (memory: Memory.Neutral, session: string) => {
 *   for await (const { messages } of pagesBack(memory, session, { limit: 50 })) {
 *     const question = messages.findLast(({ role }) => role === "user")
 *     if (question !== undefined) return Message.text(question)
 *   }
 * }
 * ```
 */
export async function* pagesBack(
  memory: Pick<Memory.Neutral, "messages">,
  session: string,
  { limit, branch }: PagesBackOptions,
): AsyncGenerator<Memory.MessagePage, void, void> {
  let read = 0
  for (let before: string | null | undefined; before !== null;) {
    const page: Memory.MessagePage = await memory.messages(session, {
      limit: typeof limit === "number" ? limit : limit(read),
      ...present({ branch, before }),
    })
    read += page.messages.length
    before = page.before
    yield page
  }
}
