/** What a transcript says about the calls of the program that recorded it. */
import type { Message } from "@memfold/core"

/**
 * A message without the size of the prompt that it answered: that prompt was one of the program that recorded the
 * transcript. The tokens of the message itself stay.
 *
 * @param message - The message, as it was recorded.
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 * import { withoutPromptSize } from "@memfold/lab"
 *
 * const { usage } = withoutPromptSize(Message.assistant("Yes.", { usage: { input: 9_000, output: 3 } }))
 * console.log(usage) // { output: 3 }
 * ```
 */
export const withoutPromptSize = (message: Message.Message): Message.Message =>
  message.usage === undefined ? message : { ...message, usage: { output: message.usage.output } }
