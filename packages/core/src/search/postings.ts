/** Where terms occur in texts that are numbered from 0: messages, or the blocks of a summary. */

/** A text in which a term occurs. */
export interface Posting {
  /** The number of the text. */
  readonly index: number
  /** How often the term occurs. */
  readonly count: number
  /** How many terms the text has. */
  readonly length: number
}

/** What is known of some terms in texts. */
export interface TermPostings {
  /** How many texts there are, and how many terms they have together. */
  readonly messages: number
  readonly length: number
  /** For each term the texts that it occurs in, by their numbers. A term that does not occur may be left out. */
  readonly terms: ReadonlyMap<string, ReadonlyArray<Posting>>
}

/** Counts how often each term occurs. */
export const countTerms = (terms: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}

/** The postings of texts, each given by its terms. */
export const postingsOf = (texts: ReadonlyArray<ReadonlyArray<string>>): TermPostings => {
  const terms = new Map<string, Array<Posting>>()
  for (const [index, all] of texts.entries()) {
    for (const [term, count] of countTerms(all)) {
      const posting = { index, count, length: all.length }
      const list = terms.get(term)
      if (list === undefined) terms.set(term, [posting])
      else list.push(posting)
    }
  }
  return { messages: texts.length, length: texts.reduce((sum, { length }) => sum + length, 0), terms }
}
