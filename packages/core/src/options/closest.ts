/** What somebody meant who typed a name that there is not. */

/** How many letters have to be put in, left out, replaced, or exchanged with their neighbour, to come from one word to the other. */
const distance = (one: string, other: string): number => {
  let before: ReadonlyArray<number> = []
  let row: ReadonlyArray<number> = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1]
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      next.push(
        Math.min(
          row[j]! + 1,
          next[j - 1]! + 1,
          row[j - 1]! + (same ? 0 : 1),
          isSwap ? before[j - 2]! + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    before = row
    row = next
  }
  return row[other.length]!
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "")

/**
 * The name that is nearest to a word, if it is near: a quarter of its letters may be wrong. Case and punctuation do not count, so
 * `tail_keep_size` is near `tailKeepSize`. Of names that are as near, the first.
 */
export const closest = (word: string, names: Iterable<string>): string | undefined => {
  const typed = plain(word)
  let found: { readonly name: string; readonly away: number } | undefined
  for (const name of names) {
    const away = distance(typed, plain(name))
    if (away <= Math.max(1, Math.floor(name.length / 4)) && away < (found?.away ?? Number.POSITIVE_INFINITY))
      found = { name, away }
  }
  return found?.name
}

/** What is said of a name that there is not, behind its semicolon: what was probably meant, if there is such a name. */
export const didYouMean = (guess: string | undefined): string =>
  guess === undefined ? "" : `did you mean "${guess}"? `
