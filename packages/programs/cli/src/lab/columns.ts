/**
 * A table whose columns come in groups, laid out for a width: groups stand side by side where there is room, and below each
 * other, with the first column again, where there is not.
 */
import stringWidth from "string-width"
import { type Align, type Cell, color, oneLine, table } from "../terminal/terminal.js"

/** A column: its title, and a cell for each row. */
export interface Column {
  readonly title: string
  readonly cells: ReadonlyArray<Cell>
}

/** Columns that belong together, under one title. */
export interface Group {
  readonly title: string
  readonly columns: ReadonlyArray<Column>
}

const gap = 2

const textOf = (cell: Cell): string => (typeof cell === "object" ? cell.text : cell)

const widthOf = ({ title, cells }: Column): number =>
  Math.max(stringWidth(title), ...cells.map((cell) => stringWidth(textOf(cell))))

const widthOfAll = (columns: ReadonlyArray<Column>): number =>
  columns.reduce((sum, column) => sum + gap + widthOf(column), 0)

/** Cuts a list before each one that does not fit with those before it. */
const cut = <A>(all: ReadonlyArray<A>, fit: (some: ReadonlyArray<A>) => boolean): Array<Array<A>> => {
  const found: Array<Array<A>> = []
  for (const one of all) {
    const last = found.at(-1)
    if (last !== undefined && fit([...last, one])) last.push(one)
    else found.push([one])
  }
  return found
}

/** The titles of the groups, each over its columns; a rule fills the rest. */
const titles = (first: number, groups: ReadonlyArray<Group>): string =>
  " ".repeat(first) +
  groups
    .map(({ title, columns }) => {
      const width = widthOfAll(columns) - gap
      const shown = oneLine(title, width)
      return " ".repeat(gap) + shown + " ".repeat(Math.max(width - stringWidth(shown), 0))
    })
    .join("")
    .trimEnd()

/**
 * Lays out a table.
 *
 * @param first - The column that every part of the table begins with; its cells are cut where they would take more than a
 *   third of the width.
 * @param groups - The other columns; numbers, aligned to the right.
 * @param width - The columns of the terminal.
 * @returns the parts of the table, from top to bottom
 */
export const groupedTable = (
  first: { readonly title: string; readonly cells: ReadonlyArray<string> },
  groups: ReadonlyArray<Group>,
  width: number,
): ReadonlyArray<string> => {
  const most = Math.max(Math.floor(width / 3), 12)
  const names: Column = { title: first.title, cells: first.cells.map((name) => oneLine(name, most)) }
  const fit = (columns: ReadonlyArray<Column>) => widthOfAll(columns) <= width - widthOf(names)
  const columnsOf = (part: ReadonlyArray<Group>) => part.flatMap(({ columns }) => columns)
  const pieces = groups.flatMap(({ title, columns }) =>
    cut(columns, fit).map((some) => ({ title, columns: some })),
  )
  return cut(pieces, (part) => fit(columnsOf(part))).map((part) => {
    const columns = [names, ...columnsOf(part)]
    const rows = names.cells.map((_, row) => columns.map(({ cells }) => cells[row] ?? ""))
    const aligns = columns.map((_, at): Align => (at === 0 ? "left" : "right"))
    const header = columns.map(({ title }) => title)
    return `${color.cyan(titles(widthOf(names), part))}\n${table(header, rows, aligns)}`
  })
}
