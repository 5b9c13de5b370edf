/** A message with what can be done with it: edit it in place, ask for another answer, look at its other versions. */
import type { UIMessage } from "ai"
import { ChevronLeft, ChevronRight, Copy, Pencil, RefreshCw } from "lucide-react"
import { type FormEvent, useState } from "react"
import Markdown from "react-markdown"
import type { Versions } from "./branches.js"
import { Writing } from "./Writing.js"

const textOf = ({ parts }: UIMessage) => parts.map((part) => (part.type === "text" ? part.text : "")).join("")

interface SaidProps {
  readonly message: UIMessage
  readonly versions: Versions
  /** Whether the model answers: then nothing of the conversation changes. */
  readonly isBusy: boolean
  readonly onEdit: (text: string) => void
  readonly onAgain: () => void
  readonly onVersion: (branch: number) => void
}

const Pages = ({ versions: { branches, shown }, isBusy, onVersion }: SaidProps) => {
  if (branches.length < 2) return null
  const turn = (by: number, label: string) => (
    <button
      className="icon"
      aria-label={label}
      disabled={isBusy || branches[shown + by] === undefined}
      onClick={() => onVersion(branches[shown + by]!)}
    >
      {by < 0 ? <ChevronLeft size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />}
    </button>
  )
  return (
    <span className="versions">
      {turn(-1, "Earlier version")}
      {shown + 1} / {branches.length}
      {turn(1, "Later version")}
    </span>
  )
}

export const Said = (props: SaidProps) => {
  const { message, isBusy, onEdit, onAgain } = props
  const [edited, setEdited] = useState<string>()
  const text = textOf(message)
  if (edited !== undefined) {
    const replace = (event: FormEvent) => {
      event.preventDefault()
      setEdited(undefined)
      onEdit(edited)
    }
    return (
      <form className="editing" onSubmit={replace}>
        <Writing label="New text of the message" text={edited} onText={setEdited} />
        <button type="button" className="outline secondary" onClick={() => setEdited(undefined)}>
          Cancel
        </button>
        <button disabled={edited.trim() === ""}>Replace</button>
      </form>
    )
  }
  return (
    <article className={message.role}>
      <div className="text">{message.role === "user" ? text : <Markdown>{text}</Markdown>}</div>
      <footer>
        <Pages {...props} />
        <button className="icon" aria-label="Copy" onClick={() => void navigator.clipboard.writeText(text)}>
          <Copy size={14} aria-hidden />
        </button>
        {message.role === "user" ? (
          <button className="icon" aria-label="Edit" disabled={isBusy} onClick={() => setEdited(text)}>
            <Pencil size={14} aria-hidden />
          </button>
        ) : (
          <button className="icon" aria-label="Another answer" disabled={isBusy} onClick={onAgain}>
            <RefreshCw size={14} aria-hidden />
          </button>
        )}
      </footer>
    </article>
  )
}
