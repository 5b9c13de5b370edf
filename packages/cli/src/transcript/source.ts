/**
 * Parses a file's text: one JSON document or JSON Lines, recognized by the content.
 */
import { Either } from "effect"

/** A problem and its line: the part of a `TranscriptError` without the file. */
export interface Problem {
  readonly line?: number
  readonly problem: string
  readonly allowed?: string
}

/** A JSON value from one line; lines count from 1. */
export interface Line {
  readonly line: number
  readonly value: unknown
}

/** JSON Lines up to the first broken line. */
export type Source =
  | { readonly kind: "document"; readonly value: unknown }
  | { readonly kind: "lines"; readonly lines: ReadonlyArray<Line>; readonly broken: Problem | undefined }

export type JsonObject = { readonly [key: string]: unknown }

/** Whether a value is a JSON object, not a list or null. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

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
  if (Either.isRight(document)) return Either.right({ kind: "document", value: document.right })
  const lines = textLines(bare)
  if (!bare.trimStart().startsWith("[") && lines.slice(0, 2).some((one) => isObjectText(one.text))) {
    return Either.right(readLines(lines))
  }
  const { position, problem } = document.left
  return Either.left(position === undefined ? { problem } : { line: lineAt(bare, position), problem })
}
