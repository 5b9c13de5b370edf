/** What can be done with a session. Each dialog says what will be done before it is done. */
import { useState } from "preact/hooks"
import { go } from "../address.js"
import { count, several } from "../format.js"
import { Dialog } from "../parts/Dialog.js"
import { bringFocusIntoSight } from "../parts/inSight.js"
import { ask, ofSession } from "../service/ask.js"
import { useRight } from "../service/rights.js"
import type { Mark } from "../session/marks.js"
import type { Timeline } from "../session/Timeline.js"
import { Compact, Recompact } from "./Compact.js"
import { Export } from "./Export.js"
import { Undo } from "./Undo.js"

/** What an action is about. */
export interface ActionProps {
  readonly timeline: Timeline
  readonly version: number
  readonly marks: ReadonlyArray<Mark>
}
type Props = ActionProps & { readonly onClose: () => void }

const post = <Answer,>(timeline: Timeline, path: string, body: unknown): Promise<Answer> =>
  ask(ofSession(timeline.session, path), { method: "POST", body })

const Revert = ({ timeline, version, marks, onClose }: Props) => {
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
  const mark = marks.find(({ committed }) => committed !== null && committed.summary === summary?.id)
  if (mark !== undefined && mark.invalidatedAt !== null)
    return (
      <Dialog title="Revert" onClose={onClose}>
        <p>
          The summary of version {count(version)} was taken back at version {count(mark.invalidatedAt)}. If
          that was the newest change, “Undo” brings it back.
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
        No message is lost, and no automatic compaction runs for the next 20 messages. “Undo” brings the
        summaries back.
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
    <div class="actions" role="group" aria-label="What to do" onFocusIn={bringFocusIntoSight}>
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
