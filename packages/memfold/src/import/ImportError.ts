import { Schema } from "effect"
import type { Problem } from "../transcript/source.js"

/**
 * A file that is no state of the older program it was said to be from. One line, never with what was said:
 * `state.json: last_consolidated is 90, there are 60 messages`. Nothing was written.
 *
 * - `line`: from one, where the place is known
 * - `problem`: what is wrong and what to do, and `allowed`: what could stand there
 */
export class ImportError extends Schema.TaggedError<ImportError>()("ImportError", {
  file: Schema.String,
  line: Schema.optional(Schema.Positive),
  problem: Schema.String,
  allowed: Schema.optional(Schema.String),
}) {
  override get message(): string {
    const line = this.line === undefined ? "" : `:${this.line}`
    const allowed = this.allowed === undefined ? "" : `; allowed: ${this.allowed}`
    return `${this.file}${line}: ${this.problem}${allowed}`
  }
}

/** The error for a problem that was found in a file. */
export const inFile =
  (file: string) =>
  (problem: Problem): ImportError =>
    new ImportError({ file, ...problem })

/** The session has other content. An import makes a session; it goes into none that is there already. */
export class SessionTaken extends Schema.TaggedError<SessionTaken>()("SessionTaken", {
  session: Schema.String,
  events: Schema.Number,
}) {
  override get message(): string {
    const has = `session "${this.session}" has ${this.events} events of its own`
    return `${has}, and nothing was written; name another session with --session`
  }
}
