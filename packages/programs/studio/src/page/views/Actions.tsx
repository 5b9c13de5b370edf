/** What can be done with a session. Each dialog says what will be done before it is done. */
import { useRef, useState } from "preact/hooks"
import { go } from "../address.js"
import { count, several } from "../format.js"
import { Dialog } from "../parts/Dialog.js"
import { ask, ofSession, post } from "../service/ask.js"
import { useRight } from "../service/rights.js"
import type { Mark } from "../session/marks.js"
import type { Place } from "../session/ViewProps.js"
import { Compact, Recompact } from "./Compact.js"
import { Export } from "./Export.js"
import { Undo } from "./Undo.js"

export interface ActionProps extends Place {
  readonly marks: ReadonlyArray<Mark>
  readonly onClose: () => void
}

const Revert = ({ timeline, version, marks, onClose }: ActionProps) => {
  const { summary } = timeline.at(version)
  const mark = marks.find(({ committed }) => committed !== null && committed.summary === summary?.id)
  const why =
    summary?.id === timeline.at(timeline.version).summary?.id
      ? `Version ${count(version)} has the summary that is in force. Choose an earlier version first, with the summary to go back to.`
      : mark !== undefined && mark.invalidatedAt !== null
        ? `The summary of version ${count(version)} was taken back at version ${count(mark.invalidatedAt)}. If that was the newest change, “Undo” brings it back.`
        : null
  if (why !== null)
    return (
      <Dialog title="Revert" onClose={onClose}>
        <p>{why}</p>
      </Dialog>
    )
  return (
    <Dialog
      title={`Revert to the summary of version ${count(version)}`}
      verb="Revert"
      act={() => post(timeline.session, "/revert", { toSummary: summary?.id ?? null })}
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

const Fork = ({ timeline, version, onClose }: ActionProps) => {
  const { session } = timeline
  const act = async (form: FormData) => {
    const to = String(form.get("to")).trim()
    await post(session, "/fork", { to, ...(version === timeline.version ? {} : { atVersion: version }) })
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

const Describe = ({ timeline, onClose }: ActionProps) => {
  const { title, owner } = timeline.at(timeline.version).description
  const given = (text: FormDataEntryValue | null) => String(text).trim() || null
  const act = (form: FormData) => {
    const body = { title: given(form.get("title")), owner: given(form.get("owner")) }
    return ask(ofSession(timeline.session), { method: "PATCH", body })
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

const actions = { Compact, Undo, Recompact, Revert, Fork, Describe, Export } as const
type Action = keyof typeof actions

/** What is done often. The rest is behind a menu. */
const often: ReadonlyArray<Action> = ["Compact", "Undo"]

export const Actions = (props: Omit<ActionProps, "onClose">) => {
  const mayWrite = useRight("write")
  const [chosen, choose] = useState<Action | null>(null)
  const menu = useRef<HTMLDetailsElement>(null)
  const close = () => void (menu.current!.open = false)
  const Chosen = chosen === null ? null : actions[chosen]
  const button = (name: Action) => {
    const may = mayWrite || name === "Export"
    return (
      <button
        class={often.includes(name) ? "" : "item"}
        disabled={!may}
        title={may ? undefined : "Your token may only read"}
        onClick={() => {
          close()
          choose(name)
        }}
      >
        {name}…
      </button>
    )
  }
  return (
    <>
      <div class="row" role="group" aria-label="What to do">
        {often.map(button)}
        <details
          ref={menu}
          class="menu"
          onKeyDown={({ key, currentTarget }) => {
            if (key !== "Escape") return
            close()
            currentTarget.querySelector("summary")?.focus()
          }}
          onFocusOut={({ currentTarget, relatedTarget }) => {
            if (!currentTarget.contains(relatedTarget as Node | null)) close()
          }}
        >
          <summary role="button">More</summary>
          <ul>
            {(Object.keys(actions) as Array<Action>)
              .filter((name) => !often.includes(name))
              .map((name) => (
                <li key={name}>{button(name)}</li>
              ))}
          </ul>
        </details>
      </div>
      {Chosen === null ? null : <Chosen {...props} onClose={() => choose(null)} />}
    </>
  )
}
