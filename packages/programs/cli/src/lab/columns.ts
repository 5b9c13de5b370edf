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

/** Cuts a group where its columns leave the width. */
const pieces = ({ title, columns }: Group, room: number): ReadonlyArray<Group> => {
  const found: Array<Array<Column>> = []
  for (const column of columns) {
    const last = found.at(-1)
    if (last === undefined || widthOfAll([...last, column]) > room) found.push([column])
    else last.push(column)
  }
  return found.map((some) => ({ title, columns: some }))
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
  const room = width - widthOf(names)
  const parts: Array<Array<Group>> = []
  for (const group of groups.flatMap((one) => pieces(one, room))) {
    const last = parts.at(-1)
    const taken = widthOfAll([...(last ?? []).flatMap(({ columns }) => columns), ...group.columns])
    if (last === undefined || taken > room) parts.push([group])
    else last.push(group)
  }
  return parts.map((part) => {
    const columns = [names, ...part.flatMap((group) => group.columns)]
    const rows = names.cells.map((_, row) => columns.map(({ cells }) => cells[row] ?? ""))
    const aligns = columns.map((_, at): Align => (at === 0 ? "left" : "right"))
    const header = columns.map(({ title }) => title)
    return `${color.cyan(titles(widthOf(names), part))}\n${table(header, rows, aligns)}`
  })
}
