/** Formats text for a terminal: with colours on a terminal, plain in a pipe or a file. */
import { Console, Effect } from "effect"
import pc from "picocolors"
import stringWidth from "string-width"

const { env, stdout } = process

/** Follows `NO_COLOR` and `FORCE_COLOR`; otherwise, colours are on for terminals that support them. */
const colored =
  (env["NO_COLOR"] ?? "") === "" &&
  ((env["FORCE_COLOR"] ?? "0") !== "0" || (stdout.isTTY && env["TERM"] !== "dumb"))

/** Colours; no effect if colours are off. */
export const color = pc.createColors(colored)

// oxlint-disable-next-line no-control-regex -- that is how a terminal is told
const colors = /\u001B\[[\d;]*m/g

const withoutColors = (part: unknown): unknown => (typeof part === "string" ? part.replace(colors, "") : part)

/** Removes colours from what the parser prints if colours are off: it always colours its help. */
export const colorsWhereSeen = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  colored
    ? effect
    : Console.consoleWith((console) =>
        Effect.withConsole(effect, {
          ...console,
          log: (...parts) => console.log(...parts.map(withoutColors)),
          error: (...parts) => console.error(...parts.map(withoutColors)),
        }),
      )

/** The width to format for, from 60 to 140 columns; 100 if the output is not a terminal. */
export const columns = (): number => Math.min(Math.max(stdout.columns ?? 100, 60), 140)

const control = /(?:(?!\u200D)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}])+/gu
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/**
 * Replaces control characters by spaces: a printed text must not control the terminal or break its line. The zero-width
 * joiner stays, because emoji need it.
 */
export const clean = (text: string): string => text.replace(control, " ")

// Line breaks stay: within a text, JSON has none, and between its parts they are layout.
const controlOfJson = /(?:(?![\u200D\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}])/gu

/**
 * A value as JSON that is safe on a terminal: it escapes control characters, and characters that change the direction of
 * text. A parser reads the same value.
 */
export const json = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, null, indent) ?? "null").replace(controlOfJson, (found) =>
    Array.from(
      { length: found.length },
      (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`,
    ).join(""),
  )

export const printLines = (lines: Iterable<string>): Effect.Effect<void> =>
  Effect.forEach(lines, (line) => Console.log(line), { discard: true })

/** Prints a result: as a record for programs, or as a text for people. */
export const printResult = (isJson: boolean, record: object, text: string): Effect.Effect<void> =>
  Console.log(isJson ? json(record) : text)

/** Prints JSON Lines: one for each record. */
export const printJson = (records: Iterable<object>): Effect.Effect<void> =>
  Effect.forEach(records, (record) => Console.log(json(record)), { discard: true })

/** Applies `tidy` and cuts the result to `width` columns, with an ellipsis. */
const cut = (text: string, width: number, tidy: (text: string) => string): string => {
  // More than this cannot fit. Segmenting a long tool output to its end would be slow.
  const line = tidy(text.slice(0, width * 8))
  if (stringWidth(line) <= width && text.length <= width * 8) return line
  let shown = ""
  let used = 0
  for (const { segment } of graphemes.segment(line)) {
    const next = stringWidth(segment)
    if (used + next > width - 1) break
    shown += segment
    used += next
  }
  return `${shown.trimEnd()}…`
}

/** A clean text on one line of at most `width` columns, cut with an ellipsis. */
export const oneLine = (text: string, width: number): string =>
  cut(text, width, (start) => clean(start).replace(/\s+/g, " ").trim())

/** Lines without the middle of a long run, whose messages are only counted. */
export const withoutMiddle = (lines: ReadonlyArray<string>, around: number): ReadonlyArray<string> => {
  const hidden = lines.length - 2 * around
  return hidden <= 1
    ? lines
    : [...lines.slice(0, around), color.dim(`    ⋮  ${several(hidden, "message")}`), ...lines.slice(-around)]
}

/** The largest width of an id in a table, in columns. */
const idColumns = 60

/** An id to print: clean, and cut if it is very long. */
export const shownId = (id: string): string => cut(id, idColumns, clean)

/** Puts pieces on lines of at most `width` columns. The first line starts with `first`, the others with `next`. */
export const filled = (
  pieces: Iterable<string>,
  width: number,
  first: string,
  next: string,
): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = first
  for (const one of pieces) {
    const isEmpty = line.trim() === "" || line === first
    if (!isEmpty && line.length + 1 + one.length > width) {
      lines.push(line)
      line = next + one
    } else {
      line += (isEmpty ? "" : " ") + one
    }
  }
  return [...lines, line]
}

/** A text on lines of at most `width` columns, each indented. */
export const wrapped = (words: string, width: number, indent: string): ReadonlyArray<string> =>
  filled(words.split(/\s+/), width, indent, indent)

/** A number with separators, the same in every locale: 12,345. */
export const count = (value: number): string => value.toLocaleString("en-US")

/** A time of the log, in UTC. */
export const date = (millis: number): string => new Date(millis).toISOString().slice(0, 19).replace("T", " ")

/** A share from 0 to 1 as a percentage: 27.8 %. */
export const percent = (share: number, digits = 1): string => `${(share * 100).toFixed(digits)} %`

/** A number and its noun: `1 message`, `2 messages`. */
export const several = (value: number, noun: string): string =>
  `${count(value)} ${noun}${value === 1 ? "" : "s"}`

/** The first of some names: `a, b, …`. */
export const firstOf = (names: ReadonlyArray<string>): string =>
  names.slice(0, 5).join(", ") + (names.length > 5 ? ", …" : "")

/** A range of messages whose end is not in it, by the numbers of the first and the last one: `116 to 163`. */
export const span = ({ from, to }: { readonly from: number; readonly to: number }): string =>
  to <= from ? "none" : to === from + 1 ? count(from) : `${count(from)} to ${count(to - 1)}`

/** A name of the log's in words: `message appended`. */
export const inWords = (name: string): string =>
  name.replaceAll(/(?<![A-Z])[A-Z]/g, (letter, at) => `${at === 0 ? "" : " "}${letter.toLowerCase()}`)

export type Align = "left" | "right"

/** A cell of a table. Its colour is separate from its text, because control characters in texts are removed. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => string }

const textOf = (cell: Cell | undefined): string => clean(typeof cell === "object" ? cell.text : (cell ?? ""))

const pad = (cell: Cell, width: number, align: Align): string => {
  const text = textOf(cell)
  const shown = typeof cell === "object" ? cell.paint(text) : text
  const space = " ".repeat(Math.max(width - stringWidth(text), 0))
  return align === "left" ? shown + space : space + shown
}

/**
 * A table with a header. Columns are as wide as their widest cell; wide characters count as two. Cells are cleaned.
 *
 * @param aligns - of the columns from the first on; further ones are to the left
 */
export const table = (
  header: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<Cell>>,
  aligns: ReadonlyArray<Align> = [],
): string => {
  const widths = header.map((title, column) =>
    Math.max(stringWidth(title), ...rows.map((row) => stringWidth(textOf(row[column])))),
  )
  const line = (cells: ReadonlyArray<Cell>) =>
    cells
      .map((cell, column) => pad(cell, widths[column] ?? 0, aligns[column] ?? "left"))
      .join("  ")
      .trimEnd()
  return [
    color.bold(line(header)),
    color.dim(widths.map((width) => "─".repeat(width)).join("  ")),
    ...rows.map(line),
  ].join("\n")
}

/** A bold heading after an empty line. The text is cleaned. */
export const heading = (text: string): string => `\n${color.bold(color.cyan(clean(text)))}`

/** No progress is shown during this time, in milliseconds. */
const quick = 1000

/** Shows progress on standard error, if that is a terminal: one line, overwritten by the next call. */
export const progress = (text: string): void => {
  if (process.stderr.isTTY && performance.now() > quick)
    process.stderr.write(`\r\u001B[K${oneLine(text, columns() - 1)}`)
}

/** Erases the line of {@link progress}. */
export const progressDone = (): void => {
  if (process.stderr.isTTY) process.stderr.write("\r\u001B[K")
}
