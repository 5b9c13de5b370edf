/** The size of the context from call to call, a small picture for each policy, all at the same scale. */
import type { Report } from "../report.js"
import { at, escaped, linear, short, ticks } from "./svg.js"

const width = 300
const height = 150
const edge = { left: 42, right: 8, top: 8, bottom: 22 }

/** The most points of a line. Each point shows the largest of the values that it stands for. */
const mostPoints = 300

const thinned = (
  values: ReadonlyArray<number>,
): ReadonlyArray<{ readonly call: number; readonly tokens: number }> => {
  const size = Math.max(1, Math.ceil(values.length / mostPoints))
  return Array.from({ length: Math.ceil(values.length / size) }, (_, position) => {
    const some = values.slice(position * size, (position + 1) * size)
    const tokens = Math.max(...some)
    return { call: position * size + some.indexOf(tokens), tokens }
  })
}

/** If the full history is more times as large as the largest context of a policy, its line leaves the picture. */
const mostTimes = 2

/** The pictures of one conversation, at the given position of the report. */
export const contextCurves = ({ policies }: Report, conversation: number): string => {
  const contexts = policies.map(({ replays }) => replays[conversation]?.contexts ?? [])
  const largest = contexts.map((one) => one.reduce((a, b) => Math.max(a, b), 0))
  const [full = 0, ...others] = largest
  const most = Math.max(...others.filter((one) => one < full), others.length === 0 ? full : 1)
  const marks = ticks(full <= mostTimes * most ? full : most, 3)
  const top = marks.at(-1) ?? 1
  const calls = contexts[0]?.length ?? 0
  const x = linear(1, Math.max(calls, 2), edge.left, width - edge.right)
  const y = linear(0, top, height - edge.bottom, edge.top)
  const pathOf = (values: ReadonlyArray<number>): string =>
    thinned(values)
      .map(
        ({ call, tokens }, position) =>
          `${position === 0 ? "M" : "L"}${at(x(call + 1))} ${at(Math.max(y(tokens), -10))}`,
      )
      .join("")
  const clip = `clip${conversation}`
  const grid = marks
    .map(
      (mark) =>
        `<line class="grid" x1="${edge.left}" x2="${width - edge.right}" y1="${at(y(mark))}" y2="${at(y(mark))}"/>` +
        `<text class="tick" x="${edge.left - 6}" y="${at(y(mark) + 4)}" text-anchor="end">${short(mark)}</text>`,
    )
    .join("")
  const reference = `<path class="full" clip-path="url(#${clip})" d="${pathOf(contexts[0] ?? [])}"/>`
  const pictures = policies.map(({ name, replays }, position) => {
    const replay = replays[conversation]
    const path =
      position === 0
        ? ""
        : `<path class="context" clip-path="url(#${clip})" d="${pathOf(contexts[position] ?? [])}"/>`
    const compactions = position === 0 ? "" : `, ${replay?.compactions ?? 0} compactions`
    return (
      `<figure><figcaption>${escaped(name)}<small>up to ${short(largest[position] ?? 0)} tokens${compactions}</small></figcaption>` +
      `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="Tokens of the context from call to call, ${escaped(name)}">` +
      `<clipPath id="${position === 0 ? clip : `${clip}-${position}`}"><rect x="${edge.left}" y="0" width="${width - edge.left}" height="${height}"/></clipPath>` +
      `${grid}${reference}${path}` +
      `<text class="tick" x="${width - edge.right}" y="${height - 6}" text-anchor="end">call ${calls}</text></svg></figure>`
    )
  })
  return `<div class="curves">${pictures.join("")}</div>`
}
