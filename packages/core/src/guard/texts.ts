/**
 * All texts of a message, in whatever part they stand, and the message with marks in place of pieces of them. It goes through everything
 * that a message has, and not only through what is read again (as `Item.textOf` does): whatever is stored can be found there.
 */
import { isBound, isReplacing, type Message, outputOf, type Part } from "@memfold/message/Message"
import { shapeOf, textOfFile, withTextOfFile } from "@memfold/message/Item"

/**
 * A text of a message, and where it stands: `parts.0.text`, `parts.1.arguments`, `metadata`. A structure is its JSON. Texts inside JSON that
 * are written with escapes have a place of their own as well, where they stand as they are meant: `parts.1.arguments@17`.
 */
export interface TextOf {
  readonly place: string
  readonly text: string
}

/** A piece of a text, from one UTF-16 code unit to another, and what is written in its place. */
export interface Mark {
  readonly from: number
  readonly to: number
  readonly mark: string
}

type MarksIn = (text: TextOf) => ReadonlyArray<Mark>

const withMarks = (text: string, marks: ReadonlyArray<Mark>): string => {
  let [written, end] = ["", 0]
  for (const { from, to, mark } of marks.toSorted(
    (one, other) => one.from - other.from || other.to - one.to,
  )) {
    // Of what overlaps, the first mark says what it was.
    if (from >= end) written += `${text.slice(end, from)}${mark}`
    end = Math.max(end, to)
  }
  return written + text.slice(end)
}

const literals = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs

const isJson = (text: string): boolean => {
  if (!/^\s*[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** What is meant by a piece of a JSON string, which may begin or end within an escape. */
export const meant = (piece: string): string => {
  for (const one of [piece, piece.slice(0, -1), piece.slice(1)])
    try {
      return JSON.parse(`"${one}"`) as string
    } catch {
      // The next one.
    }
  return piece
}

/** A place in a table of the beginnings of texts, by three code units. */
const placeOf = (text: string, at: number): number =>
  (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) & 0xffff

/** How many UTF-16 code units of a piece are looked for first. */
const longestBegin = 8

/**
 * Makes a function that finds pieces in texts: in one pass, however many there are.
 *
 * @param known - the pieces, none of them empty, with what is written in their place
 */
export const occurrencesOf = (
  known: ReadonlyMap<string, string>,
): ((text: string) => ReadonlyArray<Mark>) => {
  let beginLength = longestBegin
  for (const piece of known.keys()) beginLength = Math.min(beginLength, piece.length)
  const begins = new Uint8Array(2 ** 16)
  const lengths = new Map<string, Set<number>>()
  for (const piece of known.keys()) {
    const begin = piece.slice(0, beginLength)
    begins[placeOf(piece, 0)] = 1
    lengths.set(begin, (lengths.get(begin) ?? new Set()).add(piece.length))
  }
  return (text) => {
    const found: Array<Mark> = []
    const ends = new Map<string, number>()
    for (let from = 0; known.size > 0 && from + beginLength <= text.length; from++) {
      if (beginLength > 2 && begins[placeOf(text, from)] === 0) continue
      for (const length of lengths.get(text.slice(from, from + beginLength)) ?? []) {
        const piece = text.slice(from, from + length)
        const mark = known.get(piece)
        if (mark === undefined || from < (ends.get(piece) ?? 0)) continue
        ends.set(piece, from + piece.length)
        found.push({ from, to: from + piece.length, mark })
      }
    }
    return found
  }
}

/** A text with its marks. JSON stays JSON: a marked number becomes a string, and what is not marked keeps its bytes. */
const marked = (
  place: string,
  text: string,
  marksIn: MarksIn,
  {
    given = [],
    isStructure = false,
  }: { readonly given?: ReadonlyArray<Mark>; readonly isStructure?: boolean } = {},
): string => {
  const marks = [...given, ...marksIn({ place, text })]
  if (marks.length === 0 && !text.includes("\\")) return text
  if (!isStructure && !isJson(text)) return marks.length === 0 ? text : withMarks(text, marks)
  // A piece that goes on behind the string in which it begins is cut at its end; what begins between strings reaches into each.
  const ahead = marks.toSorted((one, other) => other.from - one.from)
  let reaching: ReadonlyArray<Mark> = []
  return text.replaceAll(literals, (literal, at: number) => {
    const end = at + literal.length
    const begun: Array<Mark> = []
    for (let next = ahead.at(-1); next !== undefined && next.from < end; next = ahead.at(-1)) {
      begun.push(next.from < at ? next : { ...next, to: Math.min(next.to, end) })
      ahead.pop()
    }
    const own = [...reaching, ...begun].filter(({ to }) => to > at)
    reaching = own.filter(({ to }) => to > end)
    if (!literal.startsWith('"')) return own[0] === undefined ? literal : JSON.stringify(own[0].mark)
    const isEscaped = literal.includes("\\")
    if (own.length === 0 && !isEscaped) return literal
    const plain = JSON.parse(literal) as string
    const within = own.map(({ from, to, mark }) => ({
      from: Math.max(from, at + 1),
      to: Math.min(to, end - 1),
      mark,
    }))
    const pieces = new Map<string, string>()
    for (const { from, to, mark } of isEscaped ? within : []) {
      const piece = meant(text.slice(from, to))
      if (piece !== "" && !pieces.has(piece)) pieces.set(piece, mark)
    }
    const inside = isEscaped
      ? occurrencesOf(pieces)(plain)
      : within.map(({ from, to, mark }) => ({ from: from - at - 1, to: to - at - 1, mark }))
    const written = isEscaped
      ? marked(`${place}@${at}`, plain, marksIn, { given: inside })
      : withMarks(plain, inside)
    return written === plain ? literal : JSON.stringify(written)
  })
}

/** A structure without files and encrypted text, which are no text and can be long. */
const readable = (data: unknown): string =>
  JSON.stringify(data, (_name, value: unknown) =>
    typeof value === "string" && shapeOf(value) !== undefined ? "" : value,
  ) ?? "null"

/** A changed structure with the files and the encrypted text of the one before. */
const withPayloads = (before: unknown, after: unknown): unknown => {
  if (typeof before === "string") return shapeOf(before) === undefined ? after : before
  if (Array.isArray(before) && Array.isArray(after))
    return before.map((one, at) => withPayloads(one, after[at]))
  if (typeof before !== "object" || before === null || typeof after !== "object" || after === null)
    return after
  const values = Object.values(before)
  return Object.fromEntries(
    Object.entries(after).map(([name, one], at) => [name, withPayloads(values[at], one)]),
  )
}

const structure = <A>(place: string, data: A, marksIn: MarksIn): A => {
  if (data === undefined || data === null) return data
  const text = readable(data)
  const written = marked(place, text, marksIn, { isStructure: true })
  return written === text ? data : (withPayloads(data, JSON.parse(written)) as A)
}

const partOf = <P extends Part>(place: string, part: P, marksIn: MarksIn): P => {
  const text = (name: string, value: string): string => marked(`${place}.${name}`, value, marksIn)
  /** The name of a function, as providers take it: it has no brackets and no blanks. */
  const named = (value: string): string => {
    const changed = text("name", value)
    return changed === value ? value : changed.replaceAll(/[^\w-]+/g, "_")
  }
  const fields = (): Partial<Part> => {
    switch (part.type) {
      case "text":
      case "reasoning":
        return { text: text("text", part.text) }
      case "tool-call":
        return { name: named(part.name), arguments: text("arguments", part.arguments) }
      case "tool-result": {
        const { content } = part
        const name = part.name === undefined ? {} : { name: named(part.name) }
        if (content === undefined) return { ...name, output: text("output", part.output) }
        const changed = content.map((one, at) => partOf(`${place}.content.${at}`, one, marksIn))
        const output = part.output === outputOf(content) ? outputOf(changed) : text("output", part.output)
        return { ...name, output, content: changed }
      }
      case "file": {
        const inside = textOfFile(part)
        const isType = text("mediaType", part.mediaType) === part.mediaType
        const given = {
          ...(part.name === undefined ? {} : { name: text("name", part.name) }),
          ...(isType ? {} : { mediaType: "application/octet-stream" }),
        }
        if (inside === undefined)
          return { ...given, uri: shapeOf(part.uri) === undefined ? text("uri", part.uri) : part.uri }
        const changed = text("uri", inside)
        return { ...given, uri: changed === inside ? part.uri : withTextOfFile(part, changed) }
      }
      case "opaque":
        return { data: structure(`${place}.data`, part.data, marksIn) }
    }
  }
  const changed = { ...part, ...fields() }
  return part.providerData === undefined
    ? changed
    : { ...changed, providerData: structure(`${place}.providerData`, part.providerData, marksIn) }
}

/**
 * A message with marks in its texts. Signed reasoning and other parts that their provider takes only as they were are left out where
 * they had a piece that is marked, and so is another form of a text that is marked.
 *
 * @param empty - the text of a message of which nothing is left
 */
export const withMarksIn = (message: Message, marksIn: MarksIn, empty: string): Message => {
  const parts: Array<Part> = []
  let changesBefore = false
  for (const [at, part] of message.parts.entries()) {
    let differs = false
    const changed = partOf(`parts.${at}`, part, (one) => {
      const marks = marksIn(one)
      differs ||= marks.length > 0
      return marks
    })
    if (!(isReplacing(part) && changesBefore) && !(differs && isBound(part))) parts.push(changed)
    if (!isReplacing(part)) changesBefore = differs
  }
  const { name, metadata } = message
  return {
    ...message,
    parts: parts.length === 0 && message.parts.length > 0 ? [{ type: "text", text: empty }] : parts,
    ...(name === undefined ? {} : { name: marked("name", name, marksIn) }),
    ...(metadata === undefined ? {} : { metadata: structure("metadata", metadata, marksIn) }),
  }
}

/**
 * All texts of a message: what was said, names, arguments and results of calls, names, types and texts of files, reasoning, the data of
 * providers, and metadata. Files and encrypted text are none, and ids, which calls and results have in common.
 *
 * @example
 * ```ts
 * import { Guard, Message } from "@memfold/core"
 *
 * const asked = Message.call([{ id: "c1", name: "weather", arguments: '{"city":"Graz"}' }])
 * console.log(Guard.textsOf(asked))
 * // [ { place: "parts.0.name", text: "weather" }, { place: "parts.0.arguments", text: '{"city":"Graz"}' } ]
 * ```
 */
export const textsOf = (message: Message): ReadonlyArray<TextOf> => {
  const found: Array<TextOf> = []
  withMarksIn(
    message,
    (one) => {
      found.push(one)
      return []
    },
    "",
  )
  return found
}
