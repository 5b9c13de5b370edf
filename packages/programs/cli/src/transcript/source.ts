/**
 * Parses a file's text: one JSON document or JSON Lines, recognized by the content.
 */
import { Either, Option } from "effect"

/** A problem and its line: the part of a `TranscriptError` without the file. */
export interface Problem {
  readonly line?: number
  readonly problem: string
  readonly allowed?: string
}

/** A value of a file. In JSON Lines it has its line, from 1; in a list of a document, its index. */
export interface Row<A = unknown> {
  readonly value: A
  readonly line?: number
  readonly index?: number
}

/**
 * What a file holds.
 *
 * - `document`: the value of a file that is one JSON document; `undefined` for JSON Lines
 * - `rows`: the document, or a value for each line up to the first broken one
 * - `broken`: the problem with that line
 */
export interface Source {
  readonly document: unknown
  readonly rows: ReadonlyArray<Row>
  readonly broken: Problem | undefined
}

export type JsonObject = { readonly [key: string]: unknown }

/** Whether a value is a JSON object, not a list or null. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The rows of a list in a document. */
export const rowsOf = (list: ReadonlyArray<unknown>): ReadonlyArray<Row> =>
  list.map((value, index) => ({ value, index }))

/** The objects of a file: a line each, those of a list, or one. */
export const objectsOf = ({ rows }: Source): ReadonlyArray<JsonObject> =>
  rows.flatMap(({ value, line }) => (line === undefined ? [value].flat() : [value])).filter(isObject)

interface SyntaxProblem {
  /** The index of the character, if the JavaScript engine reports it. */
  readonly position: number | undefined
  readonly problem: string
}

/** The problem with a text that is not JSON. The engine's own message is not used, because it quotes the text. */
const syntaxProblem = (text: string, error: unknown): SyntaxProblem => {
  const words = error instanceof Error ? error.message : ""
  const position = Number(/at position (\d+)/.exec(words)?.[1] ?? Number.NaN)
  const ended = /end of JSON|Unterminated/.test(words) || position >= text.trimEnd().length
  return {
    position: Number.isNaN(position) ? undefined : position,
    problem: `not JSON (unexpected ${ended ? "end" : "character"})`,
  }
}

const json = (text: string): Either.Either<unknown, SyntaxProblem> =>
  Either.try({
    try: (): unknown => JSON.parse(text),
    catch: (error) => syntaxProblem(text, error),
  })

interface TextLine {
  readonly line: number
  readonly text: string
}

const textLines = (text: string): ReadonlyArray<TextLine> =>
  text
    .split(/\r?\n/)
    .map((one, index) => ({ line: index + 1, text: one }))
    .filter((one) => one.text.trim() !== "")

const readLines = (lines: ReadonlyArray<TextLine>): Source => {
  const rows: Array<Row> = []
  for (const { line, text } of lines) {
    const value = json(text)
    if (Either.isLeft(value))
      return { document: undefined, rows, broken: { line, problem: value.left.problem } }
    rows.push({ line, value: value.right })
  }
  return { document: undefined, rows, broken: undefined }
}

const lineAt = (text: string, position: number): number => text.slice(0, position).split("\n").length

/** Removes the byte order mark that some programs write. */
export const withoutMark = (text: string): string => text.replace(/^\uFEFF/, "")

/**
 * Reads a text as one JSON document or else as JSON Lines. A byte order mark, blank lines and both kinds of line ends are
 * allowed. A broken text counts as JSON Lines if one of its first two lines is an object by itself; otherwise it is a
 * broken document.
 */
export const readSource = (text: string): Either.Either<Source, Problem> => {
  const bare = withoutMark(text)
  if (bare.trim() === "") return Either.left({ problem: "the file is empty" })
  const document = json(bare)
  if (Either.isRight(document)) {
    const value = document.right
    return Either.right({ document: value, rows: [{ value }], broken: undefined })
  }
  const lines = textLines(bare)
  const hasObject = () =>
    lines.slice(0, 2).some((one) => Option.exists(Either.getRight(json(one.text)), isObject))
  if (!bare.trimStart().startsWith("[") && hasObject()) return Either.right(readLines(lines))
  const { position, problem } = document.left
  return Either.left(position === undefined ? { problem } : { line: lineAt(bare, position), problem })
}
