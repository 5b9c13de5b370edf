/** Files of transcripts, taken apart: a small one at once, a large one piece by piece, so that its text is never in memory as a whole. */
import { Console, Effect, Either, Stream } from "effect"
import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import { decoderOf, InputError, InputLimit, problemOf, tooLarge } from "../input/Input.js"
import { clean } from "../terminal/terminal.js"
import {
  ElementScanner,
  isObject,
  lineFeeds,
  LinesSource,
  type Problem,
  readSource,
  type Source,
} from "../transcript/source.js"
import { parseEachOf } from "../transcript/Transcript.js"
import { ImportError, inFile } from "./ImportError.js"
import { readText } from "./files.js"

const mebibyte = 2 ** 20

/** From this size on, a file is read piece by piece, in MiB. */
const largeFrom = 64

/**
 * A file, taken apart.
 *
 * - `sources`: its parts, in their order, each with the number of conversations before it; `null` if it is the whole file
 * - `isRepeated`: whether the parts are read anew each time; otherwise they are there
 */
export interface Sources {
  readonly sources: Stream.Stream<{ readonly source: Source; readonly before: number | null }, ImportError>
  readonly isRepeated: boolean
}

const wrong = (file: string, problem: Problem | string): ImportError =>
  inFile(file)(typeof problem === "string" ? { problem } : problem)

async function* piecesOf(file: string, onRead: (bytes: number) => void): AsyncGenerator<string, void, void> {
  let decoder: ReturnType<typeof decoderOf> | undefined
  let asLines: ReturnType<typeof lineFeeds> | undefined
  for await (const bytes of createReadStream(file, { highWaterMark: mebibyte })) {
    onRead((bytes as Buffer).length)
    decoder ??= decoderOf(file, bytes as Buffer)
    const piece = decoder.decode(bytes as Buffer, { stream: true })
    asLines ??= lineFeeds(piece)
    yield asLines(piece)
  }
  if (decoder !== undefined) yield decoder.decode()
}

/** What Claude Code repeats of each result for itself, and nobody says, is most of its large files. */
const slim = (value: unknown): unknown => {
  if (!isObject(value) || !("toolUseResult" in value)) return value
  const { toolUseResult: _, ...rest } = value
  return rest
}

/** How a large file is read: what is skipped of it, the most characters of a line or an element, and what is told of the progress. */
interface Reading {
  readonly file: string
  readonly skips: boolean
  readonly most: number
  readonly onRead: (bytes: number) => void
}

const linesOf = async ({ file, skips, most, onRead }: Reading): Promise<Source> => {
  const lines = new LinesSource(skips, slim)
  let begun: Array<string> = []
  let size = 0
  let count = 0
  const keep = (text: string) => {
    size += text.length
    if (size <= most) return void begun.push(text)
    // A file without an end of a line need not be read to its end.
    if (!skips)
      throw wrong(file, { line: count + 1, problem: `a line is too long: ${tooLarge(most / mebibyte)}` })
    begun = []
  }
  const take = (): boolean => {
    const line = (count += 1)
    const goesOn =
      size > most
        ? lines.leaveOut({ line, problem: tooLarge(most / mebibyte) })
        : lines.take(line, begun.join(""))
    begun = []
    size = 0
    return goesOn
  }
  for await (const piece of piecesOf(file, onRead)) {
    const [first = "", ...others] = piece.split("\n")
    keep(first)
    for (const next of others) {
      if (!take()) return lines.source
      keep(next)
    }
  }
  take()
  return lines.source
}

/** The elements of a list, each as a file of its own. */
async function* elementsOf({ file, skips, most, onRead }: Reading): AsyncGenerator<Source, void, void> {
  const scanner = new ElementScanner(most)
  let count = 0
  for await (const piece of piecesOf(file, onRead)) {
    for (const text of scanner.take(piece)) {
      const source =
        text === null ? Either.left<Problem>({ problem: tooLarge(most / mebibyte) }) : readSource(text, skips)
      const place = `element ${count++}`
      if (Either.isRight(source)) {
        yield source.right
        continue
      }
      const problem = `${place}: ${source.left.problem}`
      if (!skips) throw wrong(file, { problem })
      yield { document: undefined, rows: [], broken: undefined, skips, damaged: [{ problem }] }
    }
  }
  if (!scanner.isWithin) return
  const problem = "not JSON (unexpected end)"
  if (!skips) throw wrong(file, problem)
  const { rows = [] } = Either.getOrElse(readSource(scanner.rest, skips), () => ({}) as Partial<Source>)
  yield { document: rows[0]?.value, rows, broken: undefined, skips, damaged: [{ problem }] }
}

/** Whether an element of a list is a conversation of its own, as in exports, and not a message of one. */
const isConversation = (source: Source, format: string): boolean => {
  const found = parseEachOf(source, { file: "", format })
  return (
    Either.isRight(found) &&
    ["chatgpt", "claude", "sharegpt", "tau-bench"].includes(found.right[0]?.transcript.format ?? "")
  )
}

/** A list in one piece: the elements are messages. */
const wholeList = async (reading: Reading): Promise<Source> => {
  const elements: Array<unknown> = []
  const damaged: Array<Problem> = []
  for await (const source of elementsOf(reading)) {
    elements.push(...source.rows.map(({ value }) => value))
    damaged.push(...source.damaged)
  }
  return { document: elements, rows: [{ value: elements }], broken: undefined, skips: reading.skips, damaged }
}

const firstOf = async <A>(
  all: AsyncGenerator<A, void, void>,
  is: (one: A) => boolean = () => true,
): Promise<A | undefined> => {
  for await (const one of all) if (is(one)) return one
  return undefined
}

/** Tells on standard error how much of a large file is read. */
const progress = (file: string, size: number): ((bytes: number) => void) => {
  let [read, told] = [0, 0]
  return (bytes) => {
    read += bytes
    const tenths = Math.floor((10 * read) / size)
    if (tenths === told) return
    told = tenths
    Effect.runSync(
      Console.error(clean(`memfold: ${file}: ${tenths * 10}% of ${Math.ceil(size / mebibyte)} MiB read`)),
    )
  }
}

const large = async (
  reading: Omit<Reading, "onRead"> & { readonly size: number; readonly format: string },
): Promise<Sources | null> => {
  const { file, size, format } = reading
  const once = (): Reading => ({ ...reading, onRead: progress(file, size) })
  const silent = { ...reading, onRead: () => {} }
  const begin = (await firstOf(piecesOf(file, () => {})))?.replace(/^\uFEFF/, "").trimStart() ?? ""
  const one = (source: Source): Sources => ({
    sources: Stream.make({ source, before: null }),
    isRepeated: false,
  })
  if (begin.startsWith("[")) {
    const first = await firstOf(elementsOf(silent), ({ rows }) => rows.length > 0)
    if (first === undefined || !isConversation(first, format)) return one(await wholeList(once()))
    return {
      sources: Stream.suspend(() =>
        Stream.fromAsyncIterable(elementsOf(once()), (error) => failure(file, error)),
      ).pipe(
        Stream.zipWithIndex,
        Stream.map(([source, before]) => ({ source, before })),
      ),
      isRepeated: true,
    }
  }
  const [line = ""] = begin.split("\n", 1)
  return Either.isRight(readSource(line)) || begin.length === line.length ? one(await linesOf(once())) : null
}

const failure = (file: string, error: unknown): ImportError =>
  error instanceof ImportError
    ? error
    : wrong(file, error instanceof InputError ? error.problem : problemOf(error))

/**
 * Takes a file apart. One of less than 64 MiB, or of less than the limit, is read at once; a larger one line by line, or element by
 * element, with lines on standard error that say how far it is: then the limit is that of each line or element.
 *
 * @param skips - whether what is damaged is skipped
 */
export const sourcesOf = (
  file: string,
  { format, skips }: { readonly format: string; readonly skips: boolean },
): Effect.Effect<Sources, ImportError> =>
  Effect.gen(function* () {
    const limit = yield* InputLimit
    const size = yield* Effect.promise(() =>
      stat(file).then(
        (stats) => (stats.isFile() ? stats.size : 0),
        () => 0,
      ),
    )
    if (size > Math.min(limit, largeFrom) * mebibyte) {
      const found = yield* Effect.tryPromise({
        try: () => large({ file, size, format, skips, most: limit * mebibyte }),
        catch: (error) => failure(file, error),
      })
      if (found !== null) return found
    }
    const source = yield* Either.mapLeft(readSource(yield* readText(file), skips), inFile(file))
    return { sources: Stream.make({ source, before: null }), isRepeated: false }
  })
