/** Numbers whose digits people group in different ways. */

/** Groups of three digits: `1,299`, `1.299`, `1 299`, `1'299`. */
const grouped = /(?<![\d.,])\d{1,3}(?:([,.'’ ])\d{3})(?:\1\d{3})*(?!\d)/g

/** Digits with the signs and spaces that telephone numbers are written with. */
const spelled = /(?<!\d)\d(?:[ ()./-]{0,3}\d){6,19}(?!\d)/g

/** A telephone number is known by its last digits: people leave out the prefix of the country, or write 0 for it. */
const lastDigits = 7

const digitsOf = (text: string): string => text.replace(/\D/g, "")

/**
 * The numbers of a text as terms of digits alone.
 *
 * @param text - a text with the digits 0 to 9
 */
export const numbersIn = (text: string): ReadonlyArray<string> => {
  const found = new Set<string>()
  const others = text.replace(spelled, (number) => {
    const digits = digitsOf(number)
    found.add(digits)
    found.add(digits.slice(-lastDigits))
    return "\n"
  })
  for (const [number] of others.matchAll(grouped)) found.add(digitsOf(number))
  return [...found]
}
