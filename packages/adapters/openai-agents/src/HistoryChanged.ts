import { Schema } from "effect"

/**
 * The session does not end with the items that a change expects: another run has added to it, or it was changed already.
 * Nothing was changed. Read the items again and decide again.
 */
export class HistoryChanged extends Schema.TaggedError<HistoryChanged>()("HistoryChanged", {
  session: Schema.String,
}) {
  override get message(): string {
    return `Session "${this.session}" does not end with the expected items; nothing was changed. Read the items again`
  }
}
