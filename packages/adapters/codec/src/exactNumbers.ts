/**
 * JSON with numbers that a double does not hold: ids beyond 2^53 lose their last digits in `JSON.parse`, and `1e400` becomes
 * infinite, which `JSON.stringify` writes as null.
 */

const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs

/** The significant digits of a number, and its exponent: the same for `1.50e3` and `1500`. */
const normal = (written: string): string => {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(written) ?? []
  const digits = (whole + fraction).replace(/^0+/, "")
  const significant = digits.replace(/(?<!0)0+$/, "")
  if (significant === "") return "0"
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}

/** Whether a double holds a number, digit for digit. */
const isHeld = (written: string): boolean => {
  const value = Number(written)
  return Number.isFinite(value) && normal(String(value)) === normal(written)
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
export const parseExactly = (text: string): unknown => {
  // Only long numbers and exponents can be too much for a double.
  if (!/\d{16}|\d[eE]|\.\d{15}/.test(text)) return JSON.parse(text) as unknown
  const value = JSON.parse(text) as unknown
  const quoted = text.replace(tokens, (token) =>
    token.startsWith('"') || isHeld(token) ? token : `"${token}"`,
  )
  return quoted === text ? value : (JSON.parse(quoted) as unknown)
}
