/**
 * The search terms of a text, in any language: for texts that are indexed, and for queries.
 *
 * Terms consist of letters and digits in lower case. An index that a store keeps depends on them: a change here is a new
 * {@link termsVersion}.
 */
import { fold } from "./fold.js"
import { stemOf, syllablePairs } from "./inflection.js"
import { numbersIn } from "./numbers.js"
import { stem } from "./stem.js"

/** The version of the rules of these modules. An index of other rules has to be built again. */
export const termsVersion = 5

/** Letters and digits with the signs that join identifiers: `KX-4471`, `src/money.ts`, `parse_price`, `a@b.org`. */
export const runs = /[\p{L}\p{M}\p{N}]+(?:['’_\-./\\:@#+]+[\p{L}\p{M}\p{N}]+)*/gu
const plain = /[\p{L}\p{M}\p{N}]+/gu
const unspaced =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー]+/gu
/** Scripts before Thai all write spaces; most texts are done with this. */
const spaced = /^[\0-\u0dff’]+$/
const plainLatin = /^[a-z]+$/
const hangul = /^\p{sc=Hangul}+$/u

/** Emoji, each picture of its own; the tone of a skin is no picture. */
const pictures = /(?![\d#*]|\p{Emoji_Modifier})[\p{Emoji_Presentation}\p{Extended_Pictographic}]/gu
const hasPictures = /[\u2190-\u{1faff}]/u

/** Emoji that react to what was said, as "ok" and "thanks" do. */
const reactions: ReadonlySet<string> = new Set("👍👎👌🙏❤😀😃😄😁😂🤣😊🙂😉😍🥰😘😅😭😢🎉👏💪🔥✨✅🙌💯🤔")
const possessive = /['’](?:s|re|ve|ll|d|m|t)$/

/** Longer runs of letters are no words, and longer identifiers are data. */
const longest = 64

/** Words without a topic: searched for by nobody, and in nearly every message. */
const stop: ReadonlySet<string> = new Set(
  "a about above after again all also am an and any are as at be because been before being between both but by can could did do does doing don done down during each few for from further had has have having he her here hers him his how i if in into is isn it its itself just me more most my myself no nor not now of off on once only or other our out over own same she should so some such than that the their them then there these they this those through to too under until up us very was wasn we were what when where which while who whom whose why will with would you your yours hello hey hi ok okay please thanks thank yes yeah let ll re ve".split(
    " ",
  ),
)

/** Pairs of Chinese characters that ask or join, and the particles that make a pair one of grammar. */
const stopPairs: ReadonlySet<string> = new Set(
  "什么 什麼 怎么 怎麼 怎样 怎樣 我们 我們 你们 你們 他们 他們 她们 它们 这个 這個 那个 那個 这些 這些 那些 可以 一个 一個 一下 一些 因为 因為 所以 如果 但是 没有 沒有 哪里 哪裡 哪个 哪個 多少 请问 請問 告诉 告訴 知道 还是 還是 还有 還有 时候 時候 是不 不是 谢谢 謝謝 你好 好的".split(
    " ",
  ),
)
const particle = /[的了吗嗎呢吧啊呀么麼是我你您他她它]/u

/** The parts of an identifier: `parsePrice2` has `parse`, `price` and `2`. */
const humps = (word: string): ReadonlyArray<string> =>
  /\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}|\p{L}\p{N}|\p{N}\p{L}/u.test(word)
    ? word
        .replace(
          /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu,
          " ",
        )
        .split(" ")
    : []

/** Scripts without spaces: each pair of characters, and each character of its own, because people type compounds in parts. */
const addUnspaced = (run: string, add: (term: string) => void): void => {
  const characters = [...run]
  for (const [at, character] of characters.entries()) {
    add(character)
    const next = characters[at + 1]
    if (next !== undefined) add(character + next)
  }
}

/** English words that few texts of other languages have. */
const english =
  /\b(?:the|and|is|are|you|your|my|to|of|it|that|this|with|for|have|what|when|where|how|not|be|i)\b/gi

/** How much of a text tells its language, in UTF-16 code units. */
const tellsLanguage = 1_000

/** Whether a text is English: one word in ten is a small English word. A few words alone may be of any language. */
const isEnglish = (text: string): boolean => {
  const start = text.slice(0, tellsLanguage)
  const words = start.match(/[a-z]+/gi)?.length ?? 0
  return (start.match(english)?.length ?? 0) * 10 >= Math.max(words, 1)
}

/** The lengths of starts that compounds are found by, and how many letters follow in a compound, at least. */
const startLengths = [7, 10] as const
const shortestEnd = 3

/** Which starts of words are terms: of a message all, of a query the longest one of each word. */
type Starts = "all" | "longest" | "none"

/**
 * The starts of a word, so that `Kindergarten` finds `Kindergartenplatz`: German, Dutch and Swedish write compounds as one word, and no
 * rule without a dictionary says where the first part ends. A sign that no word has keeps a start apart from a word.
 */
const startsOf = (word: string, starts: Starts): ReadonlyArray<string> => {
  if (starts === "none") return []
  const letters = starts === "all" ? word.length - shortestEnd : word.length
  const all = startLengths.filter((length) => length <= letters).map((length) => `${word.slice(0, length)}-`)
  return starts === "all" ? all : all.slice(-1)
}

/** Adds the terms of a run of letters. */
type AddWord = (word: string) => void

/** A word of a text counts as itself, in its English base form, and in texts of other languages by its stem, too. */
const wordAdder =
  (isOfEnglish: boolean, starts: Starts, add: (term: string) => void): AddWord =>
  (word) => {
    // Lower case writes the Greek letter of the end of a word.
    const lower = word.toLowerCase().replace(/ς$/u, "σ")
    if (lower.length > longest || stop.has(lower)) return
    const term = stem(lower)
    add(term)
    if (isOfEnglish && plainLatin.test(lower)) return
    const other = stemOf(lower)
    // Where a word has no ending of other languages, the stem is the word itself, which its longer forms fold to.
    if (other !== term) add(other)
    if (plainLatin.test(lower)) for (const one of startsOf(lower, starts)) add(one)
    if (hangul.test(lower)) for (const pair of syllablePairs(other)) add(pair)
  }

const addMixed = (run: string, addWord: AddWord, add: (term: string) => void): void => {
  let from = 0
  for (const match of run.matchAll(unspaced)) {
    if (match.index > from) addWord(run.slice(from, match.index))
    addUnspaced(match[0], add)
    from = match.index + match[0].length
  }
  if (from < run.length) addWord(run.slice(from))
}

/** The whole identifier as one term, however its signs are typed, and the last segment of a path. */
export const joinedTerms = (run: string): ReadonlyArray<string> =>
  [...new Set([run, ...run.split(/[/\\]/).slice(-1)])].flatMap((one) => {
    const term = (one.match(plain) ?? []).join("").toLowerCase()
    return term.length <= longest && /[/\\_.:@#\-+]/.test(one) ? [term] : []
  })

const addRun = (run: string, addWord: AddWord, add: (term: string) => void): void => {
  // Most runs are words in lower case, which are one piece.
  if (plainLatin.test(run)) return addWord(run)
  if (!spaced.test(run)) {
    for (const [piece] of run.matchAll(plain)) addMixed(piece, addWord, add)
    return
  }
  const whole = run.replace(possessive, "")
  const pieces = whole.match(plain) ?? []
  for (const piece of pieces) {
    addWord(piece)
    for (const hump of humps(piece)) addWord(hump)
  }
  if (pieces.length === 1) return
  for (const term of joinedTerms(whole)) add(term)
}

/**
 * The search terms of a text in their order, each as often as it occurs.
 *
 * - English words count in their base form; words without a topic have no term
 * - identifiers and paths are found as a whole and by their parts: `src/money.ts` by `money.ts`, and `KX-4471` by `kx4471`
 * - Chinese, Japanese, Thai and other scripts without spaces count by their characters and pairs of characters
 * - words of other languages count as they are, without accents, and by a stem: `Bestellungen` by `Bestellung`; in Latin letters by
 *   their starts, too: `Kindergartenplatz` by `Kindergarten`
 * - numbers are found however their digits are grouped: `1,299` by `1299`, and a telephone number by its last seven digits
 *
 * @param text - any text
 *
 * @example
 * ```ts
 * import { Search } from "@memfold/core"
 *
 * console.log(Search.termsOf("Where is order KX-4471?")) // order, kx, 4471, kx4471
 * ```
 */
export const termsOf = (text: string): ReadonlyArray<string> => allTermsOf(text, "all")

const allTermsOf = (text: string, starts: Starts): ReadonlyArray<string> => {
  const found: Array<string> = []
  const add = (term: string): void => {
    found.push(term)
  }
  const folded = fold(text)
  const addWord = wordAdder(isEnglish(folded), starts, add)
  for (const [run] of folded.matchAll(runs)) addRun(run, addWord, add)
  for (const number of numbersIn(folded)) add(number)
  if (hasPictures.test(folded))
    for (const [picture] of folded.matchAll(pictures)) if (!reactions.has(picture)) add(picture)
  return found
}

/** Of a query without a useful pair, the characters of its own that stand in no pair of grammar. */
const singlesOf = (terms: ReadonlyArray<string>): ReadonlyArray<string> => {
  const grammar = new Set(terms.filter((term) => stopPairs.has(term)).flatMap((pair) => [pair, ...pair]))
  return terms.filter((term) => !grammar.has(term) && !particle.test(term))
}

/** A long query is searched for only by its start and its end (this many UTF-16 code units of each): they say what is asked. */
const queryEnd = 4_000

/** A query with too many terms counts with this many terms from its start and from its end. */
const endTerms = 32

const endsOf = (text: string): string =>
  text.length <= 2 * queryEnd ? text : `${text.slice(0, queryEnd)} ${text.slice(-queryEnd)}`

/**
 * The terms of a text, each once, without those that every text has: of scripts without spaces, pairs of grammar and single
 * characters. Starts of words are no terms, unless they are asked for.
 */
export const usefulTermsOf = (text: string, starts: Starts = "none"): ReadonlyArray<string> => {
  const all = [...new Set(allTermsOf(text, starts))]
  const isUnspaced = (term: string) => !spaced.test(term)
  const useful = all.filter(
    (term) => !isUnspaced(term) || ([...term].length > 1 && !stopPairs.has(term) && !particle.test(term)),
  )
  return useful.length > 0 ? useful : singlesOf(all)
}

/**
 * The search terms of a query, each once, and at most 64 of them. Pairs of Chinese characters with a particle in them, and
 * single characters beside others, are left out, unless nothing else is asked for.
 *
 * @param query - a question, or words to search for; of a long text, its start and its end count
 */
export const queryTermsOf = (query: string): ReadonlyArray<string> => {
  const terms = usefulTermsOf(endsOf(query), "longest")
  return terms.length <= 2 * endTerms ? terms : [...terms.slice(0, endTerms), ...terms.slice(-endTerms)]
}
