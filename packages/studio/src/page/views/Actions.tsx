/** What can be done with a session. Each dialog says what will be done before it is done. */
import type { schemas } from "@memfold/client"
import { useState } from "preact/hooks"
import { go } from "../address.js"
import { count, moment, several } from "../format.js"
import { Dialog } from "../parts/Dialog.js"
import { ask, ofSession } from "../service/ask.js"
import { useRight } from "../service/rights.js"
import { hasChanged, type Mark } from "../session/marks.js"
import type { Timeline } from "../session/Timeline.js"
import { Compact, Recompact } from "./Compact.js"
import { Export } from "./Export.js"

/** What an action is about. */
export interface ActionProps {
  readonly timeline: Timeline
  readonly version: number
  readonly marks: ReadonlyArray<Mark>
}
type Props = ActionProps & { readonly onClose: () => void }

const post = <Answer,>(timeline: Timeline, path: string, body: unknown): Promise<Answer> =>
  ask(ofSession(timeline.session, path), { method: "POST", body })

/** What `undo` would take back: the newest of what it can. */
const undoable = ({ events }: Timeline, marks: ReadonlyArray<Mark>) => {
  const mark = marks.findLast((one) => hasChanged(one) && one.invalidatedAt === null) ?? null
  const other = events.findLast(
    ({ event }) => event._tag === "BranchSwitched" || event._tag === "SessionCleared",
  )
  if (mark !== null && (other === undefined || mark.version > other.version)) return { mark, other: null }
  return other === undefined ? null : { mark: null, other }
}

const Undo = ({ timeline, marks, onClose }: Props) => {
  const found = undoable(timeline, marks)
  const act = async () => {
    const { undone } = await post<typeof schemas.Undone.Type>(timeline, "/undo", {})
    if (undone === null) throw new Error("There is nothing to take back.")
  }
  if (found === null)
    return (
      <Dialog title="Undo" onClose={onClose}>
        <p>There is nothing to take back: no compaction, edit, return to a branch or clear.</p>
      </Dialog>
    )
  const { mark, other } = found
  return (
    <Dialog title="Undo" verb="Take back" act={act} onClose={onClose}>
      {mark === null ? (
        <p>
          Takes back the {other.event._tag === "SessionCleared" ? "clear" : "change of the branch"} of{" "}
          {moment(other.time)}: the conversation goes on from where it was before. What was said since stays
          in the log as a branch.
        </p>
      ) : (
        <p>
          Takes back the compaction of {moment(mark.time)}:{" "}
          {mark.committed === null
            ? "the shortened tool outputs are whole again."
            : `the context goes back from about ${count(mark.committed.tokensAfter)} to about ${count(mark.committed.tokensBefore)} tokens, and what has come since stays.`}{" "}
          The summary stays readable here. No automatic compaction runs for the next 20 messages. “Compact”
          makes a new one.
        </p>
      )}
    </Dialog>
  )
}

const Revert = ({ timeline, version, onClose }: Props) => {
  const { summary } = timeline.at(version)
  const now = timeline.at(timeline.version).summary
  const act = async () => {
    await post(timeline, "/revert", { toSummary: summary?.id ?? null })
  }
  if (summary?.id === now?.id)
    return (
      <Dialog title="Revert" onClose={onClose}>
        <p>
          Version {count(version)} has the summary that is in force. Choose an earlier version first, with the
          summary to go back to.
        </p>
      </Dialog>
    )
  return (
    <Dialog
      title={`Revert to the summary of version ${count(version)}`}
      verb="Revert"
      act={act}
      onClose={onClose}
    >
      <p>
        {summary === null
          ? "All compactions are taken back: the context has all messages word for word."
          : `The compactions since then are taken back: the summary for the first ${several(summary.coveredTo, "message")} is in force again, and every message behind it is in the context word for word.`}{" "}
        No message is lost. The summaries that are taken back stay readable, but cannot be brought back;
        “Compact” writes new ones.
      </p>
    </Dialog>
  )
}

const Fork = ({ timeline, version, onClose }: Props) => {
  const { session } = timeline
  const act = async (form: FormData) => {
    const to = String(form.get("to")).trim()
    await post(timeline, "/fork", { to, ...(version === timeline.version ? {} : { atVersion: version }) })
    go({ session: to, view: "time", version: null })
  }
  return (
    <Dialog title={`Fork at version ${count(version)}`} verb="Fork" act={act} onClose={onClose}>
      <p>
        A new session begins as a copy of this one up to version {count(version)}, with its summaries. This
        session stays as it is. To take it back, delete the new session.
      </p>
      <label>
        The id of the new session
        <input name="to" required value={`${session}-fork`} />
      </label>
    </Dialog>
  )
}

const Describe = ({ timeline, onClose }: Props) => {
  const { title, owner } = timeline.at(timeline.version).description
  const given = (text: FormDataEntryValue | null) => String(text).trim() || null
  const act = async (form: FormData) => {
    await ask(ofSession(timeline.session), {
      method: "PATCH",
      body: { title: given(form.get("title")), owner: given(form.get("owner")) },
    })
  }
  return (
    <Dialog title="Title and owner" verb="Save" act={act} onClose={onClose}>
      <p>Both are for lists of sessions, and no model sees them. They can be changed again at any time.</p>
      <label>
        Title
        <input name="title" value={title ?? ""} />
      </label>
      <label>
        Owner
        <input name="owner" value={owner ?? ""} />
      </label>
    </Dialog>
  )
}

const actions = {
  Compact,
  Undo,
  Recompact,
  Revert,
  Fork,
  Describe,
} as const

export const Actions = (props: ActionProps) => {
  const mayWrite = useRight("write")
  const [chosen, choose] = useState<keyof typeof actions | "Export" | null>(null)
  const onClose = () => choose(null)
  const Chosen = chosen === null || chosen === "Export" ? null : actions[chosen]
  return (
    <div class="actions" role="group" aria-label="What to do">
      {(Object.keys(actions) as Array<keyof typeof actions>).map((name) => (
        <button
          key={name}
          disabled={!mayWrite}
          title={mayWrite ? undefined : "Your token may only read"}
          onClick={() => choose(name)}
        >
          {name}…
        </button>
      ))}
      <button onClick={() => choose("Export")}>Export…</button>
      {Chosen === null ? null : <Chosen {...props} onClose={onClose} />}
      {chosen === "Export" ? <Export {...props} onClose={onClose} /> : null}
    </div>
  )
}
