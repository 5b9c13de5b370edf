/** Where terms occur in texts that are numbered from 0: messages, or the blocks of a summary. */

/** What is known of some terms in texts. */
export interface TermPostings {
  /** How many terms each text has. */
  readonly lengths: ArrayLike<number>
  /**
   * For each term the texts that it occurs in, in order: the number of the text and how often it has the term, one after the
   * other. A term that does not occur may be left out.
   */
  readonly terms: ReadonlyMap<string, ArrayLike<number>>
}

export const countTerms = (terms: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}

/** The postings of texts, each given by its terms. */
export const postingsOf = (texts: ReadonlyArray<ReadonlyArray<string>>): TermPostings => {
  const terms = new Map<string, Array<number>>()
  for (const [index, all] of texts.entries()) {
    for (const [term, count] of countTerms(all)) {
      const list = terms.get(term)
      if (list === undefined) terms.set(term, [index, count])
      else list.push(index, count)
    }
  }
  return { lengths: texts.map(({ length }) => length), terms }
}
