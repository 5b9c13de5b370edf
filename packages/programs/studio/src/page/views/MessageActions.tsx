/** What can be done with one message. */
import type { Message } from "@memfold/core"
import { useState } from "preact/hooks"
import { count, several } from "../format.js"
import { Dialog } from "../parts/Dialog.js"
import { ask, ofSession, post } from "../service/ask.js"
import { useRight } from "../service/rights.js"
import { LivesOn } from "./LivesOn.js"
import type { Said, Timeline } from "../session/Timeline.js"

interface Props {
  readonly timeline: Timeline
  readonly said: Said
  readonly onClose: () => void
}

const textOf = (message: Message.Message): string =>
  message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")

/** The message with another text; its other parts stay. */
const withText = (message: Message.Message, text: string): Message.Message => {
  const first = message.parts.findIndex(({ type }) => type === "text")
  const rest = message.parts.filter((part, at) => part.type !== "text" || at === first)
  const parts = rest.map((part) => (part.type === "text" ? { ...part, text } : part))
  return { ...message, parts: first === -1 ? [...parts, { type: "text", text }] : parts }
}

/** Goes on from a message with others. A message that is there already keeps its time. */
const edit = (timeline: Timeline, { version }: Said, messages: ReadonlyArray<Message.Message>) =>
  ask(ofSession(timeline.session, "/edit"), {
    method: "POST",
    query: { format: "memfold" },
    body: { from: { version }, messages },
  })

const Edit = ({ timeline, said, onClose }: Props) => {
  const behind = timeline.said(timeline.version).length - said.index - 1
  const message = said.message!
  return (
    <Dialog
      title={`Edit message ${count(said.index)}`}
      verb="Edit"
      act={(form) => edit(timeline, said, [withText(message, String(form.get("text")))])}
      onClose={onClose}
    >
      <p>
        The conversation goes on from here with the new text. This message as it was
        {behind === 0 ? " stays" : ` and the ${several(behind, "message")} behind it stay`} in the log as a
        branch; “Undo” or a return to the branch brings {behind === 0 ? "it" : "them"} back.
      </p>
      <label>
        Text
        <textarea name="text" rows={8}>
          {textOf(message)}
        </textarea>
      </label>
    </Dialog>
  )
}

const Pin = ({ timeline, said, onClose }: Props) => {
  const rest = timeline.said(timeline.version).slice(said.index + 1)
  const isPinned = said.message!.pinned === true
  const unreadable = rest.some(({ message }) => message === null)
  if (unreadable)
    return (
      <Dialog title="Pin" onClose={onClose}>
        <p>
          Behind this message there is one that cannot be read, so the conversation cannot be written anew.
        </p>
      </Dialog>
    )
  return (
    <Dialog
      title={`${isPinned ? "Unpin" : "Pin"} message ${count(said.index)}`}
      verb={isPinned ? "Unpin" : "Pin"}
      act={() => {
        const { pinned: _pinned, ...message } = said.message!
        const again = rest.map(({ message }) => message!)
        return edit(timeline, said, [isPinned ? message : { ...message, pinned: true }, ...again])
      }}
      onClose={onClose}
    >
      <p>
        {isPinned
          ? "Summaries may cover this message again."
          : "This message stays in every context word for word, whatever summaries cover."}{" "}
        What was said does not change in a log: the conversation goes on as a branch, in which this message
        and the {several(rest.length, "message")} behind it are appended again. A summary that covers them is
        written again when it is due. “Undo” takes it back.
      </p>
    </Dialog>
  )
}

const Redact = ({ timeline, said, onClose }: Props) => (
  <Dialog
    title={`Redact message ${count(said.index)}`}
    verb="Erase for good"
    danger
    act={() => post(timeline.session, "/redact", { message: { version: said.version } })}
    onClose={onClose}
  >
    <p>
      Erases the text of this message from the store: from the log, from snapshots, and from the summaries
      that it went into, which become invalid. <strong>Nothing brings it back.</strong> That a message was
      here stays known. Reverts and recompactions from before it cannot be undone any more.
    </p>
  </Dialog>
)

const actions = { Edit, Pin, Redact } as const

export const MessageActions = (props: Props) => {
  const [chosen, choose] = useState<keyof typeof actions | null>(null)
  const [mayWrite, mayErase] = [useRight("write"), useRight("erase")]
  const { said, timeline, onClose } = props
  if (chosen !== null) {
    const Chosen = actions[chosen]
    return <Chosen {...props} />
  }
  const inForce = timeline.said(timeline.version)[said.index]?.version === said.version
  const mayChange = mayWrite && inForce && said.message !== null
  const button = (action: keyof typeof actions, name: string) => (
    <button
      type="button"
      disabled={!(action === "Redact" ? mayErase : mayChange)}
      onClick={() => choose(action)}
    >
      {name}
    </button>
  )
  return (
    <Dialog title={`Message ${count(said.index)}`} onClose={onClose}>
      <p class="soft">
        Appended at version {count(said.version)}, {count(said.tokens)} tokens.
        {inForce ? "" : " It is not on the branch in force: return to its branch to change it."}
      </p>
      {inForce ? <LivesOn timeline={timeline} index={said.index} /> : null}
      <div class="row">
        {button("Edit", "Edit from here…")}
        {button("Pin", said.message?.pinned === true ? "Unpin…" : "Pin…")}
        {button("Redact", "Redact…")}
      </div>
    </Dialog>
  )
}
