/** Contexts in the format of a memory. */
import { formatContext, type FormatOptions, type Formats, type SystemMessages } from "@memfold/catalog"
import type { Render } from "@memfold/core"
import type { FormattedContext } from "./PromiseMemory.js"

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
