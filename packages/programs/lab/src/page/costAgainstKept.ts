/** What each policy costs against what it keeps. The curve connects the policies that no other policy beats in both. */
import type { PolicyReport, Report } from "../report.js"
import { shortened } from "./costBars.js"
import { at, escaped, linear, logarithmic, logarithmicTicks } from "./svg.js"

/** What is kept, in percent: of the evidence where there are questions, and of needed identifiers otherwise. */
interface KeptShare {
  readonly kept: number
  /** With recall; only for evidence. */
  readonly withRecall: number | null
}

/** What a policy keeps; `null` if nothing was asked and no identifier needed. */
const keptBy = ({ evidence, identifiers }: PolicyReport): KeptShare | null => {
  if (evidence !== null)
    return {
      kept: 100 * (evidence.raw + evidence.inSummaries + evidence.recalled),
      withRecall: 100 * evidence.withRecall,
    }
  return identifiers.needed === 0
    ? null
    : { kept: (100 * identifiers.there) / identifiers.needed, withRecall: null }
}

interface Point extends KeptShare {
  readonly name: string
  readonly cost: number
}

const width = 640
const height = 400
const edge = { left: 48, right: 20, top: 16, bottom: 44 }
const lineHeight = 14

/** The points that no other point beats: none costs no more and keeps no less. From the cheapest to the dearest. */
export const unbeaten = <P extends { readonly cost: number; readonly kept: number }>(
  points: ReadonlyArray<P>,
): ReadonlyArray<P> => {
  let best = Number.NEGATIVE_INFINITY
  return points
    .toSorted((one, other) => one.cost - other.cost || other.kept - one.kept)
    .filter(({ kept }) => {
      const isBetter = kept > best
      best = Math.max(best, kept)
      return isBetter
    })
}

/** A label beside a point: where it stands, and on which side. */
interface Label {
  readonly x: number
  readonly y: number
  readonly anchor: "start" | "end"
}

/** About how wide a letter of a label is. */
const letter = 7

interface Coordinates {
  readonly x: number
  readonly y: number
}

/** Places labels beside their points so that none covers another label, a point, or another mark. */
const labelled = (
  points: ReadonlyArray<Coordinates & { readonly text: string }>,
  marks: ReadonlyArray<Coordinates>,
): ReadonlyArray<Label> => {
  const taken = [...points, ...marks].map(({ x, y }) => ({ from: x - 5, to: x + 5, y }))
  return points.map(({ x, y, text }, own) => {
    const long = text.length * letter
    const tries = Array.from({ length: 48 }, (_, attempt) => {
      const step = Math.ceil(attempt / 4) * (lineHeight / 2)
      const down = attempt % 4 < 2 ? step : -step
      return { anchor: attempt % 2 === 0 ? ("start" as const) : ("end" as const), y: y + down }
    })
    const spanOf = ({ anchor }: Pick<Label, "anchor">) =>
      anchor === "start" ? { from: x + 8, to: x + 8 + long } : { from: x - 8 - long, to: x - 8 }
    const fits = (one: Pick<Label, "anchor" | "y">) => {
      const { from, to } = spanOf(one)
      return (
        from >= edge.left &&
        to <= width - 2 &&
        one.y >= edge.top - 4 &&
        one.y <= height - edge.bottom + 4 &&
        taken.every(
          (other, position) =>
            position === own ||
            other.to < from ||
            other.from > to ||
            Math.abs(other.y - one.y) >= lineHeight - 1,
        )
      )
    }
    const found = tries.find(fits) ?? tries[0]!
    const { from, to } = spanOf(found)
    taken.push({ from, to, y: found.y })
    return { x: found.anchor === "start" ? x + 8 : x - 8, ...found }
  })
}

/** The picture by one of the prices; `null` if nothing says what is kept. */
export const costAgainstKept = ({ prices, policies }: Report, price: number): string | null => {
  const points = policies.flatMap((policy): ReadonlyArray<Point> => {
    const kept = keptBy(policy)
    const cost = policy.costs[price]?.share?.total ?? 0
    return kept === null || cost <= 0 ? [] : [{ name: policy.name, cost, ...kept }]
  })
  if (points.length === 0) return null
  const costs = points.map(({ cost }) => cost)
  const marks = logarithmicTicks(Math.min(...costs), Math.max(...costs))
  const x = logarithmic(marks[0]!, marks.at(-1)!, edge.left, width - edge.right)
  const y = linear(0, 100, height - edge.bottom, edge.top)
  const grid = [
    ...marks.map(
      (mark) =>
        `<line class="grid" x1="${at(x(mark))}" x2="${at(x(mark))}" y1="${edge.top}" y2="${height - edge.bottom}"/>` +
        `<text class="tick" x="${at(x(mark))}" y="${height - edge.bottom + 16}" text-anchor="middle">${at(mark)}</text>`,
    ),
    ...[0, 25, 50, 75, 100].map(
      (mark) =>
        `<line class="grid" x1="${edge.left}" x2="${width - edge.right}" y1="${at(y(mark))}" y2="${at(y(mark))}"/>` +
        `<text class="tick" x="${edge.left - 8}" y="${at(y(mark) + 4)}" text-anchor="end">${mark}</text>`,
    ),
    `<text class="tick" x="${width - edge.right}" y="${height - 8}" text-anchor="end">cost, full history = 100 (logarithmic)</text>`,
  ]
  const curve = (kept: (point: Point) => number, kind: string): string => {
    const line = unbeaten(points.map((point) => ({ cost: point.cost, kept: kept(point) })))
    const path = line.map(({ cost, kept }, position) => {
      const [across, up] = [at(x(cost)), at(y(kept))]
      return position === 0 ? `M${across} ${up}` : `H${across}V${up}`
    })
    return `<path class="curve ${kind}" d="${path.join("")}"/>`
  }
  const hasRecall = points.some(({ withRecall }) => withRecall !== null)
  const labels = labelled(
    points.map(({ name, cost, kept }) => ({ x: x(cost), y: y(kept), text: shortened(name) })),
    points.flatMap(({ cost, withRecall }) => (withRecall === null ? [] : [{ x: x(cost), y: y(withRecall) }])),
  )
  const drawn = points.map(({ name, cost, kept, withRecall }, position) => {
    const label = labels[position]!
    const said = `${name}: cost ${at(cost)}, kept ${at(kept)} %`
    const recalled =
      withRecall === null
        ? ""
        : `<line class="recall" x1="${at(x(cost))}" x2="${at(x(cost))}" y1="${at(y(kept))}" y2="${at(y(withRecall))}"/>` +
          `<circle class="recalled" cx="${at(x(cost))}" cy="${at(y(withRecall))}" r="4"><title>${escaped(said)}, with recall on demand ${at(withRecall)} %</title></circle>`
    return (
      recalled +
      `<circle class="kept" cx="${at(x(cost))}" cy="${at(y(kept))}" r="4.5"><title>${escaped(said)}</title></circle>` +
      `<text class="label" x="${at(label.x)}" y="${at(label.y + 4)}" text-anchor="${label.anchor}">${escaped(shortened(name))}</text>`
    )
  })
  return (
    `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="Cost against what is kept, by the prices of ${escaped(prices[price]?.model ?? "")}">` +
    grid.join("") +
    curve(({ kept }) => kept, "plain") +
    (hasRecall ? curve(({ kept, withRecall }) => withRecall ?? kept, "withRecall") : "") +
    `${drawn.join("")}</svg>`
  )
}
