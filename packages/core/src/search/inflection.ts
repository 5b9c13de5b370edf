/**
 * The forms of a word in other languages than English, folded to one: `Bestellungen` and `Bestellung`, `заказов` and `заказ`,
 * `주문번호를` and `주문번호`. Light rules for each script, without dictionaries: nobody says in which language a text is, and a word of a
 * query has to fold as it does in a message. A rule may join words that differ; a term of the whole word tells them apart.
 */

/** Takes endings away as long as there is one, and enough letters stay. */
const without = (word: string, ending: RegExp, fewest: number): string => {
  for (let left = word; ;) {
    const shorter = left.replace(ending, "")
    if (shorter === left || shorter.length < fewest) return left
    left = shorter
  }
}

/** Inflection of Germanic, Romance, Slavic and Turkic languages in Latin letters. */
const latin = (word: string): string =>
  without(word, /(?:ung|l[ae]r|ons|ent|[aei]r|[aeiouyt]|(?<=[aeiouy])[mns]|(?<=[^aeiouy])s)$/, 4)

const cyrillic = (word: string): string =>
  without(
    word,
    /(?:ость|ться|тся|ами|ями|[аеиоуыэюяйьіїє]|[аеоя]м|[аиоыя]х|[ое]в|ого|его|л|[аеиуюя]т|ть)$/u,
    4,
    // The vowel of "посылок", which "посылки" has not.
  ).replace(/[ое](?=[кц]$)/u, "")

const greek = (word: string): string => without(word, /[αεηιουωσν]$/u, 4)

/**
 * The article, "and", and pronouns around an Arabic word. The other words of one letter stay: as often, their letter begins the
 * word itself.
 */
const arabic = (word: string): string => {
  const bare = word.replace(/^(?:[وفبك]?ال|لل)(?=..)|^و(?=...)/u, "")
  return without(bare, /(?:ها|ات|ون|ين|ان|هم|كم|نا|[هيك])$/u, 3)
}

const hebrew = (word: string): string =>
  without(word.replace(/^[הובלמשכ]{1,2}(?=...)/u, ""), /(?:ים|ות|[הי])$/u, 3)

/** Signs of vowels at the end, and the letter that joins some of them to a word. */
const indic = (word: string): string => without(word, /(?:\p{M}|य\p{M}+)$/u, 2)

const particles =
  /(?:에서는|에서도|에게서|으로는|이라는|에서|에게|한테|까지|부터|으로|이나|이랑|하고|처럼|보다|마다|조차|이라|인데|이에요|예요|입니다|을|를|이|가|은|는|에|도|의|로|와|과|만|나|랑|야|요)$/u

const hangul = (word: string): string => {
  const bare = word.replace(particles, "")
  return bare === "" ? word : bare
}

/** In other alphabets, the start of a long word. */
const start = (word: string): string => {
  const characters = [...word]
  return characters.length > 5 ? characters.slice(0, 5).join("") : word
}

const rules: ReadonlyArray<readonly [script: RegExp, stem: (word: string) => string]> = [
  [/^[a-z]+$/, latin],
  [/^\p{sc=Cyrillic}+$/u, cyrillic],
  [/^\p{sc=Greek}+$/u, greek],
  [/^\p{sc=Arabic}+$/u, arabic],
  [/^\p{sc=Hebrew}+$/u, hebrew],
  [/^[\p{sc=Devanagari}\p{sc=Bengali}\p{sc=Gujarati}\p{sc=Gurmukhi}\p{sc=Oriya}\p{sc=Sinhala}]+$/u, indic],
  [/^\p{sc=Hangul}+$/u, hangul],
  [/^[\p{L}\p{M}]+$/u, start],
]

/** The stems of words that were seen: a few thousand words are most of what is said. */
const seen = new Map<string, string>()
const mostSeen = 50_000

/**
 * The stem of a folded word in lower case; the word itself if it has none.
 *
 * @example
 * stemOf("bestellungen") // "bestell", as of "bestellung"
 */
export const stemOf = (word: string): string => {
  const known = seen.get(word)
  if (known !== undefined) return known
  const stem = rules.find(([script]) => script.test(word))?.[1](word) ?? word
  if (seen.size === mostSeen) seen.clear()
  seen.set(word, stem)
  return stem
}

/** The pairs of syllables of a Korean word, whose compounds are written without spaces. */
export const syllablePairs = (word: string): ReadonlyArray<string> =>
  word.length < 3 ? [] : Array.from({ length: word.length - 1 }, (_, at) => word.slice(at, at + 2))
