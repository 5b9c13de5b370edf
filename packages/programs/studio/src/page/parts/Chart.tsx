/** Curves and columns, drawn by uPlot: with axes, units, and the numbers at the pointer. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import uPlot from "uplot"
import "uplot/dist/uPlot.min.css"
import { count } from "../format.js"

/** What one line or one part of the columns shows. */
export interface Series {
  readonly name: string
  /** The ink, by the name of its custom property. */
  readonly ink: string
  readonly values: ReadonlyArray<number>
  /** What the legend says of a place; the value by default. */
  readonly said?: (at: number) => string
}

export interface ChartProps {
  /** What it shows, for those who do not see it. */
  readonly label: string
  /** Columns stand one before the other: the first series is the whole. */
  readonly kind: "area" | "lines" | "columns"
  /** What the places are; they are counted from 1. */
  readonly across: string
  /** The series; a chart is drawn anew when they are others. */
  readonly series: ReadonlyArray<Series>
  /** A value with its unit. */
  readonly unit: (value: number) => string
  readonly height: number
  /** Charts with the same name share the pointer. */
  readonly together?: string
  /** Without the numbers of the places below. */
  readonly bare?: boolean
  /** The place that is chosen; the numbers are those of it while no pointer is there. */
  readonly chosen?: number
  readonly choose?: (place: number) => void
}

/** The space for the numbers at the left and for half a thumb of a slider at the right, in pixels; `style.scss` has both. */
const [left, right] = [48, 10]
const [wideLeft, wideRight] = [60, 24]
/** The steps between the numbers of places, which are whole. */
const steps = Array.from({ length: 8 }, (_, zeros) => [1, 2, 5].map((step) => step * 10 ** zeros)).flat()

/** The width of an element in pixels, as it changes. */
export const useWidth = () => {
  const box = useRef<HTMLDivElement>(null)
  const [pixels, set] = useState(0)
  useLayoutEffect(() => {
    const element = box.current!
    const measure = () => set(element.clientWidth)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [box, pixels] as const
}

const darkness = matchMedia("(prefers-color-scheme: dark)")

/** Whether the page is dark. A canvas keeps its colours, so it is drawn anew. */
const useDarkness = (): boolean => {
  const [isDark, set] = useState(darkness.matches)
  useEffect(() => {
    const read = () => set(darkness.matches)
    darkness.addEventListener("change", read)
    return () => darkness.removeEventListener("change", read)
  }, [])
  return isDark
}

/** The colour of an ink on the page, which a canvas cannot know by its name. */
const colourOf = (box: HTMLElement, ink: string, share = 100): string => {
  box.style.color = `color-mix(in srgb, var(--${ink}) ${share}%, transparent)`
  const { color } = getComputedStyle(box)
  box.style.color = ""
  return color
}

/** What uPlot is told. `chosen` is read whenever it has to say the numbers without a pointer. */
const optionsOf = (
  { kind, across, series, unit, height, together, bare = false, choose }: ChartProps,
  {
    box,
    width,
    chosen,
    onDraw,
  }: {
    readonly box: HTMLElement
    readonly width: number
    readonly chosen: () => number
    readonly onDraw: () => void
  },
): uPlot.Options => {
  const isColumns = kind === "columns"
  const axis = { stroke: colourOf(box, "soft"), font: "11px system-ui, sans-serif", ticks: { show: false } }
  const line = { stroke: colourOf(box, "line"), width: 1 }
  const paths = isColumns ? { paths: uPlot.paths.bars!({ size: [0.8, 40] }), points: { show: false } } : {}
  return {
    width,
    height,
    hooks: { draw: [onDraw] },
    // Half of the last number below the curve stands beyond its end.
    padding: [8, bare ? right : wideRight, bare ? 6 : 0, 0],
    cursor: {
      y: false,
      drag: { x: false, y: false },
      points: { show: !isColumns, size: 6 },
      ...(together === undefined ? {} : { sync: { key: together } }),
    },
    scales: {
      x: {
        time: false,
        range: (_plot, min, max) => (isColumns || min === max ? [min - 0.5, max + 0.5] : [min, max]),
      },
      y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.06 : 1] },
    },
    axes: [
      { ...axis, show: !bare, size: 24, gap: 4, incrs: steps, grid: { show: false } },
      {
        ...axis,
        // Small sums have more digits than tokens have, and only the slider has to stand below its curve.
        size: bare ? left : wideLeft,
        gap: 6,
        space: 28,
        grid: line,
        values: (_plot, splits) =>
          splits.map((value) => (unit === count && !Number.isInteger(value) ? "" : unit(value))),
      },
    ],
    series: [
      { label: across, value: (plot, _value, _series, at) => count(plot.data[0][at ?? chosen()] ?? 0) },
      ...series.map(({ name, ink, values, said = (at: number) => unit(values[at] ?? 0) }) => ({
        label: name,
        stroke: colourOf(box, ink),
        width: isColumns ? 0 : 1.5,
        points: { show: false },
        value: (_plot: uPlot, _value: number, _series: number, at: number | null) => said(at ?? chosen()),
        ...(kind === "lines" ? {} : { fill: colourOf(box, ink, isColumns ? 100 : 16) }),
        ...paths,
      })),
    ],
    ...(choose === undefined ? {} : { class: "choosing" }),
  }
}

/** Shows a chart, with its legend below. */
export const Chart = (props: ChartProps) => {
  const { label, series, height, chosen } = props
  const [box, width] = useWidth()
  const isDark = useDarkness()
  const now = useRef(props)
  now.current = props
  const mark = useRef<HTMLElement>(null)
  const plot = useRef<uPlot>(null)
  const place = () => {
    const { chosen } = now.current
    if (mark.current === null || plot.current === null) return
    mark.current.hidden = chosen === undefined
    mark.current.style.left = `${plot.current.valToPos(chosen ?? 1, "x")}px`
  }
  useLayoutEffect(() => {
    if (width === 0) return
    const lengthOf = () => now.current.series[0]?.values.length ?? 0
    const atChosen = () => (now.current.chosen ?? lengthOf()) - 1
    const options = optionsOf(now.current, { box: box.current!, width, chosen: atChosen, onDraw: place })
    const places = Array.from({ length: lengthOf() }, (_, at) => at + 1)
    const made = new uPlot(options, [places, ...series.map(({ values }) => [...values])], box.current!)
    plot.current = made
    mark.current = document.createElement("i")
    mark.current.className = "chosen"
    made.over.append(mark.current)
    made.setLegend({})
    made.over.addEventListener("click", ({ offsetX }) => {
      const at = Math.round(made.posToVal(offsetX, "x"))
      now.current.choose?.(Math.min(Math.max(at, 1), lengthOf()))
    })
    return () => made.destroy()
  }, [series, width, height, isDark])
  useLayoutEffect(() => {
    place()
    // Without a pointer, the numbers follow what is chosen.
    plot.current?.setLegend({})
  }, [chosen])
  return <div ref={box} class="chart" role="img" aria-label={label} />
}
