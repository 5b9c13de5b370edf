/** What is known of the user and the scope, when it is true, and what the facts that were learned anew would change. */
import type { schemas } from "@memfold/client"
import { useState } from "preact/hooks"
import { moment } from "../format.js"
import { Badge, Problem } from "../parts/Notices.js"
import { Table } from "../parts/Table.js"
import { ask, ofSession, reasonOf } from "../service/ask.js"
import { useRight } from "../service/rights.js"
import { useAnswer } from "../service/useAnswer.js"
import type { ViewProps } from "../session/ViewProps.js"

type Facts = typeof schemas.Facts.Type
type Fact = Facts["facts"][number]
type Diff = typeof schemas.FactsDiff.Type

/** A fact, and what would become of it. */
type Row = readonly [what: string, fact: Fact]

const span = ({ validFrom, validUntil }: Fact): string =>
  [validFrom, validUntil].map((time) => (time === undefined ? "" : moment(time))).join(" – ")

const quotes = ({ sources = [] }: Fact): string => sources.map(({ quote }) => `“${quote}”`).join(" ")

const FactTable = ({ label, rows }: { readonly label: string; readonly rows: ReadonlyArray<Row> }) => (
  <Table
    label={label}
    rows={rows}
    keyOf={([what, { id }]) => what + id}
    columns={[
      ["Fact", ([, { text }]) => text],
      ["Status", ([what]) => (what === "" ? null : <Badge>{what}</Badge>)],
      ["True", ([, fact]) => span(fact)],
      ["Said", ([, fact]) => quotes(fact), "about"],
    ]}
  />
)

interface LearnedAnewProps {
  readonly session: string
  readonly owner: string | null
  readonly changes: number
  readonly moved: () => void
}

/** The facts of an owner, or of a session without one, as another extractor has learned them. */
const LearnedAnew = ({ session, owner, changes, moved }: LearnedAnewProps) => {
  const path = `/v1/owners/${encodeURIComponent(owner ?? session)}/facts/rebuild`
  const query = { of: owner === null ? "session" : "owner" }
  const mayWrite = useRight("write")
  const [problem, setProblem] = useState<string | null>(null)
  const { answer } = useAnswer<Diff>(path, { query }, { again: changes, keep: true })
  const diff = answer?.diff
  const act = (what: string, method: "POST" | "DELETE") => (
    <button
      onClick={() => {
        setProblem(null)
        ask(path + (what === "Take" ? "/take" : ""), { method, query })
          .catch((error: unknown) => setProblem(reasonOf(error)))
          .finally(moved)
      }}
    >
      {what}
    </button>
  )
  return (
    <>
      <h2>Learned anew</h2>
      <Problem>{problem}</Problem>
      {diff ? (
        <>
          <p>
            By {diff.by.extractor} {diff.by.version}
          </p>
          <FactTable
            label="What would change"
            rows={[
              ...diff.come.map((fact): Row => ["Comes", fact]),
              ...diff.go.map((fact): Row => ["Goes", fact]),
              ...diff.change.flatMap(({ before, after }): ReadonlyArray<Row> => [
                ["Was", before],
                ["Is", after],
              ]),
            ]}
          />
        </>
      ) : null}
      {mayWrite ? (
        <p class="row">
          {act("Learn anew", "POST")}
          {diff ? [act("Take", "POST"), act("Drop", "DELETE")] : null}
        </p>
      ) : null}
    </>
  )
}

export const FactsView = ({ timeline, version, changes }: ViewProps) => {
  const [day, setDay] = useState("")
  const [moves, setMoves] = useState(0)
  const time = Date.parse(day)
  const query = {
    at: Number.isNaN(time) ? "always" : time,
    asOfVersion: version < timeline.version ? version : undefined,
  }
  const again = `${changes} ${moves}`
  const { answer, problem } = useAnswer<Facts>(
    ofSession(timeline.session, "/facts"),
    { query },
    { again, keep: true },
  )
  const { owner } = timeline.at(timeline.version).description
  return (
    <div class="page-view">
      <h2>What is known</h2>
      <label class="row inline">
        True on <input type="date" value={day} onInput={({ currentTarget }) => setDay(currentTarget.value)} />
      </label>
      <Problem>{problem}</Problem>
      <FactTable
        label="What is known"
        rows={(answer?.facts ?? []).map((fact): Row => [
          fact.validUntil === undefined ? "" : "Not any more",
          fact,
        ])}
      />
      <LearnedAnew
        session={timeline.session}
        owner={owner}
        changes={changes + moves}
        moved={() => setMoves((before) => before + 1)}
      />
    </div>
  )
}
