import { type Message, calls, results } from "@memfold/message/Message"
import { type OpenCall, pairMessage } from "@memfold/message/Structure"

/**
 * Finds orphans, which providers refuse: tool calls whose results do not follow at once, tool results without a call before
 * them, and items of providers without their pair: a `server_tool_use` without its result, an approval without its request.
 * A context may end with a call that the provider itself answers. Contexts that memfold renders have none (law L5). Use it in tests of your own contexts.
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
  let open: ReadonlyArray<OpenCall> = []
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
    const paired = pairMessage(open, message)
    const closed = paired.closed.filter(({ item }) => item !== undefined)
    if (closed.length > 0)
      found.push(`message ${position} of the context comes before the answers of ${closed.length} items`)
    if (paired.alone.some(({ type }) => type === "opaque"))
      found.push(`message ${position} of the context has an answer without its item`)
    open = paired.open
  })
  const unanswered = open.filter(({ item }) => item === "client").length
  if (unanswered > 0) found.push(`the context ends with ${unanswered} items without answers`)
  if (waiting.length > 0) found.push(`the context ends with ${waiting.length} calls without results`)
  return found
}
