/** Numbers, times and places as the page writes them. */

/** A number with separators: 12,345. */
export const count = (value: number): string => Math.round(value).toLocaleString("en-US")

const pluralOf = (noun: string): string =>
  noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : noun.endsWith("ch") ? `${noun}es` : `${noun}s`

/** A number and its noun: `1 message`, `2 messages`. */
export const several = (value: number, noun: string): string =>
  `${count(value)} ${value === 1 ? noun : pluralOf(noun)}`

/** A short form of a number of tokens: 950, 12k, 1.2M. */
export const short = (value: number): string => {
  if (value >= 1_000_000) return `${Number((value / 1_000_000).toFixed(1))}M`
  return value >= 1_000 ? `${Number((value / 1_000).toFixed(value < 10_000 ? 1 : 0))}k` : count(value)
}

/** A share in percent. Only nothing is 0 %, and only all of it is 100 %. */
export const percent = (part: number, whole: number): string => {
  if (whole === 0) return "0 %"
  const rounded = Math.round((part / whole) * 100)
  if (rounded === 0 && part > 0) return "< 1 %"
  return rounded === 100 && part < whole ? "> 99 %" : `${rounded} %`
}

/** Dollars with as many digits as a small sum needs. */
export const dollars = (value: number): string =>
  value === 0 ? "$0" : `$${value.toFixed(value < 0.1 ? 4 : 2)}`

const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" })

/** A time, in milliseconds since the epoch. */
export const moment = (time: number): string => day.format(time)

const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" })

export const ago = (time: number, now: number): string => {
  const [unit, length] = units.find(([, length]) => now - time >= length) ?? []
  return unit === undefined ? "just now" : relative.format(-Math.round((now - time) / length!), unit)
}

/** The end of an id, which tells ids apart. */
export const shortId = (id: string): string => (id.length > 8 ? `…${id.slice(-6)}` : id)

/** The messages of a half-open range, as people count them: `messages 116 to 163`. */
export const messages = ({ from, to }: { readonly from: number; readonly to: number }): string => {
  if (to <= from) return "no message"
  return to === from + 1 ? `message ${count(from)}` : `messages ${count(from)} to ${count(to - 1)}`
}

/** A name of the code in words: `Session described`, `context size`. */
export const inWords = (name: string): string =>
  name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
