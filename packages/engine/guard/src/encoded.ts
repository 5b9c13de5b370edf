/** Texts that stand encoded in a text: a tool prints a value in base64, and an address has one with percent signs. */

/** An encoded text: what it says, and where it stands. */
export interface Encoded {
  readonly says: string
  readonly from: number
  readonly to: number
}

// Secrets are longer than what is asked for here, and much that is no base64 is a word.
const base64 = /(?<![\w+/-])[\w+/-]{24,}={0,2}(?![\w+/=-])/g
const percent = /(?<![\w.~!*'()+%-])[\w.~!*'()+-]*(?:%[0-9a-f]{2}[\w.~!*'()+-]*)+/gi

/** Whether bytes are a text: no byte is one that texts do not have. */
const isText = (bytes: string): boolean => !/[^\t\n\r\x20-\x7e]/.test(bytes)

/** Of what is no text, the first bytes say so: a file in base64 is not read to its end. */
const enough = 64

const ofBase64 = (text: string): string | null => {
  if (!isText(atobOf(text.slice(0, enough)))) return null
  const said = atobOf(text)
  return isText(said) ? said : null
}

const atobOf = (text: string): string => Buffer.from(text, "base64").toString("latin1")

const ofPercent = (text: string): string | null => {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** The encoded texts of a text. */
export const encodedIn = (text: string): ReadonlyArray<Encoded> =>
  (
    [
      [base64, ofBase64],
      [percent, ofPercent],
    ] as const
  ).flatMap(([form, decoded]) =>
    [...text.matchAll(form)].flatMap(({ 0: found, index: from }) => {
      const says = decoded(found)
      return says === null ? [] : [{ says, from, to: from + found.length }]
    }),
  )
