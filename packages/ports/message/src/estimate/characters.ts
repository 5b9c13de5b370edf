/** What the characters of a text are, and what words of each script cost. */

/**
 * The price of a word, in tokens: 1 for up to `free` UTF-16 code units, plus `rate` for each further one. The better a
 * vocabulary covers a script, the longer its whole-word entries are.
 */
export interface Rate {
  readonly free: number
  readonly rate: number
}

/**
 * A script: its code units as hexadecimal ranges, both ends included (if scripts overlap, the later one wins), and its
 * price. `unfamiliar` is the price in the less common languages of the script, which `evidence` in `pieces.ts` detects.
 */
const script = (name: string, codeUnits: string, free: number, rate: number, unfamiliar?: Rate) => ({
  name,
  codeUnits,
  free,
  rate,
  unfamiliar,
})

/** English words of a dozen letters are one token; the rate comes from the long names in source code. */
export const english: Rate = { free: 8, rate: 0.16 }
export const otherLatin: Rate = { free: 2.5, rate: 0.342 }

export const scripts = [
  // Scripts without a row below take a token per UTF-8 byte: an upper bound.
  script("other, two bytes", "80-7ff", 0.5, 2),
  script("other, three bytes", "800-ffff", 1 / 3, 3),
  script("control", "0-1f", 1, 1),
  script("Latin", "41-5a 61-7a c0-d6 d8-f6 f8-24f 1e00-1eff", english.free, english.rate, otherLatin),
  script("combining marks", "300-36f", 1, 1.6),
  script("Greek", "370-3ff", 2, 0.37),
  script("Cyrillic", "400-52f", 2, 0.13, { free: 2, rate: 0.35 }),
  script("Armenian", "530-58f", 2, 0.29),
  script("Hebrew", "590-5ff", 2, 0.4),
  script("Arabic", "600-6ff", 2, 0.29),
  script("Devanagari", "900-97f", 2, 0.24),
  script("Bengali", "980-9ff", 2, 0.29),
  script("Gurmukhi", "a00-a7f", 2, 0.76),
  script("Gujarati", "a80-aff", 2, 0.35),
  script("Tamil", "b80-bff", 2, 0.32),
  script("Telugu and Kannada", "c00-cff", 2, 0.46),
  script("Malayalam", "d00-d7f", 2, 0.33),
  script("Sinhala", "d80-dff", 2, 0.85),
  script("Thai", "e00-e7f", 2, 0.41),
  script("Lao", "e80-eff", 1, 1.9),
  script("Tibetan", "f00-fff", 1, 1.6),
  script("Burmese", "1000-109f", 2, 0.6),
  script("Georgian", "10a0-10ff", 2, 0.31),
  script("Ethiopic", "1200-137f", 0.5, 2),
  script("Khmer", "1780-17ff", 2, 0.66),
  script("zero width", "200b-200f", 1, 1),
  script("symbols", "2070-22ff 2460-24ff 25a0-27bf", 0.8, 1.6),
  script("box drawing", "2500-259f", 1, 0.3),
  script("CJK punctuation, full width", "3001-303f ff01-ff60", 1, 0.8),
  script("kana", "3040-30ff", 1, 0.52),
  // Everyday characters: many pairs are one token. Rare characters take 2 each.
  script("Han", "4e00-9fff", 1, 0.79),
  script("Hangul", "ac00-d7a3", 1, 0.64),
  // Surrogate pairs: 2 tokens for an emoji, 4 for any other character, divided between the two halves.
  script("high surrogate", "d800-dbff", 0, 2),
  script("high surrogate of an emoji", "d83c-d83e", 1, 1),
  script("low surrogate", "dc00-dfff", 1, 1),
  script("variation selector", "fe00-fe0f", 1, 1),
]

// The kind of a code unit is one of these, or `firstScript` plus the index of its script in `scripts`.
export const space = 0
export const newline = 1
export const digit = 2
export const punctuation = 3
export const firstScript = 4
export const latin = firstScript + scripts.findIndex(({ name }) => name === "Latin")
export const boxes = firstScript + scripts.findIndex(({ name }) => name === "box drawing")

const kinds = new Uint8Array(0x1_0000).fill(punctuation)
scripts.forEach(({ codeUnits }, index) => {
  for (const range of codeUnits.split(" ")) {
    const [first = 0, last = 0] = range.split("-").map((code) => Number.parseInt(code, 16))
    kinds.fill(firstScript + index, first, last + 1)
  }
})
kinds.fill(punctuation, 0xa1, 0xc0)
kinds.fill(punctuation, 0x2010, 0x2070)
kinds[0xfffd] = punctuation
kinds.fill(digit, 0x30, 0x3a)
kinds.fill(space, 0x09, 0x0e)
for (const code of [0x20, 0xa0, 0x3000]) kinds[code] = space
for (const code of [0x0a, 0x0d]) kinds[code] = newline

export const kindAt = (text: string, at: number): number => kinds[text.charCodeAt(at)] ?? punctuation

/** A table that has 1 for the given ASCII characters. */
export const flags = (characters: string): Uint8Array => {
  const table = new Uint8Array(0x80)
  for (const character of characters) table[character.charCodeAt(0)] = 1
  return table
}
export const capital = flags("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
