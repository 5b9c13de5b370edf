import { Cause, Option, Predicate } from "effect"

/** The reason of a layer's failure, for a log line. Only typed errors are quoted: a thrown value may quote anything. */
export const describeFailure = (cause: Cause.Cause<unknown>): string =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => "it threw",
    onSome: (error) =>
      Predicate.hasProperty(error, "detail") && typeof error.detail === "string" ? error.detail : "it failed",
  })
