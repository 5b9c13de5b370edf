/** What the model gets of this chat: the summary of its oldest messages, and how many others word for word. */
import { X } from "lucide-react"
import { useEffect, useRef, useState } from "react"
import { type Remembered, remembered } from "./api.js"

export const Memory = ({ chat, onClose }: { readonly chat: string; readonly onClose: () => void }) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const [memory, setMemory] = useState<Remembered>()
  useEffect(() => {
    dialog.current?.showModal()
    void remembered(chat).then(setMemory)
  }, [chat])
  const { summary, total = 0, tokens = 0 } = memory ?? {}
  const covered = summary?.coveredTo ?? 0
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="memory">
      <article aria-busy={memory === undefined}>
        <header>
          <strong id="memory">What the model gets</strong>
          <button className="icon" aria-label="Close" onClick={() => dialog.current?.close()}>
            <X size={16} aria-hidden />
          </button>
        </header>
        <p>
          {total - covered} of {total} messages word for word
          {covered === 0 ? "" : `, and a summary of the first ${covered}`}: {tokens.toLocaleString()} tokens.
        </p>
        {summary ? <pre>{summary.text}</pre> : <p>Nothing is summarized yet: the chat is short.</p>}
      </article>
    </dialog>
  )
}
