/** The sections of a context: which messages stand where, and what is left out. */
import type { Origin } from "@memfold/message/Origin"

/**
 * The kind of a section.
 *
 * - `pinned`: pinned messages
 * - `user-memory` and `scope-memory`: facts from the memory layers, right before a user message or in front of the
 *   summary; their range is empty
 * - `session-memory`: a block of the summary that the summary does not show, right before the user message that needs it;
 *   with the messages that it covers
 * - `summary`: the active summary, for the messages in its range
 * - `material`: what tools, documents and pages said in the messages that the summary covers, if a summary keeps it apart
 *   (`trust: "separate"`), behind the summary; from the first message with material to the last
 * - `uncovered`: uncovered messages, word for word
 * - `recalled`: earlier messages that fit the newest user message, right before it; the range is from the first to the
 *   last of them
 * - `current`: the newest message, if it is a user message
 * - `unreadable`: messages that cannot be read, because their stored events are damaged; they are left out, and stay named when
 *   a summary covers them
 * - `gap`: uncovered messages that the strategy's `maxMessages` leaves out
 * - `open`: a group that waits for results of the application, with every message after it. It is left out until the
 *   results have come or the next user message closes the calls. A call that the provider answers itself is shown: the next
 *   request lets the provider go on.
 * - `left-out`: parts of messages in other sections are left out: `parts` names them, because the provider would refuse
 *   them. These are bound parts (see `Message.isBound`) whose prefix has changed, from the first message to the last, none
 *   in between kept; and items of the provider without their pair, by their type: a `server_tool_use` that was never
 *   answered, a result whose call is not in the context. A message that is the answer before it once more, because an append was
 *   tried again, is left out, too: providers refuse an id that comes twice. So is a system prompt whose newer form is in the context.
 *   A summary and material below the `minimumOrigin` are named as `summary` and `material`.
 */
export type SectionName =
  | "pinned"
  | "user-memory"
  | "scope-memory"
  | "session-memory"
  | "summary"
  | "material"
  | "uncovered"
  | "recalled"
  | "current"
  | "unreadable"
  | "gap"
  | "open"
  | "left-out"

/** A section of a context: the messages `[from, to)` and the tokens they take, 0 if they are left out. */
export interface Section {
  readonly section: SectionName
  readonly from: number
  readonly to: number
  readonly tokens: number
  /** The kinds of parts that the section is about, if it is not about whole messages. */
  readonly parts?: ReadonlyArray<string>
  /**
   * Of a summary, material, facts and what is recalled: the lowest origin of the messages that it rests on (law L18).
   */
  readonly origin?: Origin
}
