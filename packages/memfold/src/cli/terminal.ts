/**
 * Laying out text for a terminal: colours where somebody looks, plain text where a program reads.
 */
import { Console, Effect } from "effect"
import pc from "picocolors"
import stringWidth from "string-width"

const { env, stdout } = process

/** `NO_COLOR` and `FORCE_COLOR` are heeded; otherwise colours are for terminals that can show them. */
const colored =
  (env["NO_COLOR"] ?? "") === "" &&
  ((env["FORCE_COLOR"] ?? "0") !== "0" || (stdout.isTTY && env["TERM"] !== "dumb"))

/** Colours, which are no colours when the output is piped. */
export const color = pc.createColors(colored)

// oxlint-disable-next-line no-control-regex -- that is how a terminal is told
const colors = /\u001B\[[\d;]*m/g

const withoutColors = (part: unknown): unknown => (typeof part === "string" ? part.replace(colors, "") : part)

/** The parser of the command line colours its help wherever it goes; what it prints keeps to the rule above. */
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

/** The columns there are to write in; a file gets a fixed, readable number. */
export const columns = (): number => Math.min(Math.max(stdout.columns ?? 100, 60), 140)

const control = /(?:(?!\u200D)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}])+/gu
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/**
 * A text with spaces in place of control characters: what is shown must not be able to steer the terminal, and
 * stays on its line. The joiner stays, since it holds emoji together.
 */
export const clean = (text: string): string => text.replace(control, " ")

/** A text as `tidy` has it, and only its start and an ellipsis where that is longer than `width` columns. */
const cut = (text: string, width: number, tidy: (text: string) => string): string => {
  // More than this cannot fit, and long tool outputs need not be segmented to their end.
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

/** A text on one line of at most `width` columns, clean, with an ellipsis where something was left out. */
export const oneLine = (text: string, width: number): string =>
  cut(text, width, (start) => clean(start).replace(/\s+/g, " ").trim())

/** The columns that an id takes at most; more of it makes a table hard to read. */
const idColumns = 60

/** An id as a person reads it: clean, and cut where it is very long. */
export const shownId = (id: string): string => cut(id, idColumns, clean)

/** A number with separators, the same in every locale: 12,345. */
export const count = (value: number): string => value.toLocaleString("en-US")

/** A share as a percentage, with one digit unless told otherwise: 27.8 %. */
export const percent = (share: number, digits = 1): string => `${(share * 100).toFixed(digits)} %`

/** One of them, or several: `1 message`, `2 messages`. */
export const several = (value: number, noun: string): string =>
  `${count(value)} ${noun}${value === 1 ? "" : "s"}`

export type Align = "left" | "right"

/** What stands in a cell; its colour is apart from it, so that a text cannot bring colours of its own. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => string }

const textOf = (cell: Cell | undefined): string => clean(typeof cell === "object" ? cell.text : (cell ?? ""))

const pad = (cell: Cell, width: number, align: Align): string => {
  const text = textOf(cell)
  const shown = typeof cell === "object" ? cell.paint(text) : text
  const space = " ".repeat(Math.max(width - stringWidth(text), 0))
  return align === "left" ? shown + space : space + shown
}

/** A table with a header, its columns as wide as their widest cell (wide characters count as two); all is clean. */
export const table = (
  header: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<Cell>>,
  aligns: ReadonlyArray<Align>,
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

/** A heading that stands out, with an empty line before it; it is clean. */
export const heading = (text: string): string => `\n${color.bold(color.cyan(clean(text)))}`

/** A command that takes less time, in milliseconds, shows no progress. */
const quick = 1000

/** Shows on a terminal's standard error what a slow command is doing, on one line that the next call overwrites. */
export const progress = (text: string): void => {
  if (process.stderr.isTTY && performance.now() > quick)
    process.stderr.write(`\r\u001B[K${oneLine(text, columns() - 1)}`)
}

/** Takes the line of {@link progress} away. */
export const progressDone = (): void => {
  if (process.stderr.isTTY) process.stderr.write("\r\u001B[K")
}
