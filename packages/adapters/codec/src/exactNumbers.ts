/**
 * JSON with numbers that a double does not hold: ids beyond 2^53 lose their last digits in `JSON.parse`, and `1e400` becomes
 * infinite, which `JSON.stringify` writes as null.
 */

import { atOnce, type Steps } from "@memfold/log/breathe"
import { isEscaped, stepLength } from "./measured.js"

/** The significant digits of a number, and its exponent: the same for `1.50e3` and `1500`. */
const normal = (written: string): string => {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(written) ?? []
  const digits = (whole + fraction).replace(/^0+/, "")
  const significant = digits.replace(/(?<!0)0+$/, "")
  if (significant === "") return "0"
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}

/** The most characters of a number that is looked at: nobody writes a longer one that a double holds. */
const longest = 1_000

/** Whether a double holds a number, digit for digit. */
const isHeld = (written: string): boolean => {
  const value = Number(written)
  return written.length <= longest && Number.isFinite(value) && normal(String(value)) === normal(written)
}

const isOfNumber = (text: string, at: number): boolean => "+-.0123456789Ee".includes(text.charAt(at) || " ")

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Whether a text may have a number that a double does not hold: only long ones and exponents can be too much. */
function* mayBeTooLong(text: string): Steps<boolean> {
  for (let at = 0; at < text.length; at += stepLength) {
    // What lies across the end of a step is in the next one's look back.
    if (/\d{16}|\d[eE]|\.\d{15}/.test(text.slice(Math.max(0, at - 16), at + stepLength))) return true
    yield
  }
  return false
}

/** A text of JSON in which each number that a double does not hold is a text with its digits. What is no JSON stays as it is. */
export function* exactText(text: string): Steps<string> {
  if (!(yield* mayBeTooLong(text))) return text
  const pieces: Array<string> = []
  let [from, step, isInText] = [0, stepLength, false]
  for (let at = 0; at < text.length;) {
    if (at >= step) {
      step = at + stepLength
      yield
    }
    if (isInText) {
      const end = text.indexOf('"', at)
      if (end === -1) break
      isInText = isEscaped(text, end, at)
      at = end + 1
      continue
    }
    const one = text.charCodeAt(at)
    if (one === 0x22) isInText = true
    if (one !== 0x2d && (one < 0x30 || one > 0x39)) at++
    else {
      const begin = at
      while (isOfNumber(text, at)) at++
      const written = text.slice(begin, at)
      if (isHeld(written)) continue
      pieces.push(text.slice(from, begin), `"${written}"`)
      from = at
    }
  }
  // In quotes, what is no number would be JSON.
  return pieces.length === 0 || !isJson(text) ? text : pieces.join("") + text.slice(from)
}

/**
 * Reads JSON as `JSON.parse` does, but for numbers that a double does not hold: each of them is a text with its digits as they
 * were written, so that a model reads the id that it wrote.
 *
 * @throws SyntaxError for a text that is no JSON
 *
 * @example
 * ```ts
 * import { parseExactly } from "@memfold/codec"
 *
 * console.log(parseExactly('{"id":9007199254740993,"city":"Graz"}')) // { id: "9007199254740993", city: "Graz" }
 * ```
 */
export const parseExactly = (text: string): unknown => JSON.parse(atOnce(exactText(text)))
