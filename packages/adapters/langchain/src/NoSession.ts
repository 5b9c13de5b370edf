import { Schema } from "effect"

/** The middleware does not know which session a call of the agent belongs to. */
export class NoSession extends Schema.TaggedError<NoSession>()("NoSession", {}) {
  override get message(): string {
    return 'no session for this call of the agent: give invoke or stream { configurable: { thread_id: "…" } }, or middleware() a "session"'
  }
}
