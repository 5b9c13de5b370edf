/** Taking back what was done last. */
import type { schemas } from "@memfold/client"
import { count, moment, several } from "../format.js"
import { Dialog } from "../parts/Dialog.js"
import { post } from "../service/ask.js"
import { sizeOf } from "../session/shares.js"
import { type Undoable, undoable } from "../session/undoable.js"
import type { Timeline } from "../session/Timeline.js"
import type { ActionProps } from "./Actions.js"

/** What the context was before a version. */
const Before = ({ timeline, version }: { readonly timeline: Timeline; readonly version: number }) => {
  const state = timeline.at(version - 1)
  return (
    <>
      {state.summary === null
        ? "the messages are in the context word for word"
        : `the summary for the first ${several(state.summary.coveredTo, "message")} is in force`}
      , about {count(sizeOf(state))} tokens at that version
    </>
  )
}

const Does = ({ timeline, found }: { readonly timeline: Timeline; readonly found: Undoable }) => {
  const { kind, version, time } = found
  const before = <Before timeline={timeline} version={version} />
  switch (kind) {
    case "compaction":
      return (
        <p>
          Takes back the compaction of {moment(time)}: as before it, {before}; what has come since stays. The
          summary stays readable here. No automatic compaction runs for the next 20 messages. “Compact” makes
          a new one.
        </p>
      )
    case "revert":
      return (
        <p>
          Takes back the revert or recompaction of {moment(time)}: as before it, {before}; what has come since
          stays. The summaries are committed again, and no model is asked. “Undo” takes that back.
        </p>
      )
    case "restore":
      return (
        <p>
          Takes back the undo of {moment(time)}: as before it, {before}; what has come since stays. No
          automatic compaction runs for the next 20 messages. “Undo” takes that back.
        </p>
      )
    default:
      return (
        <p>
          Takes back the {kind === "clear" ? "clear" : "change of the branch"} of {moment(time)}: the
          conversation goes on from where it was before. What was said since stays in the log as a branch.
        </p>
      )
  }
}

export const Undo = ({ timeline, marks, onClose }: Omit<ActionProps, "version">) => {
  const found = undoable(timeline, marks)
  if (found === null)
    return (
      <Dialog title="Undo" onClose={onClose}>
        <p>There is nothing to take back: no compaction, revert, edit, return to a branch or clear.</p>
      </Dialog>
    )
  const act = async () => {
    const { undone } = await post<typeof schemas.Undone.Type>(timeline.session, "/undo", {})
    if (undone === null) throw new Error("There is nothing to take back.")
  }
  return (
    <Dialog title="Undo" verb="Take back" act={act} onClose={onClose}>
      <Does timeline={timeline} found={found} />
    </Dialog>
  )
}
