/** What each policy costs, as a bar in parts; the full history is 100. */
import type { CostParts, Report } from "../report.js"
import { at, escaped, linear, ticks } from "./svg.js"

/** The parts of a cost, in the order of the bar, with their names and the classes of their colours. */
export const costParts: ReadonlyArray<{
  readonly part: Exclude<keyof CostParts, "total">
  readonly name: string
}> = [
  { part: "cached", name: "prompt, from the cache" },
  { part: "written", name: "prompt, written to the cache" },
  { part: "newInput", name: "read by the summarizer" },
  { part: "summarizerOutput", name: "written by the summarizer" },
]

const width = 640
const left = 190
const right = 50
const row = 26
const top = 8

export const costBars = ({ prices, policies }: Report, price: number): string => {
  const shares = policies.map(({ costs }) => costs[price]?.share ?? null)
  const marks = ticks(Math.max(...shares.map((share) => share?.total ?? 0), 100), 5)
  const x = linear(0, marks.at(-1) ?? 100, left, width - right)
  const bottom = top + policies.length * row
  const grid = marks.map(
    (mark) =>
      `<line class="grid" x1="${at(x(mark))}" x2="${at(x(mark))}" y1="${top}" y2="${bottom}"/>` +
      `<text class="tick" x="${at(x(mark))}" y="${bottom + 16}" text-anchor="middle">${at(mark)}</text>`,
  )
  const bars = policies.map(({ name }, position) => {
    const share = shares[position] ?? null
    const y = top + position * row
    let from = 0
    const rects = costParts.map(({ part, name: partName }) => {
      const value = share?.[part] ?? 0
      const start = from
      from += value
      return value === 0
        ? ""
        : `<rect class="${part}" x="${at(x(start))}" y="${y + 4}" width="${at(x(from) - x(start))}" height="${row - 8}">` +
            `<title>${escaped(name)}, ${escaped(partName)}: ${at(value)}</title></rect>`
    })
    return (
      `<text class="name" x="${left - 8}" y="${y + row / 2 + 4}" text-anchor="end">${escaped(shortened(name))}<title>${escaped(name)}</title></text>` +
      rects.join("") +
      `<text class="value" x="${at(x(from) + 6)}" y="${y + row / 2 + 4}">${share === null ? "–" : at(share.total)}</text>`
    )
  })
  const reference = `<line class="reference" x1="${at(x(100))}" x2="${at(x(100))}" y1="${top}" y2="${bottom}"/>`
  return (
    `<svg viewBox="0 0 ${width} ${bottom + 24}" role="img" aria-label="What each policy costs by the prices of ${escaped(prices[price]?.model ?? "")}">` +
    `${grid.join("")}${reference}${bars.join("")}</svg>`
  )
}

const mostLetters = 26

/** A name that fits beside the bars. */
export const shortened = (name: string): string => {
  const letters = [...name]
  return letters.length <= mostLetters ? name : `${letters.slice(0, mostLetters - 1).join("")}…`
}
