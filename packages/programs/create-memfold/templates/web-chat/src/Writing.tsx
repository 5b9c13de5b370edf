/** A field that grows with its text. Enter sends it; Shift and Enter begin a new line. */
import type { KeyboardEvent } from "react"

interface WritingProps {
  readonly label: string
  readonly placeholder?: string
  readonly text: string
  readonly onText: (text: string) => void
}

export const Writing = ({ label, placeholder, text, onText }: WritingProps) => {
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // An input method takes Enter for itself while it composes.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    event.currentTarget.form?.requestSubmit()
  }
  return (
    <textarea
      autoFocus
      rows={1}
      aria-label={label}
      placeholder={placeholder}
      value={text}
      onChange={({ target }) => onText(target.value)}
      onKeyDown={onKeyDown}
    />
  )
}
