/**
 * Cutting text into sentences and words, in any language.
 *
 * `Intl.Segmenter` knows where sentences end and where words lie in scripts that write no spaces. It is slow on
 * long strings (its time grows faster than their length), so that it is only ever given short ones, and words in
 * scripts that do write spaces are found by a regular expression instead.
 */

/**
 * The longest piece of text that is judged as one, in UTF-16 units (half of it in scripts with wide characters).
 * Longer sentences are cut at the end of a clause.
 */
const longest = 240

/** Below this width a sentence says too little alone and joins its neighbour ("OK." "Dr." "好的。"). */
const shortest = 16

/** The locale is fixed: a default of the machine would make results differ between machines. */
const locale = "en"

interface Segmenters {
  readonly sentence: Intl.Segmenter
  readonly word: Intl.Segmenter
}
let segmenters: Segmenters | undefined
/** Made on first use: a segmenter costs more to make than to use. */
const segmenter = (): Segmenters =>
  (segmenters ??= {
    sentence: new Intl.Segmenter(locale, { granularity: "sentence" }),
    word: new Intl.Segmenter(locale, { granularity: "word" }),
  })

/** Text that needs none of the care for other scripts, which takes most of the time. */
export const ascii = /^[\0-\x7f]*$/

/** White space that is no single space, and control characters: most lines have none. */
const wide = /\s\s|[^\S ]|\p{Cc}/u

/** One line without line breaks, control characters or doubled spaces. */
export const collapse = (text: string): string =>
  (wide.test(text) ? text.replace(/[\s\p{Cc}]+/gu, " ") : text).trim()

/** Whether a cut before this unit would halve a character. */
const halves = (text: string, at: number): boolean => {
  const before = text.charCodeAt(at - 1)
  const after = text.charCodeAt(at)
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff
}

/** Like `text.slice(from, to)`, but a character that is cut in half is left out. */
export const slice = (text: string, from: number, to = text.length): string =>
  text.slice(halves(text, from) ? from + 1 : from, halves(text, to) ? to - 1 : to)

/** At most `length` UTF-16 units, the cut marked with "…". */
export const clip = (text: string, length: number): string =>
  text.length <= length ? text : slice(text, 0, Math.max(0, length - 1)).trimEnd() + "…"

/** Roughly how much a reader sees: characters of scripts that write words in one or two of them count double. */
const width = (text: string): number =>
  ascii.test(text)
    ? text.length
    : text.length + (text.match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu)?.length ?? 0)

const clauseEnd = /[,;:，；：、،؛)\]}）】」]\s?|\s/gu

/** Cuts what is too long at the last clause end, or space, before the limit; hard where there is none. */
const chunks = (text: string, limit: number): ReadonlyArray<string> => {
  const cut: Array<string> = []
  let rest = text
  while (rest.length > limit) {
    const window = slice(rest, 0, limit)
    let end = 0
    let space = 0
    for (const match of window.matchAll(clauseEnd)) {
      const after = match.index + match[0].length
      if (match[0].trim() === "") space = after
      else end = after
    }
    const at = end > limit / 3 ? end : space > limit / 3 ? space : window.length
    cut.push(rest.slice(0, at))
    rest = rest.slice(at)
  }
  return [...cut, rest]
}

/** A sentence as found, or a part of a sentence that is too long. */
export interface Sentence {
  readonly text: string
  /** Whether white space stood before it; in some scripts, none does. */
  readonly spaced: boolean
  /** Whether the sentence goes on in the next piece, or began in the previous piece. */
  readonly goesOn: boolean
  readonly began: boolean
}

/** What has no end of a sentence in it, as most lines of tools: the segmenter would find one sentence. */
const oneSentence = /^(?:[^.!?\x80-\uffff]|\.(?=[a-z0-9]))*[.!?]?$/

/** Joins what the segmenter cut too eagerly ("Dr." "e.g. Paris" "「"), and what is too short to stand alone. */
const joined = (line: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (const block of chunks(line, 2_000)) {
    if (oneSentence.test(block)) {
      found.push(block)
      continue
    }
    let pending = ""
    for (const { segment } of segmenter().sentence.segment(block)) {
      const complete =
        width(pending) >= shortest && !/^\p{Ll}/u.test(segment) && !/[\p{Ps}\p{Pi}]\s*$/u.test(pending)
      if (complete || pending.length >= longest) {
        found.push(pending)
        pending = ""
      }
      pending += segment
    }
    found.push(pending)
  }
  return found
}

/**
 * The sentences of a text, in order and without its line breaks. A line break ends a sentence. Short ones are
 * joined with the next of the same line, and none is longer than about 240 letters.
 */
export const sentences = (text: string): ReadonlyArray<Sentence> => {
  const found: Array<Sentence> = []
  for (const line of text.split(/[\r\n\u2028\u2029]+/)) {
    let spaced = true
    for (const sentence of joined(collapse(line))) {
      const parts = chunks(sentence, width(sentence) > sentence.length * 1.5 ? longest / 2 : longest)
      parts.forEach((part, position) => {
        const text = part.trim()
        const goesOn = position < parts.length - 1
        if (text !== "") found.push({ text, spaced, goesOn, began: position > 0 })
        spaced = /\s$/.test(part)
      })
    }
  }
  return found
}

const wordRuns = /[\p{L}\p{M}\p{Nd}]+/gu
const asciiRuns = /[a-z0-9]+/g
const unspaced =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー]+/gu
/** Six letters of a word stand for its inflections, well enough and in any alphabet. */
const stem = 6

/**
 * The words of a short text as terms to compare: lower case, inflections mostly folded, no punctuation and no
 * bare numbers.
 */
export const terms = (text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  if (ascii.test(text)) {
    for (const run of text.toLowerCase().match(asciiRuns) ?? []) {
      const term = run.length > stem ? run.slice(0, stem) : run
      if (/[a-z]/.test(term)) found.push(term)
    }
    return found
  }
  const add = (term: string): void => {
    if (/[^\p{Nd}]/u.test(term)) found.push(term)
  }
  for (const run of text.normalize("NFKC").toLowerCase().match(wordRuns) ?? []) {
    let from = 0
    for (const match of run.matchAll(unspaced)) {
      if (match.index > from) add(slice(run, from, Math.min(match.index, from + stem)))
      for (const { segment, isWordLike } of segmenter().word.segment(match[0])) {
        if (isWordLike === true) add(segment)
      }
      from = match.index + match[0].length
    }
    if (from < run.length) add(slice(run, from, from + stem))
  }
  return found
}
