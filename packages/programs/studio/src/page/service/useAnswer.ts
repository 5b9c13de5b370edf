/** What a component asks of the service, as long as it is there and asks for it. */
import { useEffect, useState } from "preact/hooks"
import { ask, type Asked, reasonOf } from "./ask.js"

/** The answer, or why there is none; neither while the service is asked. */
export interface Answered<Answer> {
  readonly answer: Answer | null
  readonly problem: string | null
}

const nothing = { answer: null, problem: null }

/**
 * Asks the service, and again when what is asked changes. What was asked before is aborted.
 *
 * @param path - what is asked; nothing if it is `null`
 * @param options.pause - how long a question stays before it is asked, in milliseconds
 * @param options.again - asks once more when it changes; the answer stays meanwhile
 * @param options.keep - whether the answer stays until the answer to the next question is there
 */
export const useAnswer = <Answer>(
  path: string | null,
  asked: Omit<Asked, "signal"> = {},
  {
    pause = 0,
    again,
    keep = false,
  }: { readonly pause?: number; readonly again?: unknown; readonly keep?: boolean } = {},
): Answered<Answer> => {
  const key = JSON.stringify([path, asked])
  const [found, set] = useState<Answered<Answer> & { readonly key: string }>({ key: "", ...nothing })
  useEffect(() => {
    if (path === null) return
    const stop = new AbortController()
    const timer = setTimeout(() => {
      ask<Answer>(path, { ...asked, signal: stop.signal }).then(
        (answer) => set({ key, answer, problem: null }),
        (error: unknown) => {
          if (!stop.signal.aborted) set({ key, answer: null, problem: reasonOf(error) })
        },
      )
    }, pause)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [key, again])
  return found.key === key || keep ? found : nothing
}
