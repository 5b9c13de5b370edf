/**
 * The full-text index of a session as a projection: the list of its parts in one row, and the rows of each part. The index is
 * written when a session is searched, and a repair drops it: the next search builds it again.
 */
import { Option, Schema } from "effect"
import { type RecordedEvent, batchIdOf } from "../event/EventCodec.js"
import type { ProjectionRow } from "@memfold/log/EventLog"
import type { Projection, RowProblem } from "../projection/Projection.js"
import { encodePart, headKey, isOfOtherRules, keysOf } from "./partForm.js"
import { beginning, SessionIndex } from "./SessionIndex.js"

export const indexKind = "index"

/** The key of the row that lists the parts. */
export const partsKey = "parts"

const Parts = Schema.Struct({
  gaps: Schema.Array(Schema.Struct({ from: Schema.Int, to: Schema.Int })),
  parts: Schema.Array(Schema.Struct({ version: Schema.Int, batchId: Schema.String, buckets: Schema.Int })),
})

/** The parts of an index, in the order of the log, and the gaps of the branch that it is about. */
export type PartList = typeof Parts.Type

const decodeParts = Schema.decodeUnknownOption(Schema.parseJson(Parts))

/** The list in a row; an empty one if there is none, or it cannot be read. */
export const listIn = (row: ProjectionRow | undefined): PartList =>
  Option.getOrElse(decodeParts(row?.data), () => ({ gaps: [], parts: [] }))

export const partsRow = ({ gaps, parts }: PartList): ProjectionRow => ({
  key: partsKey,
  data: JSON.stringify({ gaps, parts }),
})

/** The rows that the log has for the parts of an index with these ends; `null` for a part that the log does not have. */
const expectedRows = (
  session: string,
  events: ReadonlyArray<RecordedEvent>,
  { gaps, parts }: PartList,
): ReadonlyArray<ReadonlyArray<ProjectionRow> | null> => {
  let index = new SessionIndex(beginning(gaps), gaps)
  let next = index.version
  return parts.map((part) => {
    const end = events.findIndex(({ version }) => version === part.version)
    const last = events[end]
    if (last === undefined || batchIdOf(last) !== part.batchId) return null
    for (const recorded of events.slice(next, end + 1)) index.add(recorded)
    next = end + 1
    const { version, batchId } = part
    const encoded = encodePart({ session, version, batchId }, index)
    const messages = index.from + index.lengths.length
    index = new SessionIndex({ version, lastId: last.id, messages }, gaps)
    return encoded.part.buckets === part.buckets ? encoded.rows : null
  })
}

const problemsOf = (
  session: string,
  stored: ReadonlyArray<ProjectionRow>,
  events: ReadonlyArray<RecordedEvent>,
): ReadonlyArray<RowProblem> => {
  if (stored.length === 0) return []
  const byKey = new Map(stored.map(({ key, data }) => [key, data]))
  const list = listIn(stored.find(({ key }) => key === partsKey))
  const { parts } = list
  if (parts.some((part) => isOfOtherRules(session, part, byKey.get(headKey(part))))) return []
  const detail = "the part of the full-text index that ends here differs from the log"
  const differing = expectedRows(session, events, list).flatMap((rows, at): ReadonlyArray<RowProblem> =>
    rows !== null && rows.every(({ key, data }) => byKey.get(key) === data)
      ? []
      : [{ version: parts[at]?.version ?? 0, detail }],
  )
  const known = new Set([partsKey, ...parts.flatMap(keysOf)])
  const isWhole = parts.length > 0 && [...byKey.keys()].every((key) => known.has(key))
  if (differing.length > 0 || isWhole) return differing
  return [{ version: events.at(-1)?.version ?? 0, detail: "the full-text index has rows of no part" }]
}

/** The events of a session. They are collected in one list: a list for each event would take quadratic time. */
interface Collected {
  readonly session: string
  readonly events: Array<RecordedEvent>
}

/** The stored full-text index. Its rows are no function of single events, so none follow from an append. */
export const storedIndex: Projection<Collected> = {
  kind: indexKind,
  start: ({ session }) => ({ session, events: [] }),
  step: (collected, { recorded }) => {
    collected.events.push(recorded)
    return collected
  },
  rows: () => [],
  problems: (stored, { session, events }) => problemsOf(session, stored, events),
}
