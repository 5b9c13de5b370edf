/**
 * The identifiers that were said: order and tracking numbers, paths, addresses, links, amounts and dates, found by their
 * form. The sentences around them may be left out of a summary; they themselves are listed in its last line, until their
 * share of its room is full:
 *
 * ```text
 * - identifiers: KX-4471; RR771204A; src/auth/session.ts; dana@example.org; 39.90 EUR; 2026-03-02
 * ```
 *
 * Those used most and last come first, so that the first ones stay over many merges.
 */
import { TokenCounter } from "@memfold/core"
import { type Steps } from "@memfold/log/breathe"
import { remembered } from "@memfold/message/remembered"
import type { Source } from "./digest.js"
import { facts } from "./facts.js"

const label = "- identifiers: "
const separator = "; "

/** What the rounding of two estimates takes from their sum, at most, with the separator between them. */
const rounding = 1

/** Longer ones, such as links with a query, would take the room of ten others. */
const longest = 120

const number = String.raw`\d[\d.,]*`
const currency = String.raw`(?:€|EUR|USD|GBP|CHF|CNY|JPY|dollars?|euros?|元|円)`
const amount = new RegExp(String.raw`[€$£¥₹]\s?${number}|(?<![\w.,-])${number}\s?${currency}(?!\w)`, "gu")
const month = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
const date = new RegExp(
  String.raw`(?:\d{4}\s?年\s?)?\d{1,2}\s?月\s?\d{1,2}\s?[日号]|\b(?:${month}\.? \d{1,2}(?:, \d{4})?|\d{1,2}\.? ${month}(?: \d{4})?)\b`,
  "gu",
)
/** A number, a time or a date in digits says something alone if it is not just a few digits. */
const leastWorth = 1.3

/** The identifiers of a short text as they are written, each once; none that is a part of another one. */
export const identifiersIn = (text: string): ReadonlyArray<string> => {
  const written = [
    ...facts(text).flatMap(({ worth, written, named }) => (worth >= leastWorth && !named ? [written] : [])),
    ...[...text.matchAll(amount), ...text.matchAll(date)].map(([found]) => found),
  ]
    .map((found) => found.replace(/[.,:;!?]+$/u, "").trim())
    .filter((found) => found.length > 2 && found.length <= longest && !/^\d{1,3}$/u.test(found))
  const all = [...new Set(written)]
  return all.filter((one) => !all.some((other) => other !== one && other.includes(one)))
}
/** The lines of a summary are read again with the next messages. */
const identifiersBefore = remembered(identifiersIn)

/** Divides a summary into the rest of its text and its list of identifiers. */
export const splitList = (
  summary: string,
): { readonly text: string; readonly listed: ReadonlyArray<string> } => {
  const at = summary.lastIndexOf(label)
  if (at === -1 || (at > 0 && summary[at - 1] !== "\n")) return { text: summary, listed: [] }
  const [line = "", ...after] = summary.slice(at).split("\n")
  return {
    text: summary.slice(0, at) + after.join("\n"),
    listed: line
      .slice(label.length)
      .split(separator)
      .filter((one) => one !== ""),
  }
}

/**
 * A number of a few digits, such as a time, a year or 40 euros: one of hundreds in a conversation. All of them together
 * take little room from the sentences.
 */
const minor = new RegExp(String.raw`^(?:[\d.:,/-]{1,8}|[€$£¥₹]?\s?\d{1,3}(?:\s?${currency})?)$`, "u")

/** Whether an identifier is only a number of a few digits. */
const isMinor = (identifier: string): boolean => minor.test(identifier)

/** An identifier, with what is asked about it again and again. */
export interface Identifier {
  readonly written: string
  readonly folded: string
  readonly minor: boolean
  readonly tokens: number
}

export const identified = (written: string): Identifier => ({
  written,
  folded: written.toLowerCase(),
  minor: isMinor(written),
  tokens: TokenCounter.estimating.count(written),
})

/** What a mention counts: a call of a tool repeats what was said before, mostly. */
const mention = { user: 1, assistant: 1, system: 1, earlier: 1, tool: 0.15 } as const

/**
 * The identifiers of the sources and of the list so far, the most used and newest first. Of a tool, only what it was
 * asked counts: its output was read, not said.
 */
export function* ranked(
  sources: ReadonlyArray<Source>,
  listed: ReadonlyArray<string>,
): Steps<ReadonlyArray<Identifier>> {
  const found = new Map<string, { written: string; uses: number; last: number }>()
  const add = (written: string, uses: number, last: number): void => {
    const key = written.toLowerCase()
    const before = found.get(key)
    found.set(key, {
      written: before?.written ?? written,
      uses: (before?.uses ?? 0) + uses,
      last: Math.max(before?.last ?? 0, last),
    })
  }
  // The list tells by its order how much each was used.
  listed.forEach((written, rank) => add(written, 1 - rank / (listed.length + 1), 0))
  for (const [at, { speaker, label, pieces, old }] of sources.entries()) {
    yield
    const text = speaker === "tool" ? label : pieces.map((piece) => piece.text).join("\n")
    if (speaker === "tool" && text.includes("…")) continue
    for (const written of old ? identifiersBefore(text) : identifiersIn(text)) {
      add(written, mention[speaker], (mention[speaker] * (at + 1)) / sources.length)
    }
  }
  // Minor identifiers come last.
  const score = ({ uses, last }: { readonly uses: number; readonly last: number }) =>
    Math.log2(1 + uses) + last
  return [...found.values()]
    .map(({ written, ...used }) => ({ ...identified(written), score: score(used) }))
    .toSorted((a, b) => Number(a.minor) - Number(b.minor) || b.score - a.score)
}

/** Three characters that follow each other, as a place in a table. */
const tableSize = 1 << 14
const placeOf = (text: string, at: number): number =>
  (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) % tableSize

/** Finds out whether identifiers are in a text, in any case. Of hundreds, most have three characters that the text has nowhere. */
export const saidIn = (text: string): ((identifier: Identifier) => boolean) => {
  const said = text.toLowerCase()
  const places = new Uint8Array(tableSize)
  for (let at = 0; at + 2 < said.length; at++) places[placeOf(said, at)] = 1
  return ({ folded }) => {
    for (let at = 0; at + 2 < folded.length; at++) if (places[placeOf(folded, at)] === 0) return false
    return said.includes(folded)
  }
}

/** A line of the identifiers that are not in the text yet, as far as text and line fit into `limit` tokens; maybe empty. */
export function* list(
  identifiers: ReadonlyArray<Identifier>,
  text: string,
  {
    room,
    minorRoom,
    limit,
    estimate,
  }: {
    readonly room: number
    readonly minorRoom: number
    readonly limit: number
    /** The tokens of a text. */
    readonly estimate: (text: string) => number
  },
): Steps<string> {
  const isSaid = saidIn(text)
  const left = limit - estimate(`${text}\n`)
  const listed: Array<string> = []
  const line = (): string => (listed.length === 0 ? "" : label + listed.join(separator))
  // Each line that is tried begins as the one that fits: only its end is estimated.
  const ofLine = TokenCounter.growing()
  let fits = ""
  let size = 0
  // As many at once as fit, as it seems: to count the line takes longer than to look at them.
  let atOnce = Number.POSITIVE_INFINITY
  for (let at = 0; at < identifiers.length;) {
    const first = identifiers[at]!
    const most = Math.min(first.minor ? minorRoom : room, left)
    // Most of many do not fit. A line is never estimated at less than its parts, but for their rounding.
    if (size + first.tokens - rounding > most || isSaid(first)) {
      at++
      continue
    }
    yield
    const run: Array<string> = []
    let end = at
    for (let seems = size; run.length < atOnce && end < identifiers.length; end++) {
      const next = identifiers[end]!
      if (next.minor !== first.minor) break
      if (isSaid(next)) continue
      seems += next.tokens + 1
      if (run.length > 0 && seems > most) break
      run.push(next.written)
    }
    const tried = (fits === "" ? label : fits + separator) + run.join(separator)
    const longer = ofLine(tried)
    if (longer <= most) {
      listed.push(...run)
      fits = tried
      size = longer
      at = end
    } else {
      if (run.length === 1) at++
      atOnce = Math.max(1, run.length >> 1)
    }
  }
  // The estimate of text and line together can differ by a few tokens from the sum.
  while (listed.length > 0 && estimate(`${text}\n${line()}`) > limit) listed.pop()
  return line()
}
