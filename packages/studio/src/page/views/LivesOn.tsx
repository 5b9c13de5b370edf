/** The summaries in which a message lives on. */
import type { schemas } from "@memfold/client"
import { useEffect, useState } from "preact/hooks"
import { count, several, shortId } from "../format.js"
import { Waiting } from "../parts/Waiting.js"
import { ask, ofSession } from "../service/ask.js"
import { marksOf } from "../session/marks.js"
import type { Timeline } from "../session/Timeline.js"

type Traced = typeof schemas.TracedSummary.Type

const statuses: Readonly<Record<Traced["status"], string>> = {
  active: "in force",
  superseded: "superseded",
  invalid: "taken back",
}

export const LivesOn = ({ timeline, index }: { readonly timeline: Timeline; readonly index: number }) => {
  const { session } = timeline
  const [found, set] = useState<{ readonly summaries: ReadonlyArray<Traced> } | string | null>(null)
  useEffect(() => {
    const stop = new AbortController()
    const read = async () =>
      set(await ask(ofSession(session, `/messages/${index}/trace`), { signal: stop.signal }))
    read().catch((error: unknown) => {
      if (!stop.signal.aborted) set(error instanceof Error ? error.message : String(error))
    })
    return () => stop.abort()
  }, [session, index])
  if (found === null) return <Waiting>Looking at the summaries that cover it</Waiting>
  if (typeof found === "string") return <p class="problem">{found}</p>
  const { summaries } = found
  if (summaries.length === 0) return <p>No summary covers it: contexts have it word for word.</p>
  const versions = new Map(marksOf(timeline).map((mark) => [mark.committed?.summary, mark.version]))
  const nameOf = (summary: string): string => {
    const version = versions.get(summary)
    return version === undefined ? shortId(summary) : `version ${count(version)}`
  }
  // What a model gets now is the summary in force, and that is the newest one.
  const resting = summaries.filter(({ sentences }) => sentences.length > 0).toReversed()
  const without = summaries.length - resting.length
  if (resting.length === 0)
    return (
      <p>
        {summaries.length === 1
          ? "Lives on in no sentence of the summary that covers it."
          : `Lives on in no sentence of the ${several(summaries.length, "summary")} that cover it.`}
      </p>
    )
  return (
    <details open>
      <summary>
        Lives on in {several(resting.length, "summary")}
        {without === 0 ? "" : `; ${count(without)} that cover it have no sentence that rests on it`}
      </summary>
      <ul class="lives-on">
        {resting.map(({ summary, status, sentences }) => (
          <li key={summary}>
            {nameOf(summary)} <span class="soft">({statuses[status]})</span>
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
