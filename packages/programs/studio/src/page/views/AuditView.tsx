/** Who did what with a session, and whether the trail of erasures, exports and reads is as it was written. */
import type { schemas } from "@memfold/client"
import { count, inWords, moment } from "../format.js"
import { Problem } from "../parts/Notices.js"
import { Table } from "../parts/Table.js"
import { ofSession } from "../service/ask.js"
import { useAnswer } from "../service/useAnswer.js"
import type { ViewProps } from "../session/ViewProps.js"

type Audit = typeof schemas.Audit.Type
type Entry = Audit["entries"][number]

const by = ({ actor }: Entry): string => Object.values(actor ?? {}).join(", ")

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
      {answer?.trails.map(({ of, brokenAt }) => (
        <p key={of}>
          The trail of the {of} {brokenAt === null ? "is as it was written" : `was changed at ${brokenAt}`}
        </p>
      ))}
      <p>{totals.join(" · ")}</p>
      <Table
        label="Who did what"
        rows={entries}
        keyOf={JSON.stringify}
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
