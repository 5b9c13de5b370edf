/** A message: its parts as text, with long outputs folded. */
import type { Message } from "@memfold/core"
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { count, several } from "../format.js"
import { Badge } from "./Notices.js"

/** Of longer tool outputs, only the length is shown until they are opened, in characters. */
const foldedAbove = 400
/** Of longer texts, the start is shown. */
const cutAbove = 3_000

/** What was opened, by message and part: a row that comes back into sight is as it was left. */
const opened = new Set<string>()

const Folded = ({
  id,
  summary,
  text,
}: {
  readonly id: string
  readonly summary: string
  readonly text: string
}) => {
  const [open, setOpen] = useState(opened.has(id))
  return (
    <details
      open={open}
      onToggle={({ currentTarget }) => {
        if (currentTarget.open) opened.add(id)
        else opened.delete(id)
        setOpen(currentTarget.open)
      }}
    >
      <summary>{summary}</summary>
      {open ? <pre tabIndex={0}>{text}</pre> : null}
    </details>
  )
}

const Long = ({ id, text }: { readonly id: string; readonly text: string }) => {
  const [open, setOpen] = useState(opened.has(id))
  if (text.length <= cutAbove || open) return <p class="said">{text}</p>
  return (
    <>
      <p class="said">{text.slice(0, cutAbove)}…</p>
      <button
        class="plain"
        onClick={() => {
          opened.add(id)
          setOpen(true)
        }}
      >
        Show all {several(text.length, "character")}
      </button>
    </>
  )
}

/** What a tool was given, or what it gave. */
const Tool = ({ id, head, text }: { readonly id: string; readonly head: string; readonly text: string }) =>
  text.length > foldedAbove ? (
    <Folded id={id} summary={`${head}: ${several(text.length, "character")}`} text={text} />
  ) : (
    <div>
      <span class="tool-name">{head}</span>
      <pre>{text}</pre>
    </div>
  )

const Part = ({ id, part }: { readonly id: string; readonly part: Message.Part }) => {
  switch (part.type) {
    case "text":
      return <Long id={id} text={part.text} />
    case "reasoning":
      return (
        <Folded id={id} summary={`Reasoning: ${several(part.text.length, "character")}`} text={part.text} />
      )
    case "tool-call":
      return <Tool id={id} head={`→ ${part.name}`} text={part.arguments} />
    case "tool-result": {
      const head = `${part.isError === true ? "✗" : "←"} ${part.name ?? "result"}`
      return <Tool id={id} head={head} text={part.output} />
    }
    case "file": {
      const uri = part.uri.startsWith("data:") ? `${several(part.uri.length, "character")} of data` : part.uri
      return (
        <p>
          File {part.name ?? ""} ({part.mediaType}): {uri}
        </p>
      )
    }
    case "opaque":
      return <Folded id={id} summary={`Data of ${part.provider}`} text={JSON.stringify(part.data, null, 2)} />
  }
}

export interface CardProps {
  /** A name for the message on the page. */
  readonly id: string
  readonly message: Message.Message | null
  /** What stands before the role, such as its index. */
  readonly place: string
  readonly tokens?: number | undefined
  readonly badges?: ReadonlyArray<string>
  /** Whether a summary stands for it, or it was searched for. */
  readonly look?: "faded" | "sought" | ""
  readonly actions?: ComponentChildren
}

/** The ink of the margin of a message. */
const inks = {
  system: "summary",
  user: "accent",
  assistant: "verbatim",
  tool: "recalled",
  unreadable: "danger",
}

export const MessageCard = ({ id, message, place, tokens, badges = [], look = "", actions }: CardProps) => {
  const role = message?.role ?? "unreadable"
  return (
    <article class={`card ${inks[role]} ${look}`} data-message={id}>
      <header>
        <strong>{role}</strong>
        <span>{place}</span>
        {badges.map((badge) => (
          <Badge key={badge}>{badge}</Badge>
        ))}
        <span class="number">{tokens === undefined ? "" : `${count(tokens)} tokens`}</span>
        {actions}
      </header>
      {message === null ? (
        <p class="said">This message is damaged where it is stored.</p>
      ) : (
        message.parts.map((part, at) => <Part key={at} id={`${id}.${at}`} part={part} />)
      )}
    </article>
  )
}
