import type { Message } from "../message/Message.js"
import { calls, results } from "../message/Message.js"

/**
 * Finds orphans, which providers refuse: tool calls whose results do not follow at once, and tool results without a call
 * before them. Contexts that memfold renders have none (law L5). Use it in tests of your own contexts.
 *
 * @param messages - The messages of a context.
 * @returns One sentence for each orphan, without text of the conversation.
 *
 * @example
 * ```ts
 * import { Message, orphans } from "@memfold/core"
 *
 * console.log(orphans([Message.user("Hello")])) // []
 * ```
 */
export const orphans = (messages: ReadonlyArray<Message>): ReadonlyArray<string> => {
  const found: Array<string> = []
  let waiting: Array<string> = []
  messages.forEach((message, position) => {
    const answers = results(message)
    if (answers.length === 0 && waiting.length > 0) {
      found.push(`message ${position} of the context comes before the results of ${waiting.length} calls`)
      waiting = []
    }
    for (const { id } of answers) {
      const at = waiting.indexOf(id)
      if (at === -1) found.push(`message ${position} of the context is a result without its call`)
      else waiting.splice(at, 1)
    }
    waiting.push(...calls(message).map((call) => call.id))
  })
  if (waiting.length > 0) found.push(`the context ends with ${waiting.length} calls without results`)
  return found
}
