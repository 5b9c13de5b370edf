/** The identifiers in a text: what has to be in a message word for word, such as `KX-4471`, `src/money.ts`, `parsePrice`, `39.90`. */
import { fold } from "../search/fold.js"
import { joinedTerms, runs, termsOf } from "../search/terms.js"

/** An identifier, as it is written, and the search terms that stand for it: a text with one of them has it. */
export interface Identifier {
  readonly text: string
  readonly terms: ReadonlyArray<string>
}

/** Signs within identifiers that words do not have. A hyphen alone joins words. */
const sign = /[/\\_@#:.+]/u
const hump = /\p{Ll}\p{Lu}/u
const mixed = /^(?=.*\p{L})(?=.*\p{N})/su
/** Shorter numbers are counts, which a summary may have counted itself. */
const fewestDigits = 4

const isIdentifier = (run: string): boolean =>
  mixed.test(run) ||
  hump.test(run) ||
  (sign.test(run) && /[\p{L}\p{N}]{2}/u.test(run)) ||
  (run.match(/\p{N}/gu)?.length ?? 0) >= fewestDigits

/**
 * The identifiers in a run of letters and signs. A path counts by its file; where there is none, as in `read/write`, slashes join
 * words, and each part counts by itself.
 */
const identifiersIn = (run: string): ReadonlyArray<string> => {
  const parts = run.split(/[/\\]+/u)
  return parts.length === 1 || isIdentifier(parts.at(-1)!)
    ? [run].filter(isIdentifier)
    : parts.filter(isIdentifier)
}

/** The identifiers in a text, each once. */
export const identifiersOf = (text: string): ReadonlyArray<Identifier> => {
  const found = new Map<string, Identifier>()
  for (const [run] of fold(text).matchAll(runs)) {
    for (const one of identifiersIn(run)) {
      if (found.has(one)) continue
      const joined = joinedTerms(one)
      const terms = joined.length > 0 ? joined : termsOf(one).slice(0, 1)
      if (terms.length > 0) found.set(one, { text: one, terms })
    }
  }
  return [...found.values()]
}
