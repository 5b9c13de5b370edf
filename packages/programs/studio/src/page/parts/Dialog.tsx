/** A dialog that says what will be done before it is done. */
import type { ComponentChildren } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { reasonOf } from "../service/ask.js"
import { Problem } from "./Notices.js"

export interface DialogProps {
  readonly title: string
  readonly children: ComponentChildren
  /** The name of the button that does it; without one, the dialog only shows something. */
  readonly verb?: string
  /** Does it. It rejects with what went wrong, and the dialog shows that and stays. */
  readonly act?: (form: FormData) => Promise<unknown>
  readonly onClose: () => void
  readonly danger?: boolean
}

/** Shows a dialog; it is closed by its buttons and by Escape. */
export const Dialog = ({ title, children, verb, act, onClose, danger = false }: DialogProps) => {
  const box = useRef<HTMLDialogElement>(null)
  const [working, setWorking] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => box.current?.showModal(), [])
  const submit = async (form: HTMLFormElement) => {
    setWorking(true)
    setProblem(null)
    try {
      await act?.(new FormData(form))
      onClose()
    } catch (error) {
      setProblem(reasonOf(error))
    }
    setWorking(false)
  }
  return (
    <dialog ref={box} onClose={onClose} aria-labelledby="dialog-title">
      <article>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void submit(event.currentTarget)
          }}
        >
          <h2 id="dialog-title">{title}</h2>
          {children}
          <Problem>{problem}</Problem>
          <footer class="row">
            <button type="button" onClick={onClose}>
              {verb === undefined ? "Close" : "Cancel"}
            </button>
            {verb === undefined ? null : (
              <button class={danger ? "danger" : "primary"} disabled={working}>
                {working ? "…" : verb}
              </button>
            )}
          </footer>
        </form>
      </article>
    </dialog>
  )
}
