/** Numbers for terms: thousands of sessions have the words of one language, and each word is kept once. */

/** Some terms, each with its number. */
export type Numbered = ReadonlyArray<readonly [term: string, number: number]>

export class Vocabulary {
  private readonly byTerm = new Map<string, number>()
  private readonly terms: Array<string> = []
  private readonly uses: Array<number> = []
  /** Numbers of terms that are not used any more. */
  private readonly free: Array<number> = []
  /** How often a term got a number, or lost it. */
  private changes = 0

  /** Counts one more use of a term. Returns its number. */
  add(term: string): number {
    const known = this.byTerm.get(term)
    if (known !== undefined) {
      this.uses[known]!++
      return known
    }
    this.changes++
    const number = this.free.pop() ?? this.terms.length
    this.byTerm.set(term, number)
    this.terms[number] = term
    this.uses[number] = 1
    return number
  }

  /** Counts one use less. A term without uses is forgotten, and its number is given to another one. */
  remove(number: number): void {
    if (--this.uses[number]! > 0) return
    this.changes++
    this.byTerm.delete(this.terms[number]!)
    this.terms[number] = ""
    this.free.push(number)
  }

  term(number: number): string {
    return this.terms[number]!
  }

  /** The terms in use of some, each with its number, in ascending order of the numbers: as they are whenever they are asked for. */
  numbersOf(terms: ReadonlyArray<string>): () => Numbered {
    let numbered: Numbered = []
    let changes = -1
    return () => {
      if (changes === this.changes) return numbered
      changes = this.changes
      const found = terms.flatMap((term): Numbered => {
        const number = this.byTerm.get(term)
        return number === undefined ? [] : [[term, number]]
      })
      return (numbered = found.toSorted(([, one], [, other]) => one - other))
    }
  }
}
