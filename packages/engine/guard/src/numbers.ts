/** Numbers with a checksum: payment cards, and accounts (IBAN). Their structure and what stands beside them tell them from other numbers. */

/** A piece of a text, in UTF-16 code units. */
export interface Piece {
  readonly from: number
  readonly to: number
  readonly kind: string
}

/** The sum of Luhn: each second digit from the right is doubled, and its digits are added. */
const isLuhn = (digits: string): boolean => {
  let sum = 0
  for (let at = digits.length - 1, isDoubled = false; at >= 0; at--, isDoubled = !isDoubled) {
    const digit = Number(digits[at]) * (isDoubled ? 2 : 1)
    sum += digit > 9 ? digit - 9 : digit
  }
  return sum % 10 === 0
}

/** How the numbers of issuers begin, and how long they are: Visa, Mastercard, American Express, Discover, Diners Club, JCB, UnionPay, Maestro. */
const issuers =
  /^(?:4\d{15}(?:\d{3})?|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|3[47]\d{13}|(?:6011|64[4-9]\d|65\d\d)\d{12,15}|(?:30[0-5]|3[689]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12,15}|62\d{14,17}|(?:5018|5020|5038|5893|6304|6759|676[1-3])\d{12,15})$/

/** In one piece, or in the groups in which cards have them, with one separator. What belongs to a longer number or name is none. */
const cardLike =
  /(?<![\w./#@%+-]|\d[ ,-])(?:\d{14,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{1,3})?|\d{4}([ -])\d{6}\2\d{4,5})(?![\w%@/:-]|\.\w|,\d| ?-? ?\d)/g

const cardWord =
  /card|visa|amex|american express|discover|diners|union ?pay|maestro|kart|carte|tarjeta|(?<![a-z])(?:jcb|pan|cc)(?![a-z])|信用卡|カード|카드/i
const idWord =
  /(?:\b(?:id|uid|key|hash|seed|nonce|time|timestamp|created|updated|index|offset|size|bytes|version|order|ticket|tracking|invoice)|[a-z]Id|at|_id|At|Ms)\\*["'\]]{0,2}\s*[:=]\s*\\*["']?$/i

/** How far before a number its name may stand. */
const near = 48

/** Numbers of payment cards: an issuer's prefix and length, the checksum of Luhn, and no sign of another number. */
export const cards = (text: string): ReadonlyArray<Piece> =>
  [...text.matchAll(cardLike)].flatMap(({ 0: found, index: from }) => {
    const digits = found.replaceAll(/[ -]/g, "")
    if (!issuers.test(digits) || !isLuhn(digits) || /^(\d)\1+$/.test(digits)) return []
    const before = text.slice(Math.max(0, from - near), from)
    // In one piece, a number is more often an id; the longest ones nearly always are, and what is assigned or listed.
    const isDoubtful = digits.length !== 16 || /[,:=]$/.test(before) || idWord.test(before)
    if (found === digits && isDoubtful && !cardWord.test(before)) return []
    return [{ from, to: from + found.length, kind: "card" }]
  })

/** The length of an account's number by its country. */
const lengths = new Map(
  "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BI27BR29BY28CH21CR22CY28CZ24DE22DJ27DK18DO28EE20EG29ES24FI18FK18FO18FR27GB22GE22GI23GL18GR27GT28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MN20MR27MT31MU30NI28NL18NO15OM23PK24PL28PS29PT25QA29RO24RS22RU33SA24SC31SD18SE24SI19SK24SM27SO23ST25SV28TL23TN24TR26UA29VA22VG24XK20YE30"
    .match(/[A-Z]{2}\d\d/g)!
    .map((one) => [one.slice(0, 2), Number(one.slice(2))]),
)

const ibanLike = /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?(?![A-Za-z0-9])/g

/** The remainder by 97 of a number with letters as digits from 10 on. */
const remainder = (code: string): number => {
  let rest = 0
  for (const one of code) rest = Number(`${rest}${Number.parseInt(one, 36)}`) % 97
  return rest
}

/** Numbers of accounts: a country, its length, and the checksum by 97. */
export const ibans = (text: string): ReadonlyArray<Piece> =>
  [...text.matchAll(ibanLike)].flatMap(({ 0: found, index: from }) => {
    const length = lengths.get(found.slice(0, 2)) ?? 0
    // What follows in capitals may be the next word.
    let [at, count] = [0, 0]
    for (; at < found.length && count < length; at++) if (found[at] !== " ") count++
    const code = found.slice(0, at).replaceAll(" ", "")
    if (count < length || /[A-Z0-9]/.test(found[at] ?? "")) return []
    return remainder(code.slice(4) + code.slice(0, 4)) === 1 ? [{ from, to: from + at, kind: "iban" }] : []
  })
