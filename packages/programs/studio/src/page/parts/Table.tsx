/** A table. On a narrow page a row is a paragraph, with each number behind its label. */
import type { ComponentChildren } from "preact"

/** A column of a table. Numbers stand at the right; what something is about is prose. */
export type Column<Row> = readonly [
  name: string,
  cell: (row: Row) => ComponentChildren,
  kind?: "number" | "about",
]

/** Shows a table. The first column names the row. */
export const Table = <Row,>({
  label,
  columns,
  rows,
  keyOf,
}: {
  readonly label: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly keyOf: (row: Row) => string
}) => (
  <div class="wide" tabIndex={0} role="group" aria-label={label}>
    <table>
      <thead>
        <tr>
          {columns.map(([name, , kind]) => (
            <th key={name} scope="col" class={kind}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(([name, cell, kind], at) =>
              at === 0 ? (
                <th key={name} scope="row">
                  {cell(row)}
                </th>
              ) : (
                <td key={name} class={kind} data-label={kind === "about" ? undefined : name}>
                  {cell(row)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
