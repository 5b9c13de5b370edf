/**
 * The form of an extractive summary, and how to read it back.
 *
 * One line for each message that something was taken from, in the order of the conversation:
 *
 * ```text
 * - 2026-03-02 user: My order KX-4471 has not arrived. … I am allergic to nuts.
 * - assistant: It was sent on 27 February and should be with you on Friday.
 * - tool track_parcel(KX-4471) failed: 504 upstream timed out
 * - earlier: a line of a summary somebody else wrote
 * ```
 *
 * The list of identifiers that may follow is read by `identifiers.ts`.
 *
 * "…" stands where something was left out between two quotations. A day is written where it changes.
 */
import type { Sentence } from "./text.js"
import { collapse, sentences } from "./text.js"

/** Who said it; `earlier` is a summary in another form. */
export type Speaker = "user" | "assistant" | "system" | "tool" | "earlier"

/** A message, or a line of the previous summary, that pieces are taken from. */
export interface Source {
  readonly speaker: Speaker
  /** What stands before the colon: the speaker, with a name, or with the tool's arguments. */
  readonly label: string
  /** The day it was said, `YYYY-MM-DD` in UTC. */
  readonly day: string | undefined
  readonly failed: boolean
  /** Whether it comes from the previous summary. */
  readonly old: boolean
  readonly pieces: ReadonlyArray<Piece>
}

/**
 * A sentence, or a line of a tool's output. Pieces whose positions follow each other were said together. A piece
 * without text stands for the call of a tool, which its label tells.
 */
export interface Piece extends Sentence {
  readonly position: number
  readonly code: boolean
}

const gap = "…"

/** A piece that stands for a tool's call alone. Each source has its own: pieces are told apart by identity. */
export const callPiece = (): Piece => ({
  text: "",
  spaced: true,
  goesOn: true,
  began: true,
  position: -1,
  code: false,
})

/** The quotations of one source, in their order, with "…" where something is missing between or around them. */
const quote = (taken: ReadonlyArray<Piece>): string => {
  let text = ""
  let before: Piece | undefined
  for (const piece of taken) {
    if (piece.text === "") continue
    if (before === undefined) text = (piece.began ? `${gap} ` : "") + piece.text
    else if (piece.position === before.position + 1) text += (piece.spaced ? " " : "") + piece.text
    else text += ` ${gap} ${piece.text}`
    before = piece
  }
  if (before === undefined) return gap
  return before.goesOn ? `${text} ${gap}` : text
}

/** Writes the digest: the sources in order, each with the pieces taken from it. */
export const write = (
  sources: ReadonlyArray<Source>,
  taken: ReadonlyMap<Source, ReadonlySet<Piece>>,
): string => {
  const lines: Array<string> = []
  let day: string | undefined
  for (const source of sources) {
    const pieces = taken.get(source)
    if (pieces === undefined || pieces.size === 0) continue
    const shown = source.day !== undefined && source.day !== day ? `${source.day} ` : ""
    lines.push(`- ${shown}${source.label}: ${quote(source.pieces.filter((piece) => pieces.has(piece)))}`)
    day = source.day ?? day
  }
  return lines.join("\n")
}

/** The pieces of a quotation: the inverse of {@link quote}. */
const quotations = (text: string): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = []
  let position = 0
  const runs = text.split(/(?:^|\s)…(?:\s|$)/u)
  runs.forEach((run, at) => {
    const found = sentences(run)
    found.forEach((sentence, index) => {
      pieces.push({
        ...sentence,
        began: sentence.began || (index === 0 && at > 0),
        goesOn: sentence.goesOn || (index === found.length - 1 && at < runs.length - 1),
        position: position++,
        code: false,
      })
    })
    position++
  })
  return pieces
}

const ownLine =
  /^- (?:(\d{4}-\d{2}-\d{2}) )?((user|assistant|system|earlier)(?: \([^()]*\))?|(tool)(?: [^\s(:]+)?(?:\(.*?\))?( failed)?): (.*)$/u

/** Reads a summary back, whoever wrote it. Lines in another form become `earlier` lines. */
export const read = (summary: string): ReadonlyArray<Source> => {
  const sources: Array<Source> = []
  let day: string | undefined
  for (const raw of summary.split(/[\r\n\u2028\u2029]+/)) {
    const own = ownLine.exec(raw)
    day = own?.[1] ?? day
    // Marks of lists and headings of another form are dropped; the text stays as it is.
    const text = own?.[6] ?? raw.replace(/^\s*(?:#{1,6}\s+|[-*+>•]\s+|[-=*_]{3,}\s*$)/u, "")
    const speaker = (own?.[3] ?? own?.[4] ?? "earlier") as Speaker
    const pieces = quotations(text)
    if (speaker !== "tool" && pieces.length === 0) continue
    sources.push({
      speaker,
      label: own?.[2] ?? "earlier",
      day: own === null ? undefined : day,
      failed: own?.[5] !== undefined,
      old: true,
      pieces: pieces.length === 0 ? [callPiece()] : pieces,
    })
  }
  return sources
}

/** A name made fit for a label: one line, no brackets that would end it early. */
export const labelled = (name: string): string => collapse(name.replace(/[():\n\r]+/gu, " "))
