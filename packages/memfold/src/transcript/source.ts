/**
 * A file's text as JSON: either one document or JSON Lines, told apart by looking at it.
 */
import { Either } from "effect"

/** Why reading stops, and where: the part of a `TranscriptError` that does not depend on the file. */
export interface Problem {
  readonly line?: number
  readonly problem: string
  readonly allowed?: string
}

/** A JSON value that stood on a line of its own; lines count from one. */
export interface Line {
  readonly line: number
  readonly value: unknown
}

/** JSON Lines that break off still have the lines before. */
export type Source =
  | { readonly kind: "document"; readonly value: unknown }
  | { readonly kind: "lines"; readonly lines: ReadonlyArray<Line>; readonly broken: Problem | undefined }

export type JsonObject = { readonly [key: string]: unknown }

/** Whether a value is a JSON object: no list, no null. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

interface SyntaxProblem {
  /** The index of the character, where the engine tells it. */
  readonly position: number | undefined
  readonly problem: string
}

/** What is wrong with a text that is not JSON. The engine's own words quote the text, so they are not used. */
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

const isObjectText = (text: string): boolean =>
  Either.match(json(text), { onLeft: () => false, onRight: isObject })

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
  const read: Array<Line> = []
  for (const { line, text } of lines) {
    const value = json(text)
    if (Either.isLeft(value))
      return { kind: "lines", lines: read, broken: { line, problem: value.left.problem } }
    read.push({ line, value: value.right })
  }
  return { kind: "lines", lines: read, broken: undefined }
}

const lineAt = (text: string, position: number): number => text.slice(0, position).split("\n").length

/** A text without the byte order mark that some programs put before it. */
export const withoutMark = (text: string): string => text.replace(/^\uFEFF/, "")

/**
 * Reads a text as one JSON document, and if it is none, as JSON Lines. A byte order mark, blank lines and both
 * kinds of line ends are fine. A broken text counts as JSON Lines if one of its first two lines is an object by
 * itself, so that one broken line is told from a broken document.
 */
export const readSource = (text: string): Either.Either<Source, Problem> => {
  const bare = withoutMark(text)
  if (bare.trim() === "") return Either.left({ problem: "the file is empty" })
  const document = json(bare)
  if (Either.isRight(document)) return Either.right({ kind: "document", value: document.right })
  const lines = textLines(bare)
  if (!bare.trimStart().startsWith("[") && lines.slice(0, 2).some((one) => isObjectText(one.text))) {
    return Either.right(readLines(lines))
  }
  const { position, problem } = document.left
  return Either.left(position === undefined ? { problem } : { line: lineAt(bare, position), problem })
}
