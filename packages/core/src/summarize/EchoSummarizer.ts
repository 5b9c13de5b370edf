/**
 * A summarizer for tests: the text of a summary is the range of messages that it covers. Tests can check coverage, loss
 * and duplication on that text.
 */
import { Effect } from "effect"
import type { Service } from "./Summarizer.js"

/**
 * Makes the echo summarizer. It writes `[0,12)` for the messages 0 to 11, including messages that the previous summary
 * covered.
 *
 * The text takes a few tokens. Like any other summary, it is refused as not smaller if the messages are even shorter.
 *
 * @example
 * ```ts
 * import { EchoSummarizer } from "@memfold/core"
 *
 * const summarizer = EchoSummarizer.make()
 * console.log(summarizer.name) // "echo"
 * ```
 */
export const make = (): Service => ({
  name: "echo",
  isFree: true,
  maxInputTokens: Number.POSITIVE_INFINITY,
  summarize: ({ from, to }) => Effect.succeed({ text: `[${from},${to})` }),
})
