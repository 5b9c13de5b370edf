/** `memfold summaries SESSION` */
import { Args } from "@effect/cli"
import { Memory, type Session } from "@memfold/core"
import { Console, Effect } from "effect"
import * as options from "./options.js"
import {
  type Cell,
  clean,
  color,
  count,
  date,
  printJson,
  shownId,
  span,
  table,
} from "../terminal/terminal.js"
import { short } from "./timeline.js"

const isSplit = ({ segments }: Session.SummaryRecord): boolean =>
  segments.some(({ kind }) => kind === "turn-prefix")

const record = (summary: Session.SummaryRecord) => ({
  type: "summary",
  summary: summary.id,
  version: summary.version,
  status: summary.status,
  supersededBy: summary.supersededBy,
  coveredTo: summary.coveredTo,
  messages: summary.total,
  time: new Date(summary.time).toISOString(),
  tokens: summary.tokens,
  splitTurn: isSplit(summary),
  segments: summary.segments.map(({ kind, from, to }) => ({ kind, from, to })),
  text: summary.text,
})

const statusColor: Readonly<Record<Session.SummaryStatus, (text: string) => string>> = {
  active: color.green,
  superseded: color.dim,
  invalid: color.red,
}

const named = (id: string | null): string => (id === null ? "" : id.length > 6 ? `…${short(id)}` : id)

const row = (summary: Session.SummaryRecord): ReadonlyArray<Cell> => [
  shownId(summary.id),
  count(summary.version),
  { text: summary.status, paint: statusColor[summary.status] },
  span({ from: 0, to: summary.coveredTo }),
  count(summary.total),
  date(summary.time),
  count(summary.tokens),
  isSplit(summary) ? "Split Turn" : "",
  named(summary.supersededBy),
]

export const command = options.command(
  "summaries",
  "List every summary a session ever had, with its status.",
  { session: Args.text({ name: "SESSION" }), ...options.stored, json: options.json },
  ({ session, store, archive, json }) =>
    Effect.gen(function* () {
      yield* options.requireSession(session, store)
      const memory = yield* Memory.Memory
      const all = yield* memory.summaries(session)
      if (json) return yield* printJson(all.map(record))
      if (all.length === 0) return yield* Console.log(clean(`session "${session}" has no summaries`))
      yield* Console.log(
        table(
          ["summary", "event", "status", "covers", "of", "made", "tokens", "", "superseded by"],
          all.map(row),
          ["left", "right", "left", "left", "right", "left", "right"],
        ),
      )
    }).pipe(Effect.provide(options.quietMemory({ store, archive }))),
)
