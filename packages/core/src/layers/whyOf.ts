import { Cause, Option, Predicate } from "effect"

/** Why a layer failed, for a log line: its own words where it has typed ones. What it threw may quote anything. */
export const whyOf = (cause: Cause.Cause<unknown>): string =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => "it threw",
    onSome: (error) =>
      Predicate.hasProperty(error, "detail") && typeof error.detail === "string" ? error.detail : "it failed",
  })
