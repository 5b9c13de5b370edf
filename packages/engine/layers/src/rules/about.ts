/**
 * Finds what users say about themselves by the form of their sentences: profile, preferences and standing
 * instructions. It prefers missing a fact to inventing one: only statements in the user's own words count, not
 * questions, quotations, material to work on, or code.
 */
import { aboutChinese, goesOn, instructionChinese, isGreetingChinese, notMeantChinese } from "./chinese.js"
import { aboutEnglish, instructionEnglish, isGreetingEnglish, notMeantEnglish } from "./english.js"
import { type MatchedFact, mayBeSecret, type QuotedFact, quoteIn } from "./MatchedFact.js"
import { prose } from "./prose.js"
import { isQuestion, sentences } from "./sentences.js"

/** In UTF-16 units. A longer sentence is more likely pasted than typed. */
const longest = 300

const clauseEnd =
  /(?:(?<!\s)\s+)?(?:[，；]\s*|[,;(]\s+)|(?<!\s)\s+[–—-]\s+|(?<!\s)\s+(?:and|but|so|then)\s+(?=(?:i|i['’]m|i am|my)\s)/iu

const clausesOf = (sentence: string): ReadonlyArray<string> =>
  sentence
    .split(clauseEnd)
    .map((clause) => clause.replace(/(?<![.!…。！)\s])[.!…。！)\s]+$/u, "").trim())
    .filter((clause) => clause !== "")

/** The facts about the user in a user's text, in order; a key may occur more than once. */
export const about = (text: string): ReadonlyArray<QuotedFact> => {
  const found: Array<QuotedFact> = []
  let greeted = false
  for (const sentence of sentences(prose(text))) {
    const greets = isGreetingEnglish(sentence.text) || isGreetingChinese(sentence.text)
    if (!sentence.quoted && !sentence.question && sentence.text.length <= longest) {
      const quote = quoteIn(text, sentence.text)
      if (quote !== null)
        found.push(...ofSentence(sentence.text, greeted).map((fact) => ({ ...fact, quote })))
    }
    greeted = greets
  }
  return found.filter((fact) => !mayBeSecret(fact.text))
}

const ofClause = (text: string, next: string | undefined, greeted: boolean): MatchedFact | null =>
  aboutEnglish({ text, next, greeted }) ?? aboutChinese({ text, next, greeted })

const ofSentence = (sentence: string, greetedBefore: boolean): ReadonlyArray<MatchedFact> => {
  if (notMeantEnglish(sentence) || notMeantChinese(sentence)) return []
  const inner = (rest: string) => ofClause(rest, undefined, false)
  const standing = instructionEnglish(sentence, inner) ?? instructionChinese(sentence, inner)
  if (standing !== null) return [standing]
  const found: Array<MatchedFact> = []
  let greeted = greetedBefore
  let speaksOfSelf = false
  const clauses = clausesOf(sentence)
  clauses.forEach((clause, position) => {
    const fact = isQuestion(clause)
      ? null
      : (ofClause(clause, clauses[position + 1], greeted) ??
        (speaksOfSelf && goesOn(clause) ? ofClause(`我${clause}`, undefined, false) : null))
    greeted = isGreetingEnglish(clause) || isGreetingChinese(clause)
    speaksOfSelf = fact !== null || (speaksOfSelf && fact === null && goesOn(clause))
    if (fact !== null) found.push(fact)
  })
  return found
}
