/** The sentences of a text, and which of them are statements in the writer's own words. */
import type { Line } from "./prose.js"

export interface Sentence {
  readonly text: string
  readonly question: boolean
  /** Whether it begins inside a quotation or after a colon. */
  readonly quoted: boolean
}

const ends = new Set([".", "!", "?", "…", ";", "。", "！", "？", "；"])
const questions = new Set(["?", "？"])
const opens = new Set(["“", "„", "「", "『", "«", "《"])
const closes = new Set(["”", "」", "』", "»", "》"])

const isQuote = (character: string): boolean =>
  opens.has(character) || closes.has(character) || character === '"'

/** Whether a quotation is open after a quotation mark. */
const insideAfter = (inside: boolean, mark: string): boolean => opens.has(mark) || (mark === '"' && !inside)

/** A full stop after one of these, or after a single capital, does not end a sentence. */
const abbreviation = /(?:^|[\s(])(?:dr|mr|mrs|ms|prof|st|jr|sr|vs|etc|no|inc|approx|dept|e\.g|i\.e|\p{Lu})$/iu

/** Words before a colon that introduce the writer's own statement. */
const ownLead =
  /^(?:(?:please )?(?:remember|note|keep in mind)|btw|by the way|fyi|请?[记記]住|請記住|注意|另外|补充)$/iu

/** Signs of a Chinese question without a question mark. */
const asks =
  /(?:吗|嗎|呢|么|麼)[。.!！…\s]*$|什么|什麼|怎么|怎麼|为何|為何|哪(?:里|裡|儿|个|個|些|种|種|一)|谁|誰|多少|几个|幾個|是不是|能不能|要不要|可不可以|有没有|有沒有|是否/u

/** Whether a text is a question, with or without a question mark. */
export const isQuestion = (text: string): boolean => /[?？]\s*$/u.test(text) || asks.test(text)

/** The sentences of the lines, in order. */
export const sentences = (lines: ReadonlyArray<Line>): ReadonlyArray<Sentence> => {
  const found: Array<Sentence> = []
  let inside = false
  for (const line of lines) {
    // A quotation that is never closed ends with its paragraph.
    if (line.begins) inside = false
    inside = split(line, inside, found)
  }
  return found
}

/** Adds the sentences of one line to `found`; returns whether the line ends inside a quotation. */
const split = ({ text: line, quoted }: Line, startsInside: boolean, found: Array<Sentence>): boolean => {
  let inside = startsInside
  let from = 0
  let quotedFrom = inside
  const close = (to: number, question: boolean): void => {
    const text = line.slice(from, to).trim()
    if (text !== "")
      found.push({ text, question: question || isQuestion(text), quoted: quoted || quotedFrom })
    from = to
    quotedFrom = inside
  }
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at)
    if (isQuote(character)) {
      inside = insideAfter(inside, character)
      continue
    }
    if (character === "：" || (character === ":" && /^\s?$/.test(line.charAt(at + 1)))) {
      // The text after a colon, to the end of the line, is material of the sentence before it.
      if (!ownLead.test(line.slice(from, at).trim())) break
    } else if (ends.has(character)) {
      const next = line.charAt(at + 1)
      const latin = character === "." || character === "!" || character === "?"
      if (latin && next !== "" && !/[\s"”'’)」』]/.test(next) && !ends.has(next)) continue
      if (character === "." && abbreviation.test(line.slice(Math.max(from, at - 8), at))) continue
      let question = questions.has(character)
      for (; ends.has(line.charAt(at + 1)); at++) {
        if (questions.has(line.charAt(at + 1))) question = true
      }
      const after = line.charAt(at + 1)
      // The quotation that ends with this sentence.
      if (inside && isQuote(after) && !insideAfter(inside, after)) {
        inside = false
        at++
      }
      close(at + 1, question)
    }
  }
  close(line.length, false)
  return inside
}
