/** Says that a compaction waits until there is something to gain: once for each time that a session waits. */
import { Effect } from "effect"
import type { Due } from "../engine/look.js"
import { warn } from "../observe/logs.js"
import { contextTokens } from "../session/SessionState.js"

export class WaitingNotes {
  private readonly waiting = new Set<string>()

  /** Logs a warning if the compaction of the session has come to wait: only what stays keeps the context above the limit. */
  note(due: Due): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { session } = due.state
      if (due._tag === "Compact" || due.reason !== "nothing-to-gain") {
        if (due._tag === "Compact" || due.reason === "not-due") this.waiting.delete(session)
        return Effect.void
      }
      if (this.waiting.has(session)) return Effect.void
      this.waiting.add(session)
      return warn(
        "a compaction waits: the context would stay above its limit; tools, instructions and what stays verbatim take the room",
        { session, tokens: contextTokens(due.state) },
      )
    })
  }

  forget(session: string): void {
    this.waiting.delete(session)
  }
}
