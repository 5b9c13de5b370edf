/** The port of summarizers, as users of the package see it. */
export { chain, Summarizer, SummarizerError, withFallback } from "./summarize/Summarizer.js"
export type { Conversation, Request, Result, Service, WholeContext } from "./summarize/Summarizer.js"
export { budget } from "./summarize/budget.js"
export type { Size } from "./summarize/budget.js"
