/** Reads a whole conversation. */
import type { Memory, Message } from "@memfold/core"

/** How many messages are read at a time. */
const pageSize = 500

/** The messages of a session since its last clear, covered ones included, and when each was written. */
export const allMessages = async (
  memory: Pick<Memory.Neutral, "messages">,
  session: string,
): Promise<{ readonly messages: ReadonlyArray<Message.Message>; readonly times: ReadonlyArray<number> }> => {
  const pages: Array<Memory.MessagePage> = []
  let before: string | null | undefined
  while (before !== null) {
    const page: Memory.MessagePage = await memory.messages(session, {
      limit: pageSize,
      ...(before === undefined ? {} : { before }),
    })
    pages.unshift(page)
    before = page.before
  }
  return { messages: pages.flatMap((page) => page.messages), times: pages.flatMap(({ times }) => times) }
}
