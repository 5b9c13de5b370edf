/**
 * How a command ends badly: one line on standard error that says what is wrong, where, and what is allowed.
 */
import { Schema } from "effect"

/** Something about the call itself is wrong: an argument, a file, a combination. Exit code 2. */
export class UsageError extends Schema.TaggedError<UsageError>()("UsageError", {
  problem: Schema.String,
}) {
  override get message(): string {
    return this.problem
  }
}

/** A check ran and found something, which has been printed. Exit code 1. */
export class Found extends Schema.TaggedError<Found>()("Found", {}) {}
