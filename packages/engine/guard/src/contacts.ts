/** E-mail addresses and telephone numbers: only on demand, since much of what is said needs them. */
import type { Piece } from "./numbers.js"

const address = /(?<![\w.+-])[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.)+[a-z]{2,24}(?![\w-])/gi

/** E-mail addresses. A user and a host of a command line (`git@github.com:`) is none. */
export const emails = (text: string): ReadonlyArray<Piece> =>
  [...text.matchAll(address)].flatMap(({ 0: found, index: from }) =>
    text[from + found.length] === ":" ||
    /^(?:git|hg|svn)@/i.test(found) ||
    /\.(?:png|jpe?g|svg|webp)$/i.test(found)
      ? []
      : [{ from, to: from + found.length, kind: "email" }],
  )

const number =
  /(?<![\w.+/:-])(?:\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,6}|\(\d{3}\) ?\d{3}[-.]\d{4}|\d{3}[-.]\d{3}[-.]\d{4})(?![\w:/-]|\.\d)/g

/** Telephone numbers: international ones with their plus, and those of North America in their groups. */
export const phones = (text: string): ReadonlyArray<Piece> =>
  [...text.matchAll(number)].flatMap(({ 0: found, index: from }) => {
    const digits = found.replaceAll(/\D/g, "").length
    return digits < 8 || digits > 15 ? [] : [{ from, to: from + found.length, kind: "phone" }]
  })
