/** Operations that look at a memory and change nothing. */
import {
  formatContext,
  type FormatOptions,
  type Formats,
  summarizerOf,
  type SystemMessages,
} from "@memfold/catalog"
import type { Memory, Render } from "@memfold/core"
import type { Run } from "./lifeCycle.js"
import type { FormattedContext, PromiseMemory, RequestOptions } from "./PromiseMemory.js"

/** Contexts in the format of a memory. */
export const contextsIn =
  <Format extends keyof Formats, System extends SystemMessages>(format: Format, systemMessages: System) =>
  (context: Render.Context, options?: FormatOptions): FormattedContext<Format, System> => {
    const { messages: _messages, sources: _sources, cacheMarks: _marks, ...rest } = context
    return { ...rest, ...formatContext(format, context, systemMessages, options) } as FormattedContext<
      Format,
      System
    >
  }

/** The operations that look. */
export const lookingOperations = <Format extends keyof Formats, System extends SystemMessages>({
  run,
  requested,
  formatted,
}: {
  readonly run: Run<Memory.Service>
  /** The options of one call, in the form that the engine takes. */
  readonly requested: (given: RequestOptions) => Memory.StrategyOptions
  readonly formatted: (context: Render.Context) => FormattedContext<Format, System>
}): Pick<PromiseMemory<Format, System>, "preview" | "timeline" | "trace" | "traceMessage"> => ({
  trace: (session, what) => run((memory) => memory.trace(session, what)),
  traceMessage: (session, message) => run((memory) => memory.traceMessage(session, message)),
  timeline: (session) => run((memory) => memory.timeline(session)),
  preview: async (session, { summarizer, ...given } = {}) => {
    const { before, after, ...preview } = await run((memory) =>
      memory.preview(session, {
        ...requested(given),
        ...(summarizer === undefined ? {} : { summarizer: summarizerOf(summarizer) }),
      }),
    )
    return { ...preview, before: formatted(before), after: formatted(after) }
  },
})
