import { Context } from "effect"
import { make } from "./ExtractiveSummarizer.js"
import type { Service } from "./Summarizer.js"

/** The summarizer in use. Without one provided, the extractive one: no network, no model. */
export class CurrentSummarizer extends Context.Reference<CurrentSummarizer>()("@memfold/core/Summarizer", {
  defaultValue: (): Service => make(),
}) {}
