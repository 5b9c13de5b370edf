/** A message: its parts as text, with long outputs folded. */
import type { Message } from "@memfold/core"
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { count, several } from "../format.js"

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

const Output = ({ id, part }: { readonly id: string; readonly part: Message.ToolResult }) => {
  const name = part.name ?? "result"
  const head = `${part.isError === true ? "✗" : "←"} ${name}`
  return part.output.length > foldedAbove ? (
    <Folded id={id} summary={`${head}: ${several(part.output.length, "character")}`} text={part.output} />
  ) : (
    <div class="tool">
      <span class="tool-name">{head}</span>
      <pre>{part.output}</pre>
    </div>
  )
}

const Part = ({ id, part }: { readonly id: string; readonly part: Message.Part }) => {
  switch (part.type) {
    case "text":
      return <Long id={id} text={part.text} />
    case "reasoning":
      return (
        <Folded id={id} summary={`Reasoning: ${several(part.text.length, "character")}`} text={part.text} />
      )
    case "tool-call":
      return part.arguments.length > foldedAbove ? (
        <Folded
          id={id}
          summary={`→ ${part.name}: ${several(part.arguments.length, "character")}`}
          text={part.arguments}
        />
      ) : (
        <div class="tool">
          <span class="tool-name">→ {part.name}</span>
          <pre>{part.arguments}</pre>
        </div>
      )
    case "tool-result":
      return <Output id={id} part={part} />
    case "file": {
      const uri = part.uri.startsWith("data:") ? `${several(part.uri.length, "character")} of data` : part.uri
      return (
        <p class="tool">
          File {part.name ?? ""} ({part.mediaType}): {uri}
        </p>
      )
    }
    case "opaque":
      return <Folded id={id} summary={`Data of ${part.provider}`} text={JSON.stringify(part.data, null, 2)} />
  }
}

/** What a message card shows. */
export interface CardProps {
  /** A name for the message on the page. */
  readonly id: string
  readonly message: Message.Message | null
  /** What stands before the role, such as its index. */
  readonly place: string
  readonly tokens?: number | undefined
  readonly badges?: ReadonlyArray<string>
  readonly faded?: boolean
  readonly actions?: ComponentChildren
}

/** Shows a message. */
export const MessageCard = ({
  id,
  message,
  place,
  tokens,
  badges = [],
  faded = false,
  actions,
}: CardProps) => {
  const role = message?.role ?? "unreadable"
  return (
    <article class={`card ${role}${faded ? " faded" : ""}`} data-message={id}>
      <header>
        <span class="role">{role}</span>
        <span class="place">{place}</span>
        {badges.map((badge) => (
          <span key={badge} class={`badge ${badge.toLowerCase().replaceAll(" ", "-")}`}>
            {badge}
          </span>
        ))}
        <span class="space" />
        {tokens === undefined ? null : <span class="number">{count(tokens)} tokens</span>}
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
