import { Schema } from "effect"
import { type Problem, problemLine } from "../transcript/source.js"

/**
 * A file is not a valid state of the given program. Nothing was written. The message is one line and never quotes the
 * conversation: `state.json: last_consolidated is 90, there are 60 messages`.
 *
 * - `line`: the line of the problem from 1, if known
 * - `problem`: the problem and what to do; `allowed`: the values that are allowed
 */
export class ImportError extends Schema.TaggedError<ImportError>()("ImportError", {
  file: Schema.String,
  line: Schema.optional(Schema.Positive),
  problem: Schema.String,
  allowed: Schema.optional(Schema.String),
}) {
  override get message(): string {
    return problemLine(this)
  }
}

/** Turns a problem into the error for this file. */
export const inFile =
  (file: string) =>
  (problem: Problem): ImportError =>
    new ImportError({ file, ...problem })

/** The session exists with other content. */
export class SessionTaken extends Schema.TaggedError<SessionTaken>()("SessionTaken", {
  session: Schema.String,
  events: Schema.Number,
}) {
  override get message(): string {
    const has = `session "${this.session}" has ${this.events} events of its own`
    return `${has}, and nothing was written; name another session with --session`
  }
}
