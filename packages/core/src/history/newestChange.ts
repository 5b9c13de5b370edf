/** What changed the summary last: what `undo` takes back. The log says it, read from its end. */
import type { AnyEvent, RecordedEvent } from "../event/EventCodec.js"

/** The reason of a compaction that commits again what was taken back. */
export const restored = "restored"

/** A change of the summary, as `undo` takes it back. */
export interface SummaryChange {
  /**
   * - `compaction`: a compaction, with the tool outputs that it shortened
   * - `revert`: a revert, or a recompaction with the compactions that followed it before the next message
   * - `restore`: the undo of a revert or a recompaction
   */
  readonly kind: "compaction" | "revert" | "restore"
  /** The version of its first event. */
  readonly from: number
}

/** What is known after some events, from the newest to the oldest. */
export type Search =
  /** Nothing yet. `isNewest`: no event so far has taken anything back. */
  | { readonly at: "end"; readonly isNewest: boolean }
  /** A commit in force was found, and not the start of its compaction. */
  | { readonly at: "commit"; readonly compaction: string }
  /** The first event of the change was found, unless the next one belongs to it as well. */
  | { readonly at: SummaryChange["kind"] | "restored"; readonly from: number }
  | { readonly at: "done"; readonly change: SummaryChange | null }

const isRevert = (event: AnyEvent): boolean =>
  event._tag === "SummaryInvalidated" && ["reverted", "recompacted"].includes(event.reason)

const isRestored = (event: AnyEvent): boolean =>
  event._tag === "CompactionStarted" && event.reason === restored

/** Whether an older event belongs to a change: then it is a change of this kind. */
const belongsTo = (
  at: SummaryChange["kind"] | "restored",
  event: AnyEvent,
): SummaryChange["kind"] | "restored" | null => {
  switch (event._tag) {
    case "SummaryInvalidated":
      if (at === "revert") return isRevert(event) ? at : null
      if (at === "compaction") return event.reason === "recompacted" ? "revert" : null
      return isRevert(event) ? null : "restore"
    case "CompactionPaused":
    case "CompactionReleased":
      return at === "restored" || at === "restore" ? "restore" : null
    case "CompactionStarted":
      return at === "restored" && isRestored(event) ? at : null
    default:
      return null
  }
}

/** Whether events on the way from a change to what it may belong to are passed over. */
const isBetween = (at: SummaryChange["kind"] | "restored", event: AnyEvent): boolean => {
  switch (event._tag) {
    case "SummaryCommitted":
    case "SummarySuperseded":
    case "ToolOutputsPruned":
      return at === "compaction" || at === "restored"
    case "MessageAppended":
    case "DamagedMessage":
    case "MessageRedacted":
    case "SummaryInvalidated":
      return false
    default:
      return at === "compaction" && !isRestored(event)
  }
}

/** Nothing has been read yet. */
export const atEnd: Search = { at: "end", isNewest: true }

/** What a search has found. */
export const changeOf = (search: Search): SummaryChange | null => {
  switch (search.at) {
    case "end":
    case "commit":
      return null
    case "done":
      return search.change
    case "restored":
      return { kind: "restore", from: search.from }
    default:
      return { kind: search.at, from: search.from }
  }
}

/** The search after one more event, which is older than those before. */
export const searchOn = (
  search: Search,
  { event, version }: RecordedEvent,
  inForce: ReadonlySet<number>,
): Search => {
  switch (search.at) {
    case "end":
      if (inForce.has(version) && "compaction" in event) return { at: "commit", compaction: event.compaction }
      if (search.isNewest && isRevert(event)) return { at: "revert", from: version }
      // What was taken back before a redaction may have lost its text.
      return event._tag === "SummaryInvalidated" || event._tag === "MessageRedacted"
        ? { at: "end", isNewest: false }
        : search
    case "commit":
      return event._tag === "CompactionStarted" && event.compaction === search.compaction
        ? { at: isRestored(event) ? "restored" : "compaction", from: version }
        : search
    case "done":
      return search
    default: {
      const kind = belongsTo(search.at, event)
      if (kind !== null) return { at: kind, from: version }
      return isBetween(search.at, event) ? search : { at: "done", change: changeOf(search) }
    }
  }
}

/**
 * What changed the summary last, and `undo` takes back; `null` if nothing did that can be taken back.
 *
 * @param newestFirst the events of the branch in force since the last switch or clear, newest first
 * @param inForce the versions of the commits in force
 *
 * @example
 * ```ts
 * import { type EventCodec, Session } from "@memfold/core"
 *
 * const wouldUndo = (events: ReadonlyArray<EventCodec.RecordedEvent>, commits: ReadonlyArray<number>) =>
 *   Session.newestChange(events.toReversed(), new Set(commits))?.kind ?? "nothing"
 * ```
 */
export const newestChange = (
  newestFirst: Iterable<RecordedEvent>,
  inForce: ReadonlySet<number>,
): SummaryChange | null => {
  let search: Search = atEnd
  for (const recorded of newestFirst) {
    search = searchOn(search, recorded, inForce)
    if (search.at === "done") break
  }
  return changeOf(search)
}
