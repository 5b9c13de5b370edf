/** How often a search finds a message by other forms of its words, in ten languages: without a model, by words alone. */
import { Search } from "@memfold/core"
import { type LanguageTexts, languages } from "./texts.js"

/** The positions of messages that have a word of the question, best first, by BM25. */
const ranked = (question: string, messages: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<number> => {
  const average = messages.reduce((sum, terms) => sum + terms.length, 0) / messages.length
  const scores = messages.map(() => 0)
  for (const term of Search.queryTermsOf(question)) {
    const counts = messages.map((terms) => terms.filter((one) => one === term).length)
    const weight = Search.termWeight(messages.length, counts.filter((count) => count > 0).length)
    for (const [at, count] of counts.entries())
      if (count > 0) scores[at]! += Search.termScore(weight, count, messages[at]!.length / average)
  }
  return scores
    .map((score, at) => ({ score, at }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score || one.at - other.at)
    .map(({ at }) => at)
}

const foundIn = ({ messages, questions }: LanguageTexts, first: number): number => {
  const terms = messages.map((message) => Search.termsOf(message))
  const found = questions.filter(([question, answer]) =>
    ranked(question, terms).slice(0, first).includes(answer),
  )
  return (100 * found.length) / questions.length
}

/** The least share of questions whose message is among the first five, in per cent. */
const bound = 80

/** Prints the shares of each language. Returns whether each is within the bound. */
export const inLanguages = (): Promise<boolean> => {
  console.log("\nMessages found by other forms of their words, in per cent of the questions")
  console.log(`  ${"".padEnd(10)}${"first".padStart(8)}${"of 5".padStart(8)}`)
  const rows = languages.map((texts) => ({
    language: texts.language,
    first: foundIn(texts, 1),
    five: foundIn(texts, 5),
  }))
  for (const { language, first, five } of rows)
    console.log(`  ${language.padEnd(10)}${first.toFixed(0).padStart(8)}${five.toFixed(0).padStart(8)}`)
  console.log(`  bound: ${bound} of 5`)
  return Promise.resolve(rows.every(({ five }) => five >= bound))
}
