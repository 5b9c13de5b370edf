/** The errors of commands. Each is one line on standard error: what is wrong, where, and what is allowed. */
import { Schema } from "effect"

/** The call is wrong: an argument, a file, or a combination of options. Exit code 2. */
export class UsageError extends Schema.TaggedError<UsageError>()("UsageError", {
  problem: Schema.String,
}) {
  override get message(): string {
    return this.problem
  }
}

/** A check has findings; they are printed already. Exit code 1. */
export class Findings extends Schema.TaggedError<Findings>()("Findings", {}) {}

/** A program that ran in the place of this one has ended with an exit code of its own; it has said why. */
export class Ended extends Schema.TaggedError<Ended>()("Ended", { code: Schema.Number }) {}
