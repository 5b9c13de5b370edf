import type { Message } from "../message/Message.js"
import { calls, results } from "../message/Message.js"

/**
 * What a provider would refuse in these messages: calls whose results do not follow at once, and results that
 * answer none of the calls before them. Empty for every context memfold renders (law L5).
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
