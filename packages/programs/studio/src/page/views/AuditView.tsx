/** Who did what with a session, and whether the trail of erasures, exports and reads is as it was written. */
import type { schemas } from "@memfold/client"
import { count, inWords, moment, several } from "../format.js"
import { Problem, Waiting } from "../parts/Notices.js"
import { Table } from "../parts/Table.js"
import { ofSession } from "../service/ask.js"
import { useAnswer } from "../service/useAnswer.js"
import type { ViewProps } from "../session/ViewProps.js"

type Audit = typeof schemas.Audit.Type
type Entry = Audit["entries"][number]

const by = ({ actor }: Entry): string =>
  actor === null
    ? "not told"
    : [actor.id, actor.via && `via ${actor.via}`, actor.onBehalfOf && `for ${actor.onBehalfOf}`]
        .filter(Boolean)
        .join(" ")

const more = ({ kind, operation, summarizer, reason }: Entry): string =>
  [kind, operation, summarizer, reason].filter(Boolean).join(" · ")

/** The most rows of the table: a browser lays out all of them. */
const most = 500

export const AuditView = ({ timeline, changes }: ViewProps) => {
  const { answer, problem } = useAnswer<Audit>(ofSession(timeline.session, "/audit"), {}, { again: changes })
  const entries = answer?.entries.toReversed().slice(0, most) ?? []
  const totals = Object.entries(answer?.totals ?? {}).map(([act, times]) => `${inWords(act)} ${count(times)}`)
  return (
    <div class="page-view">
      <h2>Who did what</h2>
      <Problem>{problem}</Problem>
      {answer === null && problem === null ? <Waiting>Reading the trail</Waiting> : null}
      {answer?.trails.map(({ of, entries, brokenAt }) => (
        <p key={of} class={brokenAt === null ? "soft" : "problem"} role="status">
          {brokenAt === null
            ? `The trail of the ${of} is as it was written: ${several(entries, "entry")}.`
            : `The trail of the ${of} was changed at its entry ${count(brokenAt)}.`}
        </p>
      ))}
      <p>
        {totals.join(" · ")}
        {(answer?.entries.length ?? 0) > most ? `. The newest ${most} are shown; memfold audit has all.` : ""}
      </p>
      <Table
        label="Who did what"
        rows={entries}
        keyOf={(entry) => `${entry.time} ${entry.act} ${entry.version}`}
        columns={[
          ["When", ({ time }) => moment(time)],
          ["What", ({ act }) => inWords(act)],
          ["Who", by],
          ["More", more, "about"],
        ]}
      />
    </div>
  )
}
