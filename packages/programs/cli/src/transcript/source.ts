/** Parses a file's text: one JSON document or JSON Lines, recognized by the content. */
import { Either, Option } from "effect"

/** A problem and its line: the part of a `TranscriptError` without the file. */
export interface Problem {
  readonly line?: number | undefined
  readonly problem: string
  readonly allowed?: string | undefined
}

/** A problem with a file, in a line: `chat.jsonl:17: not JSON (unexpected end)`. */
export const problemLine = ({ file, line, problem, allowed }: Problem & { readonly file: string }): string =>
  `${file}${line === undefined ? "" : `:${line}`}: ${problem}${allowed === undefined ? "" : `; allowed: ${allowed}`}`

/** A value of a file. In JSON Lines it has its line, from 1; in a list of a document, its index; `list` is what leads to the list. */
export interface Row<A = unknown> {
  readonly value: A
  readonly list?: string
  readonly line?: number
  readonly index?: number
}

/**
 * What a file holds.
 *
 * - `document`: the value of a file that is one JSON document; `undefined` for JSON Lines
 * - `rows`: the document, or a value for each line up to the first broken one
 * - `broken`: the problem with that line
 * - `skips`: whether what is damaged is skipped; then `damaged` has it, and nothing is `broken`
 */
export interface Source {
  readonly document: unknown
  readonly rows: ReadonlyArray<Row>
  readonly broken: Problem | undefined
  readonly skips: boolean
  readonly damaged: ReadonlyArray<Problem>
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

/** The value of a JSON text; for any other text, what is to be taken for it. */
export const valueOr = (text: string, other: unknown): unknown => Either.getOrElse(json(text), () => other)

interface TextLine {
  readonly line: number
  readonly text: string
}

const textLines = (text: string): ReadonlyArray<TextLine> =>
  text
    .split(/\r?\n/)
    .map((one, index) => ({ line: index + 1, text: one }))
    .filter((one) => one.text.trim() !== "")

/** Reads lines one by one. `isOver` says that no further one is wanted. */
export class LinesSource {
  private readonly rows: Array<Row> = []
  private readonly damaged: Array<Problem> = []
  private broken: Problem | undefined

  constructor(
    private readonly skips: boolean,
    private readonly slim: (value: unknown) => unknown = (value) => value,
  ) {}

  /** Takes a line; `false` if reading ends with it. */
  take(line: number, text: string): boolean {
    if (text.trim() === "") return true
    const value = json(text)
    if (Either.isRight(value)) {
      this.rows.push({ line, value: this.slim(value.right) })
      return true
    }
    return this.leaveOut({ line, problem: text.includes("\0") ? "not JSON (NUL bytes)" : value.left.problem })
  }

  /** Leaves a line out; `false` if reading ends with it. */
  leaveOut(problem: Problem): boolean {
    if (this.skips) this.damaged.push(problem)
    else this.broken = problem
    return this.skips
  }

  get source(): Source {
    const { rows, broken, skips, damaged } = this
    return { document: undefined, rows, broken, skips, damaged }
  }
}

const readLines = (lines: ReadonlyArray<TextLine>, skips: boolean): Source => {
  const reader = new LinesSource(skips)
  for (const { line, text } of lines) if (!reader.take(line, text)) break
  return reader.source
}

/** The brackets that are open at the end of a text, where its commas are, and where nothing is open anymore. */
const structureOf = (
  text: string,
): {
  readonly closing: string
  readonly commas: ReadonlyArray<number>
  readonly ends: ReadonlyArray<number>
} => {
  const open: Array<string> = []
  const commas: Array<number> = []
  const ends: Array<number> = []
  let isText = false
  for (let at = 0; at < text.length; at++) {
    const one = text[at]!
    if (isText && one === "\\") at++
    else if (one === '"') isText = !isText
    else if (isText) continue
    else if (one === ",") commas.push(at)
    else if (one === "{" || one === "[") open.push(one === "{" ? "}" : "]")
    else if (one === "}" || one === "]") {
      open.pop()
      if (open.length === 0) ends.push(at + 1)
    }
  }
  return { closing: open.toReversed().join(""), commas, ends }
}

/** Objects and lists that stand one behind the other, on whatever lines, up to the first that is none, and how long they are. */
const valuesIn = (text: string): { readonly rows: ReadonlyArray<Row>; readonly length: number } => {
  const rows: Array<Row> = []
  let [length, line] = [0, 1]
  for (const end of structureOf(text).ends) {
    const one = text.slice(length, end)
    const value = json(one)
    if (Either.isLeft(value)) break
    const [lead = ""] = /^\s*/.exec(one) ?? []
    rows.push({ line: line + lineEnds(lead), value: value.right })
    line += lineEnds(one)
    length = end
  }
  return { rows, length }
}

/** What is whole of a value before the place where it is damaged: of what it is within, the fields and elements before. */
const beginOf = (text: string): Option.Option<unknown> => {
  const ends = [...structureOf(text).commas, text.length]
  const upTo = (end: number) => {
    const begin = text.slice(0, end)
    return Either.getRight(json(begin + structureOf(begin).closing))
  }
  let found = Option.none<unknown>()
  // Nothing behind the damage can be read.
  for (let [from, to] = [0, ends.length]; from < to;) {
    const middle = (from + to) >> 1
    const begin = upTo(ends[middle]!)
    if (Option.isSome(begin)) [found, from] = [begin, middle + 1]
    else to = middle
  }
  return found
}

/** What is whole of a list or an object that was cut off, or is damaged within; of a list, also the elements behind the damage. */
const wholeOf = (text: string, isList: boolean): Option.Option<unknown> => {
  if (!isList) return beginOf(text)
  const scanner = new ElementScanner()
  const whole = [...scanner.take(text), scanner.rest].flatMap((one) =>
    one === null ? [] : Option.toArray(Option.orElse(Either.getRight(json(one)), () => beginOf(one))),
  )
  return whole.length === 0 ? Option.none() : Option.some(whole)
}

/** Finds the elements of a list in its text, which comes piece by piece. It keeps no more characters than an element may have. */
export class ElementScanner {
  private depth = 0
  private isText = false
  private isEscaped = false
  private begun: Array<string> = []
  /** How many characters wait for the end of their element. */
  private waiting = 0

  /** @param most - the most characters of an element */
  constructor(private readonly most = Number.POSITIVE_INFINITY) {}

  /** Whether the text has ended within the list. */
  get isWithin(): boolean {
    return this.depth > 0
  }

  /** What is there of the element in which the text has ended. */
  get rest(): string {
    return this.begun.join("")
  }

  private keep(piece: string): void {
    this.waiting += piece.length
    if (this.waiting > this.most) this.begun = []
    else this.begun.push(piece)
  }

  /** The elements that end in this piece; `null` for one that has more characters than it may have. */
  *take(piece: string): Generator<string | null, void, void> {
    let from = 0
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at)
      if (this.isText) {
        if (this.isEscaped) this.isEscaped = false
        else if (code === 92) this.isEscaped = true
        else if (code === 34) this.isText = false
      } else if (code === 34) this.isText = true
      else if (code === 91 || code === 123) {
        this.depth++
        if (this.depth === 1) from = at + 1
      } else if (code === 93 || code === 125 || (code === 44 && this.depth === 1)) {
        if (this.depth === 1) {
          this.keep(piece.slice(from, at))
          const element = this.waiting > this.most ? null : this.begun.join("")
          this.begun = []
          this.waiting = 0
          from = at + 1
          if (element?.trim() !== "") yield element
        }
        if (code !== 44) this.depth--
      }
    }
    if (this.depth > 0) this.keep(piece.slice(from))
  }
}

const lineEnds = (text: string): number => text.split("\n").length - 1

const lineAt = (text: string, position: number): number => lineEnds(text.slice(0, position)) + 1

/** Removes the byte order mark that some programs write. */
export const withoutMark = (text: string): string => text.replace(/^\uFEFF/, "")

/** The text of a file, by its beginning, with line feeds where it has carriage returns alone. In JSON, both are only space. */
export const lineFeeds = (begin: string): ((text: string) => string) =>
  begin.includes("\n") || !/\r[^]/.test(begin) ? (text) => text : (text) => text.replaceAll("\r", "\n")

/**
 * Reads a text as one JSON document or else as JSON Lines. A byte order mark, blank lines and all kinds of line ends are
 * allowed, and so are documents one behind the other, each like a line. A broken text counts as JSON Lines if one of its first two
 * lines is an object by itself; otherwise it is a broken document.
 *
 * @param skips - whether lines that are damaged, and what a document has from where it is damaged or cut off, are skipped
 */
export const readSource = (text: string, skips = false): Either.Either<Source, Problem> => {
  const bare = lineFeeds(text)(withoutMark(text))
  if (bare.trim() === "") return Either.left({ problem: "the file is empty" })
  const document = json(bare)
  if (Either.isRight(document)) {
    const value = document.right
    return Either.right({ document: value, rows: [{ value }], broken: undefined, skips, damaged: [] })
  }
  const lines = textLines(bare)
  const wholeLines = (is: (value: unknown) => boolean, count: number) =>
    lines.slice(0, count).filter((one) => Option.exists(Either.getRight(json(one.text)), is)).length
  // Lines may be lists: then the first one is whole.
  const isList =
    bare.trimStart().startsWith("[") && (lines.length === 1 || wholeLines(Array.isArray, 1) === 0)
  const isBegunWhole = () => wholeLines(isObject, 2) + wholeLines(Array.isArray, 1) > 0
  // Of a document on several lines, most lines end with a comma.
  const isMostlyLines = () =>
    skips && wholeLines(isObject, lines.length) > lines.filter(({ text: one }) => /,\s*$/.test(one)).length
  const isLines = !isList && (isBegunWhole() || isMostlyLines())
  const found = isLines ? readLines(lines, skips) : undefined
  if (found !== undefined && found.broken === undefined && found.damaged.length === 0)
    return Either.right(found)
  const { rows, length } = valuesIn(bare)
  const rest = bare.slice(length)
  if (rest.trim() === "")
    return Either.right({ document: undefined, rows, broken: undefined, skips, damaged: [] })
  if (found !== undefined) return Either.right(found)
  const begin = lineAt(bare, bare.length - rest.trimStart().length)
  const wrong = json(rest)
  const { position, problem: what } = Either.isLeft(wrong) ? wrong.left : document.left
  const at =
    position === undefined ? (rows.length === 0 ? undefined : begin) : lineAt(bare, length + position)
  const problem: Problem = {
    ...(at === undefined ? {} : { line: at }),
    problem: bare.includes("\0") ? "not JSON (NUL bytes)" : what,
  }
  if (!skips) return Either.left(problem)
  const begun = wholeOf(rest, isList && length === 0)
  if (rows.length > 0) {
    const last = Option.match(begun, { onNone: () => [], onSome: (value) => [{ value, line: begin }] })
    const [one, ...others] = [...rows, ...last]
    const document = others.length === 0 ? one?.value : undefined
    const read = document === undefined ? [one!, ...others] : [{ value: document }]
    return Either.right({ document, rows: read, broken: undefined, skips, damaged: [problem] })
  }
  return Option.match(begun, {
    onNone: () => Either.left(problem),
    onSome: (value) =>
      Either.right({ document: value, rows: [{ value }], broken: undefined, skips, damaged: [problem] }),
  })
}
