/** The owner and the title of a session, by which a store lists it. */
import type { Description } from "@memfold/log/Projections"
import { noDescription } from "../session/description.js"
import { parsedRow, type Projection } from "./Projection.js"

/** The description since the start, and the newest version; `null` if the session was not described since. */
interface Collected {
  readonly described: Description | null
  readonly version: number
}

/** The row of a description; none without an owner and a title. */
export const description: Projection<Collected> = {
  kind: "description",
  start: ({ version }) => ({ described: null, version }),
  step: ({ described }, { recorded: { event, version }, after }) => ({
    described: event._tag === "SessionDescribed" ? after.description : described,
    version,
  }),
  rows: ({ described }) =>
    described === null || (described.owner === null && described.title === null)
      ? []
      : [{ key: "", data: JSON.stringify({ owner: described.owner, title: described.title }) }],
  problems: ([stored], { described, version }) => {
    const { owner, title } = stored === undefined ? noDescription : parsedRow<Description>(stored)
    const expected = described ?? noDescription
    return owner === expected.owner && title === expected.title
      ? []
      : [{ version, detail: "the store lists the session with another owner or title than the log has" }]
  },
}
