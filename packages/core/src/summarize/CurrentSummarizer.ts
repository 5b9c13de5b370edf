import { Context } from "effect"
import { make } from "./ExtractiveSummarizer.js"
import type { Service } from "./Summarizer.js"

/**
 * The summarizer in use. The default is the extractive one, which needs neither a network nor a model.
 *
 * @example
 * ```ts
 * import { CurrentSummarizer, ExtractiveSummarizer } from "@memfold/core"
 * import { Layer } from "effect"
 *
 * export const summarizer = Layer.succeed(CurrentSummarizer, ExtractiveSummarizer.make({ maxTokens: 400 }))
 * ```
 */
export class CurrentSummarizer extends Context.Reference<CurrentSummarizer>()("@memfold/core/Summarizer", {
  defaultValue: (): Service => make(),
}) {}
