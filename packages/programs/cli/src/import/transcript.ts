/** The session of a program whose files are transcripts with compactions: its messages, and the summaries that it made. */
import { withoutPromptSize } from "@memfold/lab"
import type { Transcript } from "../transcript/Transcript.js"
import type { OldState, OldSummary } from "./OldState.js"

/**
 * The state that a transcript tells of. Each compaction with a text is a summary of all messages before it, or of those
 * before the ones that the program kept; the newest is the active one. A compaction without a text is left out: its
 * messages are summarized anew when that is due.
 */
export const stateOf = ({ messages, compactions = [] }: Transcript): OldState => {
  const known = compactions.filter(({ summary = "" }) => summary.trim() !== "")
  return {
    messages: messages.map(withoutPromptSize),
    summaries: known.map(({ after, to = after, summary = "", time }, index): OldSummary => ({
      id: `compaction-${index + 1}`,
      status: index === known.length - 1 ? "active" : "superseded",
      text: summary,
      covers: [{ from: 0, to }],
      time: time ?? null,
      total: after,
    })),
  }
}
