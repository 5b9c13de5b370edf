/** The compactions of a session, from their starts to their ends. */
import { type Event, type Session, Wording } from "@memfold/core"
import type { Timeline } from "./Timeline.js"

export type Outcome = "committed" | "pruned" | "failed" | "released" | "running"

export interface Mark {
  readonly compaction: string
  readonly started: Event.CompactionStarted
  /** The version at which it ended, or the version of its start while it runs. */
  readonly version: number
  /** When it ended, or began while it runs, in milliseconds since the epoch. */
  readonly time: number
  readonly outcome: Outcome
  readonly committed: Event.SummaryCommitted | null
  readonly pruned: Event.ToolOutputsPruned | null
  readonly failed: Event.CompactionFailed | null
  /** The version at which its commit was taken back; `null` if it was not. */
  readonly invalidatedAt: number | null
  /** Whether it cut a turn. */
  readonly splitTurn: boolean
}

const isSplit = ({ parts }: Event.CompactionStarted): boolean =>
  parts.some(({ kind }) => kind === "turn-prefix")

/** The compactions of a session, oldest first. */
export const marksOf = ({ events }: Timeline): ReadonlyArray<Mark> => {
  const marks = new Map<string, Mark>()
  const byCommit = new Map<number, string>()
  const end = (compaction: string, change: Partial<Mark>): void => {
    const known = marks.get(compaction)
    if (known !== undefined) marks.set(compaction, { ...known, ...change })
  }
  for (const { event, version, time } of events) {
    const at = { version, time }
    switch (event._tag) {
      case "CompactionStarted": {
        const { compaction } = event
        const nothing = { committed: null, pruned: null, failed: null, invalidatedAt: null }
        const splitTurn = isSplit(event)
        marks.set(compaction, {
          compaction,
          started: event,
          outcome: "running",
          splitTurn,
          ...at,
          ...nothing,
        })
        break
      }
      case "SummaryCommitted":
        end(event.compaction, { ...at, outcome: "committed", committed: event })
        byCommit.set(version, event.compaction)
        break
      case "ToolOutputsPruned": {
        const isAll = marks.get(event.compaction)?.outcome !== "committed"
        end(event.compaction, { pruned: event, ...(isAll ? { ...at, outcome: "pruned" } : {}) })
        byCommit.set(version, event.compaction)
        break
      }
      case "CompactionFailed":
        end(event.compaction, { ...at, outcome: "failed", failed: event })
        break
      case "CompactionReleased":
        end(event.compaction, { ...at, outcome: "released" })
        break
      case "SummaryInvalidated":
        end(byCommit.get(event.version) ?? "", { invalidatedAt: version })
        break
    }
  }
  return [...marks.values()].toSorted((one, other) => one.version - other.version)
}

/** Whether a compaction changed the context. */
export const hasChanged = ({ outcome }: Mark): boolean => outcome === "committed" || outcome === "pruned"

/** The text of a summary as contexts have it, and whole; empty without one. */
export const textOf = (summary: Session.Summary | null): string =>
  summary === null ? "" : Wording.texts(summary.wording, summary).join("\n\n")

/**
 * The compaction to show at a version: the one that ended there, or the one that made the context what it is. A summary that was
 * taken back or left with its branch is not in force.
 */
export const markAt = (
  marks: ReadonlyArray<Mark>,
  version: number,
  { summary }: Session.SessionState,
): Mark | null =>
  marks.find((mark) => mark.version === version) ??
  marks.find(({ committed }) => committed !== null && committed.summary === summary?.id) ??
  marks.findLast(
    (mark) => mark.version <= version && mark.outcome === "pruned" && mark.invalidatedAt === null,
  ) ??
  null
