/** Marks of a text in an index, beside its terms. Terms consist of letters and digits, so no text has a mark as a term. */

/** The text asks something: what comes next may be the answer. */
export const asks = "?"

/** Whether a text asks something. A question mark within an address or code is none. */
export const isQuestion = (text: string): boolean => /[？؟՞]|\?(?=[\s"'”’)\]!?]|$)/u.test(text)

/** The name of who said it has this term. */
export const saidBy = (term: string): string => `@${term}`

/** It was said in this role. */
export const saidAs = (role: string): string => `:${role}`

export const isMark = (term: string): boolean => /^[?@:]/.test(term)
