/** Reads a whole conversation. */
import type { Memory } from "@memfold/core"
import type { Message } from "@memfold/message"
import { pagesBack } from "./pagesBack.js"

/** The messages of a session since its last clear, covered ones included, and when each was written. */
export const allMessages = async (
  memory: Pick<Memory.Neutral, "messages">,
  session: string,
): Promise<{ readonly messages: ReadonlyArray<Message.Message>; readonly times: ReadonlyArray<number> }> => {
  const pages: Array<Memory.MessagePage> = []
  for await (const page of pagesBack(memory, session, { limit: 500 })) pages.unshift(page)
  return { messages: pages.flatMap((page) => page.messages), times: pages.flatMap(({ times }) => times) }
}
