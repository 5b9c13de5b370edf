/**
 * Folds the ways in which one word is written: accents, ligatures, digits of other scripts, characters without a width. Upper and
 * lower case stay.
 */

/** Characters that show nothing: joiners, soft hyphens, marks of direction, and the stretching of Arabic letters. */
const invisible =
  /[\u00ad\u061c\u0640\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]|\p{Variation_Selector}/gu

/** Marks on letters of these scripts change the sound, and people leave them out; in others they are letters. */
const accents = /(?<=[\p{sc=Latin}\p{sc=Greek}])\p{M}+/gu
const vowelPoints = /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]/gu

/** Letters that no form of Unicode decomposes, and letters that are typed for each other. */
const letters: ReadonlyMap<string, string> = new Map(
  "ß ss|ẞ SS|æ ae|Æ AE|œ oe|Œ OE|ø o|Ø O|ł l|Ł L|đ d|Đ D|ð d|Ð D|þ th|Þ TH|ı i|ħ h|Ħ H|ё е|Ё Е|ґ г|ς σ|أ ا|إ ا|آ ا|ٱ ا|ى ي|ی ي|ة ه|ک ك"
    .split("|")
    .map((pair) => pair.split(" ") as [string, string]),
)
const ofLetters = new RegExp(`[${[...letters.keys()].join("")}]`, "gu")

/** The zeros of other scripts; nine digits follow each. */
const zeros = [
  0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20,
  0x1040, 0x17e0, 0x1810,
]
const otherDigits = /(?!\d)\p{Nd}/gu

const digitOf = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  const zero = zeros.find((one) => code >= one && code < one + 10)
  return zero === undefined ? character : String(code - zero)
}

const isPlain = /^[\0-\x7f]*$/

/**
 * A text with one spelling for each word: `façade` is `facade`, `Straße` is `Strasse`, `٤٢` is `42`.
 *
 * @param text - any text
 */
export const fold = (text: string): string =>
  isPlain.test(text)
    ? text
    : text
        .normalize("NFKC")
        .replace(invisible, "")
        .replace(ofLetters, (letter) => letters.get(letter) ?? letter)
        .replace(vowelPoints, "")
        .replace(otherDigits, digitOf)
        .normalize("NFD")
        .replace(accents, "")
        .normalize("NFC")
