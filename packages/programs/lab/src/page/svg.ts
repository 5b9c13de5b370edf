/** Pieces of pictures: texts that are safe in HTML, scales and their ticks. */

/** A text for the content or an attribute of an element. */
export const escaped = (text: string): string =>
  text.replace(
    /[&<>"']/g,
    (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[sign] ?? "",
  )

/** A coordinate; more digits would only make the file larger. */
export const at = (value: number): string => String(Math.round(value * 10) / 10)

/** A number with separators, the same in every locale: 12,345. */
export const count = (value: number): string => Math.round(value).toLocaleString("en-US")

/** A short form of a number of tokens: 950, 12k, 1.2M. */
export const short = (value: number): string => {
  if (value >= 1_000_000) return `${Number((value / 1_000_000).toFixed(1))}M`
  return value >= 1_000 ? `${Number((value / 1_000).toFixed(1))}k` : String(Math.round(value))
}

/** Places a value between two coordinates. */
export type Scale = (value: number) => number

export const linear =
  (from: number, to: number, start: number, end: number): Scale =>
  (value) =>
    start + ((value - from) / (to - from || 1)) * (end - start)

/** A logarithmic scale; all values are above 0. */
export const logarithmic = (from: number, to: number, start: number, end: number): Scale => {
  const scale = linear(Math.log(from), Math.log(to), start, end)
  return (value) => scale(Math.log(value))
}

const steps = [1, 2, 5, 10]

/** About `about` round values, from 0 up to the first round value that is not below `largest`. */
export const ticks = (largest: number, about: number): ReadonlyArray<number> => {
  const raw = Math.max(largest, 1e-9) / about
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = (steps.find((one) => one * power >= raw) ?? 10) * power
  return Array.from({ length: Math.ceil(largest / step - 1e-9) + 1 }, (_, position) => position * step)
}

/** 1, 2 and 5 times the powers of ten, from the last one below the smallest to the first one above the largest. */
export const logarithmicTicks = (smallest: number, largest: number): ReadonlyArray<number> => {
  const all: Array<number> = []
  for (let power = Math.floor(Math.log10(smallest)); power <= Math.ceil(Math.log10(largest)); power++)
    all.push(...[1, 2, 5].map((one) => one * 10 ** power))
  const from = all.findLastIndex((one) => one <= smallest)
  const to = all.findIndex((one) => one >= largest)
  return all.slice(Math.max(from, 0), to === -1 ? all.length : Math.max(to, from + 1) + 1)
}
