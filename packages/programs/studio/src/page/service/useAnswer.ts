/** What a component asks of the service, as long as it is there and asks for it. */
import { useEffect, useRef, useState } from "preact/hooks"
import { ask, type Asked, type Progress, reasonOf } from "./ask.js"

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
 * @returns the answer, and how far the service is if `asked.isLong`, with what stops it
 */
export const useAnswer = <Answer>(
  path: string | null,
  { isLong = false, ...asked }: Omit<Asked, "signal" | "onProgress"> & { readonly isLong?: boolean } = {},
  {
    pause = 0,
    again,
    keep = false,
  }: { readonly pause?: number; readonly again?: unknown; readonly keep?: boolean } = {},
): Answered<Answer> & { readonly progress: Progress | null; readonly stop: () => void } => {
  const key = JSON.stringify([path, asked])
  const [found, set] = useState<Answered<Answer> & { readonly key: string }>({ key: "", ...nothing })
  const [progress, setProgress] = useState<Progress | null>(null)
  const asking = useRef<AbortController | null>(null)
  useEffect(() => {
    if (path === null) return
    const stop = new AbortController()
    asking.current = stop
    const timer = setTimeout(() => {
      const onProgress = isLong ? setProgress : undefined
      ask<Answer>(path, { ...asked, signal: stop.signal, onProgress })
        .then(
          (answer) => set({ key, answer, problem: null }),
          (error: unknown) => {
            if (!stop.signal.aborted) set({ key, answer: null, problem: reasonOf(error) })
          },
        )
        .finally(() => asking.current === stop && setProgress(null))
    }, pause)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [key, again])
  const stop = () => {
    asking.current?.abort()
    set({ key, answer: null, problem: "It was stopped." })
  }
  return { ...(found.key === key || keep ? found : nothing), progress, stop }
}
