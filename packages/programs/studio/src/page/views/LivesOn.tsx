/** The summaries in which a message lives on. */
import type { schemas } from "@memfold/client"
import { count, several, shortId } from "../format.js"
import { Problem, Waiting } from "../parts/Notices.js"
import { ofSession } from "../service/ask.js"
import { useAnswer } from "../service/useAnswer.js"
import { marksOf } from "../session/marks.js"
import type { Timeline } from "../session/Timeline.js"

type Traced = typeof schemas.TracedSummary.Type

const statuses: Readonly<Record<Traced["status"], string>> = {
  active: "in force",
  superseded: "superseded",
  invalid: "taken back",
}

export const LivesOn = ({ timeline, index }: { readonly timeline: Timeline; readonly index: number }) => {
  const path = ofSession(timeline.session, `/messages/${index}/trace`)
  const { answer, problem } = useAnswer<{ readonly summaries: ReadonlyArray<Traced> }>(path)
  if (problem !== null) return <Problem>{problem}</Problem>
  if (answer === null) return <Waiting>Looking at the summaries that cover it</Waiting>
  const { summaries } = answer
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
