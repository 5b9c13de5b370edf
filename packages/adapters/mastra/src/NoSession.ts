import { Schema } from "effect"

/** The processors do not know which session a call of the agent belongs to. */
export class NoSession extends Schema.TaggedError<NoSession>()("NoSession", {}) {
  override get message(): string {
    return 'no session for this call of the agent: give generate or stream { memory: { thread: "…", resource: "…" } }, or processors() a "session"'
  }
}
