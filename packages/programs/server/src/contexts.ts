/** Contexts as responses have them. */
import { formatContext, type FormatOptions, type Formats, type SystemMessages } from "@memfold/catalog"
import type { schemas } from "@memfold/client/api"
import type { Render } from "@memfold/core"

/** A context in a format. */
export const contextIn = (
  format: keyof Formats,
  whole: Render.Context & { readonly budget?: string | undefined },
  { systemMessages, ...form }: FormatOptions & { readonly systemMessages?: SystemMessages | undefined } = {},
): typeof schemas.Context.Type => {
  const { cacheMarks: _marks, sources: _sources, ...context } = whole
  const { messages, ...rest } = formatContext(format, whole, systemMessages, form)
  return { ...context, ...rest, messages: messages as schemas.Json }
}
