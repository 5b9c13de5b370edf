/** The branches of a conversation as a tree: where each one left its parent, and the way back to it. */
import type { Session } from "@memfold/core"
import { useState } from "preact/hooks"
import { count, moment, several } from "../format.js"
import { Dialog } from "../parts/Dialog.js"
import { post } from "../service/ask.js"
import { useRight } from "../service/rights.js"
import type { Place } from "../session/ViewProps.js"

interface Shown {
  readonly id: number
  readonly parent: number | null
  readonly from: number
  readonly total: number
  /** The version to look at it; the version that is shown for the branch in force. */
  readonly version: number
  readonly leftAt: number | null
}

const shownOf = (state: Session.SessionState): ReadonlyArray<Shown> => [
  ...state.branches.map(({ id, parent, from, total, version, time }) => ({
    id,
    parent,
    from,
    total,
    version,
    leftAt: time,
  })),
  { ...state.branch, total: state.total, version: state.version, leftAt: null },
]

/** Shows the branches at a version, if there are several. */
export const Branches = ({
  timeline,
  version,
  choose,
}: Place & { readonly choose: (version: number) => void }) => {
  const [asked, ask] = useState<Shown | null>(null)
  const mayWrite = useRight("write")
  const all = shownOf(timeline.at(version))
  if (all.length < 2) return null
  const known = new Set(all.map(({ id }) => id))
  const isNewest = version === timeline.version
  const branch = (one: Shown) => {
    const children = all.filter(({ parent, id }) => parent === one.id && id !== one.id)
    return (
      <li key={one.id}>
        {one.leftAt === null ? (
          <strong>Branch {count(one.id)}, in force</strong>
        ) : (
          <button class="plain" onClick={() => choose(one.version)}>
            Branch {count(one.id)}
          </button>
        )}{" "}
        <span class="soft">
          {one.parent === null ? "from the start" : `leaves at message ${count(one.from)}`} ·{" "}
          {several(one.total, "message")}
          {one.leftAt === null ? "" : ` · left ${moment(one.leftAt)}`}
        </span>{" "}
        {one.leftAt !== null && mayWrite && isNewest ? (
          <button onClick={() => ask(one)}>Return to it…</button>
        ) : null}
        {children.length === 0 ? null : <ul>{children.map(branch)}</ul>}
      </li>
    )
  }
  return (
    <details class="branches">
      <summary>{several(all.length, "branch")}</summary>
      <ul>{all.filter(({ parent }) => parent === null || !known.has(parent)).map(branch)}</ul>
      {asked === null ? null : (
        <Dialog
          title={`Return to branch ${count(asked.id)}`}
          verb="Return to it"
          act={() => post(timeline.session, "/checkout", { branch: asked.id })}
          onClose={() => ask(null)}
        >
          <p>
            The conversation goes on with the {several(asked.total, "message")} of that branch. The branch in
            force now stays in the log. “Undo” takes it back.
          </p>
        </Dialog>
      )}
    </details>
  )
}
