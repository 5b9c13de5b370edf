/** The facts that rules find, and where they stand. */
import { head } from "../text.js"

/** The fact a rule finds in a clause or sentence. */
export interface MatchedFact {
  readonly kind: "profile" | "preference" | "instruction"
  readonly text: string
  readonly key: string
}

/** A fact, and the words that say it, as they stand in the text. */
export interface QuotedFact extends MatchedFact {
  readonly quote: string
}

/** The longest quote, in UTF-16 units: the beginning of a sentence is enough to find it. */
const longestQuote = 300

/**
 * Words as they stand in a text, which may have more spaces and emphasis between them; `null` if they do not stand there. Only what can be
 * quoted is learned.
 */
export const quoteIn = (text: string, words: string): string | null => {
  const said = head(words, longestQuote)
  if (text.includes(said)) return said
  const pattern = said
    .split(" ")
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/gu, "\\$&"))
    .join("[\\s*]{1,9}")
  return new RegExp(pattern, "u").exec(text)?.[0] ?? null
}

/** A clause of a sentence, and the clause after it. */
export interface Clause {
  readonly text: string
  readonly next: string | undefined
  /** Whether a greeting stands right before it: "Hi, I'm Ada" tells a name, "I'm Happy" does not. */
  readonly greeted: boolean
}

/** Folds case, width and punctuation for keys. */
export const folded = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}+#]+/gu, " ")
    .trim()

export const profile = (key: string, text: string): MatchedFact => ({ kind: "profile", key, text })

/** The fact in the first two groups of a form (empty where one did not match); `null` if it only looked like one. */
export type Fact = (first: string, second: string, clause: Clause) => MatchedFact | null

/** Forms in which people state something of themselves, and the facts in them. The first text makes their expressions. */
export type Forms = () => ReadonlyArray<readonly [form: RegExp, fact: Fact]>

export const forms = (given: ReadonlyArray<readonly [form: string, fact: Fact]>): Forms => {
  let made: ReturnType<Forms> | undefined
  return () => (made ??= given.map(([form, fact]) => [new RegExp(form, "iu"), fact]))
}

/** The value in the words of a clause; `null` if they are none. */
type Value = (words: string, clause: Clause) => string | null

/** A profile fact with the value in the first group, which is part of the key if that ends in a colon. */
export const stated =
  (key: string, label: string, value: Value): Fact =>
  (words, _, clause) => {
    const found = value(words, clause)
    if (found === null) return null
    return profile(key.endsWith(":") ? key + folded(found) : key, label + found)
  }

/** Liking and disliking the same thing is one fact that changed. */
export const taste =
  (label: string, value: Value): Fact =>
  (words, _, clause) => {
    const found = value(words, clause)
    return found === null ? null : { kind: "preference", key: `taste:${folded(found)}`, text: label + found }
  }

/** The fact of the first form that matches a text and gives one. */
export const firstFact = (forms: Forms, text: string, clause: Clause): MatchedFact | null => {
  for (const [form, fact] of forms()) {
    const match = form.exec(text)
    const found = match === null ? null : fact(match[1]?.trim() ?? "", match[2]?.trim() ?? "", clause)
    if (found !== null) return found
  }
  return null
}

/** A standing instruction, in the user's own words. */
export const instruction = (text: string, key = `instruction:${folded(text)}`): MatchedFact => ({
  kind: "instruction",
  key,
  text,
})

/** Words of secrets, which must not appear in other contexts. */
const secret =
  /\b(?:passwords?|passwd|passphrases?|secrets?|credentials?|api[\s_-]?keys?|(?:access|auth|bearer|refresh)[\s_-]?tokens?|private keys?|pin codes?|cvv|cvc|ssn|social security|credit cards?|iban)\b|密码|密碼|口令|密钥|密鑰|私钥|私鑰|验证码|驗證碼|身份证|身分證|信用卡|银行卡|銀行卡/iu
/** Letters mixed with digits, as in tokens and digests. */
const jumble = /(?<![\w-])(?=[A-Za-z_-]*\d)(?=[\d_-]*[A-Za-z])[\w-]{24,}/

/** Whether a text may contain a secret, judged by its words and form. */
export const mayBeSecret = (text: string): boolean => secret.test(text) || jumble.test(text)
