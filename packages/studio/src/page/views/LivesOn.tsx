/** The summaries in which a message lives on. */
import type { schemas } from "@memfold/client"
import { useEffect, useState } from "preact/hooks"
import { shortId } from "../format.js"
import { ask, ofSession } from "../service/ask.js"

export const LivesOn = ({ session, index }: { readonly session: string; readonly index: number }) => {
  const [summaries, set] = useState<ReadonlyArray<typeof schemas.TracedSummary.Type> | null>(null)
  useEffect(() => {
    const stop = new AbortController()
    const read = async () => {
      const path = ofSession(session, `/messages/${index}/trace`)
      const found = await ask<{ readonly summaries: ReadonlyArray<typeof schemas.TracedSummary.Type> }>(
        path,
        {
          signal: stop.signal,
        },
      )
      set(found.summaries)
    }
    read().catch(() => undefined)
    return () => stop.abort()
  }, [session, index])
  if (summaries === null) return null
  return summaries.length === 0 ? (
    <p>No summary covers it: contexts have it word for word.</p>
  ) : (
    <details open>
      <summary>Lives on in summaries</summary>
      <ul class="lives-on">
        {summaries.map(({ summary, status, sentences }) => (
          <li key={summary}>
            {shortId(summary)} <span class="soft">({status})</span>
            {sentences.length === 0 ? ": no sentence rests on it" : null}
            <ul>
              {sentences.map(({ text, words }, at) => (
                <li key={at}>
                  {text} <span class="soft">({words.join(", ")})</span>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </details>
  )
}
