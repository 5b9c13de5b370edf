/** Contexts as responses have them. */
import { formattingInSteps, type FormatOptions, type Formats, type SystemMessages } from "@memfold/catalog"
import type { schemas } from "@memfold/client/api"
import type { Render } from "@memfold/core"
import { breathe, inSteps } from "@memfold/log/breathe"
import { Effect } from "effect"

/** A context in a format. Others have their turn while it is written, and before it is sent. */
export const contextIn = (
  format: keyof Formats,
  whole: Render.Context & { readonly budget?: string | undefined },
  { systemMessages, ...form }: FormatOptions & { readonly systemMessages?: SystemMessages | undefined } = {},
): Effect.Effect<typeof schemas.Context.Type> => {
  const { cacheMarks: _marks, sources: _sources, ...context } = whole
  const formatted = Effect.zipLeft(
    inSteps(() => formattingInSteps(format, whole, systemMessages, form)),
    breathe,
  )
  return Effect.map(formatted, ({ messages, ...rest }) => ({
    ...context,
    ...rest,
    messages: messages as schemas.Json,
  }))
}
