/**
 * Folds the forms of an English word to one term: "deploys", "deployed" and "deploying"; "bought" and "buy". It needs no
 * dictionary. Words of other languages, and what is not written in plain Latin letters, stay as they are.
 */

/** Irregular forms that people ask with and answer with, by their base form. */
const irregular: ReadonlyMap<string, string> = new Map(
  [
    "be was were been",
    "become became",
    "begin began begun",
    "break broke broken",
    "bring brought",
    "build built",
    "buy bought",
    "catch caught",
    "child children",
    "choose chose chosen",
    "come came",
    "do did done",
    "draw drew drawn",
    "drink drank drunk",
    "drive drove driven",
    "eat ate eaten",
    "fall fell fallen",
    "feel felt",
    "fight fought",
    "find found",
    "fly flew flown",
    "forget forgot forgotten",
    "get got gotten",
    "give gave given",
    "go goes going went gone",
    "grow grew grown",
    "hear heard",
    "hold held",
    "keep kept",
    "know knew known",
    "lead led",
    "leave left",
    "lend lent",
    "lose lost",
    "make made",
    "man men",
    "mean meant",
    "meet met",
    "pay paid",
    "person people",
    "ride rode ridden",
    "run ran",
    "say said",
    "see saw seen",
    "sell sold",
    "send sent",
    "sing sang sung",
    "sleep slept",
    "speak spoke spoken",
    "spend spent",
    "stand stood",
    "swim swam swum",
    "take took taken",
    "teach taught",
    "tell told",
    "think thought",
    "throw threw thrown",
    "understand understood",
    "use used using",
    "wear wore worn",
    "win won",
    "woman women",
    "write wrote written",
  ].flatMap((line) => {
    const [base = "", ...forms] = line.split(" ")
    return forms.map((form) => [form, base] as const)
  }),
)

const vowel = /[aeiouy]/

/** Without "-ing" or "-ed", with what the ending had changed put back: "hoping" to "hope", "running" to "run". */
const withoutVerbEnding = (word: string): string => {
  const base = word.replace(/(?:ing|ed)$/, "")
  if (base === word || base.length < 3 || !vowel.test(base)) return word
  return /([^aeiouylsz])\1$/.test(base) ? base.slice(0, -1) : base
}

/** Endings that make nouns and adverbs of a word that is searched for as well. */
const derived = /(?:ation|ion|ment|ness|ful|ly|er|or)$/

const withoutDerivedEnding = (word: string): string => {
  const at = word.length < 6 ? -1 : word.search(derived)
  // "ion" ends more short words than the others: "million", "onion".
  const shortest = at !== -1 && word.slice(at) === "ion" ? 5 : 4
  return at >= shortest ? word.slice(0, at) : word
}

/**
 * The term of a word in lower case.
 *
 * @example
 * stem("deployed") // "deploy"
 */
export const stem = (word: string): string => {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word
  const known = irregular.get(word)
  if (known !== undefined) return stem(known)
  const single = word.replace(/(?<=ss|x|z|ch|sh)es$|(?<=[^su])s$/, "").replace(/ie$/, "y")
  const base = withoutDerivedEnding(withoutVerbEnding(single))
  // One term for "hope" and "hop(ing)", for "city" and "citi(es)".
  const term = base.replace(/e$/, "").replace(/y$/, "i")
  return term.length >= 3 ? term : base.length >= 3 ? base : single
}
