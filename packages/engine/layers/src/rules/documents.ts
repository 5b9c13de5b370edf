/** The documents of a turn: files that were attached or read by tools, each with its first words. */
import { Message, ToolNotes, Structure } from "@memfold/core"
import { Either, Encoding } from "effect"
import type { NewFact } from "../Extractor.js"
import { clip, head, oneLine } from "../text.js"
import { mayBeSecret } from "./MatchedFact.js"
import type { Turn } from "./rounds.js"

/** The newest documents of a turn, at most; names and first words in UTF-16 units. */
const limits = { documents: 10, name: 300, words: 120 }

/** The first words are searched for in this many UTF-16 units. */
const beginning = 2_000

/** Line numbers that tools put before the lines of a file, and marks of headings and comments. */
const numbering = /^\s{0,12}\d{1,7}\s?[→|:\t]\s?/
const decoration = /^(?:[#/*;%-]{1,6}|<!--|"""|'''|---)\s*/

/** Lines that say what a program uses, not what it does. */
const imports = /^(?:import|from|using|package|include|require|use|extern crate)\s/

const firstWords = (text: string): string => {
  const lines = head(text, beginning)
    .split(/\r\n?|\n/)
    .map((line) => line.replace(numbering, "").trim().replace(decoration, ""))
    .filter((line) => /[\p{L}\p{N}]/u.test(line))
  const telling = lines.filter((line) => !imports.test(line))
  const words = clip((telling.length === 0 ? lines : telling).join(" "), limits.words)
  return mayBeSecret(words) ? "" : words
}

/** Decodes percent escapes. At a cut end, up to 12 characters (one of four bytes, escaped) are dropped. */
const unescaped = (data: string): string => {
  for (let cut = 0; cut < 12; cut++) {
    try {
      return decodeURIComponent(data.slice(0, data.length - cut))
    } catch {
      // Try again without the last character.
    }
  }
  return ""
}

/** The start of the text in a `data:` URI of a text file; empty for other URIs. */
const inlineText = (uri: string): string => {
  const comma = uri.indexOf(",")
  if (!/^data:text\//i.test(uri) || comma === -1) return ""
  const data = uri.slice(comma + 1, comma + 1 + beginning)
  if (!/;base64$/i.test(uri.slice(0, comma))) return unescaped(data)
  const whole = data.slice(0, data.length - (data.length % 4))
  return Either.match(Encoding.decodeBase64String(whole), {
    onLeft: () => "",
    // The cut may have split a character.
    onRight: (text) => text.replace(/\ufffd+$/u, ""),
  })
}

/** Arguments with which common file tools read a piece of a file, from some line on. */
const pieceArguments = ["offset", "start", "start_line", "startLine", "line_start", "view_range", "range"]

interface Reading {
  readonly path: string
  /** Whether the file was read from its beginning. */
  readonly whole: boolean
}

const readingOf = (call: Message.ToolCall): Reading | null => {
  if (call.arguments.length > 10_000) return null
  const [path] = ToolNotes.touchedFiles(call).read
  const named = path === undefined ? "" : clip(path, limits.name)
  if (named === "") return null
  const values = JSON.parse(call.arguments) as Readonly<Record<string, unknown>>
  const from = pieceArguments.flatMap((name) => values[name]).find((value) => typeof value === "number")
  return { path: named, whole: typeof from !== "number" || from <= 1 }
}

interface Document {
  readonly name: string
  /** Its first words; `null` where they were not seen. */
  readonly words: string | null
}

interface Called {
  readonly id: string
  readonly name: string
  readonly reading: Reading | null
}

const documentsOf = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Document> => {
  const found: Array<Document> = []
  // Ids are sometimes reused, so calls pair with results by position as well.
  let open = new Structure.OpenCalls<Called>()
  for (const { role, parts } of messages) {
    if (role === "user") open = new Structure.OpenCalls()
    for (const part of parts) {
      if (part.type === "tool-call") {
        open.add({ id: part.id, name: part.name, reading: readingOf(part) })
      } else if (part.type === "tool-result") {
        const reading = open.answer(part)?.reading ?? null
        if (reading !== null && !Message.failed(part)) {
          found.push({ name: reading.path, words: reading.whole ? firstWords(part.output) : null })
        }
      } else if (part.type === "file" && !/^image\//i.test(part.mediaType)) {
        const inline = /^data:/i.test(part.uri)
        const name = oneLine(head(part.name ?? (inline ? "" : part.uri), limits.name))
        if (name !== "") found.push({ name, words: inline ? firstWords(inlineText(part.uri)) : null })
      }
    }
  }
  return found
}

/** The document facts of a turn. Reading a document again replaces its fact; reading a piece of it does not. */
export const documents = (
  { from, to, messages }: Turn,
  known: ReadonlySet<string>,
): ReadonlyArray<NewFact> => {
  const newest = new Map<string, string>()
  for (const { name, words } of documentsOf(messages)) {
    const text = words === null || words === "" ? (newest.get(name) ?? name) : `${name}: ${words}`
    if (words === null && known.has(keyOf(name))) continue
    newest.delete(name)
    newest.set(name, text)
  }
  return [...newest].slice(-limits.documents).map(([name, text]) => ({
    layer: "scope",
    kind: "document",
    key: keyOf(name),
    text,
    quote: name.replace(/…$/u, ""),
    from,
    to,
  }))
}

const keyOf = (name: string): string => `document:${name}`
