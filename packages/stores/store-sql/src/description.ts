/** The owner and the title of sessions: columns of the table `sessions`, by which sessions are listed. */
import type { Description } from "@memfold/log/Projections"
import { Effect } from "effect"
import { text, textOrNull } from "./Database.js"
import type { RowTable } from "./RowTable.js"

const set = "UPDATE sessions SET described = ?, owner = ?, title = ?"

/** The only row of kind `description` of a session. Its key is empty, and it has no mark. */
export const description: RowTable = {
  get: ({ query }, session, filter) =>
    Effect.map(
      query(
        { operation: "projections.get", session },
        "SELECT owner, title FROM sessions WHERE name = ? AND described",
        [session],
      ),
      ([row]) => {
        const isAsked = filter === undefined || ("keys" in filter && filter.keys.includes(""))
        if (row === undefined || !isAsked) return []
        const described: Description = { owner: textOrNull(row, "owner"), title: textOrNull(row, "title") }
        return [{ key: "", data: JSON.stringify(described) }]
      },
    ),
  drop: (_dialect, run, session, keys) => {
    if (session === undefined) return run(set, [0, null, null])
    return keys === undefined || keys.includes("")
      ? run(`${set} WHERE id = ?`, [0, null, null, session.id])
      : Effect.void
  },
  add: (_dialect, run, { id }, [row]) => {
    if (row === undefined) return Effect.void
    const { owner, title } = JSON.parse(row.data) as Description
    return run(`${set} WHERE id = ?`, [1, owner, title, id])
  },
}

/** The owner and the title of a row of `sessions`, as a list of sessions has them. */
export const describedBy = (
  row: Readonly<Record<string, unknown>>,
): { readonly owner?: string; readonly title?: string } => ({
  ...(row["owner"] === null ? {} : { owner: text(row, "owner") }),
  ...(row["title"] === null ? {} : { title: text(row, "title") }),
})
