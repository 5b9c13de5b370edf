/**
 * A summarizer for tests, and for reading what a policy does: the summary is the range it covers.
 *
 * Coverage, loss and duplication can then be asserted on the text alone.
 */
import { Effect } from "effect"
import type { Service } from "./Summarizer.js"

/**
 * The echo summarizer: `[0,12)` for the messages 0 to 11, including whatever a summary so far covered.
 *
 * The text takes a few tokens; with messages shorter than that, it is refused as not smaller like any other.
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
  summarize: ({ from, to }) => Effect.succeed({ text: `[${from},${to})` }),
})
