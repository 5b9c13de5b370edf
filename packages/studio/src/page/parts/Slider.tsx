/** All versions of a session: the size of the context as a curve, the compactions as marks, and a slider over them. */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import { count, moment, several } from "../format.js"
import type { Mark } from "../session/marks.js"
import type { Timeline } from "../session/Timeline.js"

const [width, height] = [1_000, 56]
/** The most points of the curve: more than there are pixels would only take time. */
const mostPoints = 800
/** Marks that would be nearer to each other are one, in pixels. */
const apart = 8
/** Marks are lines through the curve only where it stays readable: at this distance on average, in pixels. */
const linesApart = 24

/** Where a version is among all, from 0 to 1. The slider has its thumb there. */
const across = (version: number, newest: number): number => (version - 1) / Math.max(newest - 1, 1)

/** A curve of the sizes from version 1 on; of versions that share a point, the largest counts. */
const curveOf = ([, ...sizes]: ReadonlyArray<number>): string => {
  const most = sizes.reduce((one, other) => Math.max(one, other), 1)
  const step = Math.max(1, Math.ceil(sizes.length / mostPoints))
  const points: Array<string> = []
  for (let at = 0; at < sizes.length; at += step) {
    const size = sizes.slice(at, at + step).reduce((one, other) => Math.max(one, other), 0)
    const x = across(at + 1, sizes.length) * width
    points.push(`${x.toFixed(1)} ${(height - (size / most) * (height - 4)).toFixed(1)}`)
  }
  return points.join("L")
}

/** What the slider shows and sets. */
export interface SliderProps {
  readonly timeline: Timeline
  readonly version: number
  readonly marks: ReadonlyArray<Mark>
  /** The tokens of the context at each version. */
  readonly sizes: ReadonlyArray<number>
  readonly choose: (version: number) => void
}

/** The width of an element in pixels, as it changes. */
const useWidth = () => {
  const box = useRef<HTMLDivElement>(null)
  const [pixels, set] = useState(width)
  useLayoutEffect(() => {
    const element = box.current!
    const measure = () => set(Math.max(element.clientWidth, apart))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [box, pixels] as const
}

/** The marks that are drawn as one. */
type Group = ReadonlyArray<Mark>

/** The marks, oldest first, in groups that are apart. */
const groupsOf = (marks: ReadonlyArray<Mark>, newest: number, pixels: number): ReadonlyArray<Group> => {
  const places = Math.max(Math.floor(pixels / apart), 1)
  const groups = new Map<number, Array<Mark>>()
  for (const mark of marks) {
    const place = Math.min(Math.floor(across(mark.version, newest) * places), places - 1)
    groups.set(place, [...(groups.get(place) ?? []), mark])
  }
  return [...groups.values()]
}

const isFailed = ({ outcome }: Mark): boolean => outcome === "failed"

/** How a group looks: as its mark, or as its first one that failed. */
const classOf = (group: Group): string => {
  const mark = group.find(isFailed) ?? group[0]!
  const isGone = group.every(({ invalidatedAt }) => invalidatedAt !== null)
  return `mark ${mark.outcome}${isGone ? " taken-back" : ""}${group.length > 1 ? " merged" : ""}`
}

const titleOf = (group: Group): string => {
  const [first, last] = [group[0]!.version, group.at(-1)!.version]
  const failed = group.filter(isFailed).length
  return [
    several(group.length, "compaction"),
    first === last ? `version ${count(first)}` : `versions ${count(first)} to ${count(last)}`,
    ...(failed > 0 ? [`${count(failed)} failed`] : []),
  ].join(", ")
}

/** The mark that a pointer means: the nearest; in the group that is shown already, the next one. */
const pointed = (
  groups: ReadonlyArray<Group>,
  version: number,
  distance: (mark: Mark) => number,
): Mark | undefined => {
  const nearest = groups.flat().toSorted((one, other) => distance(one) - distance(other))[0]
  const group = groups.find((one) => nearest !== undefined && one.includes(nearest)) ?? []
  const shown = group.findIndex((mark) => mark.version === version)
  return shown === -1 ? nearest : group[(shown + 1) % group.length]
}

const Plot = ({ timeline, version, marks, sizes, choose }: SliderProps) => {
  const newest = timeline.version
  const [box, pixels] = useWidth()
  const curve = useMemo(() => curveOf(sizes), [sizes])
  const groups = useMemo(() => groupsOf(marks, newest, pixels), [marks, newest, pixels])
  const isSparse = groups.length * linesApart <= pixels
  const drawn = useMemo(
    () => (
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none">
        <path class="area" d={`M0 ${height}L${curve}L${width} ${height}Z`} />
        {isSparse
          ? groups.map((group) => {
              const x = across(group[0]!.version, newest) * width
              return (
                <line key={group[0]!.compaction} class={classOf(group)} x1={x} x2={x} y1={0} y2={height} />
              )
            })
          : null}
        <path class="line" d={`M${curve}`} />
      </svg>
    ),
    [curve, groups, isSparse, newest],
  )
  const ticks = useMemo(
    () =>
      groups.map((group) => (
        <i
          key={group[0]!.compaction}
          class={classOf(group)}
          title={titleOf(group)}
          style={{ left: `${across(group[0]!.version, newest) * 100}%` }}
        />
      )),
    [groups, newest],
  )
  /** Where on the curve the pointer is, from 0 to 1. */
  const at = ({ clientX }: MouseEvent): number => {
    const { left, width } = box.current!.getBoundingClientRect()
    return Math.min(Math.max((clientX - left) / width, 0), 1)
  }
  // Buttons and keys reach every version and every compaction.
  return (
    <div class="plot" aria-hidden="true">
      <div ref={box} class="curve-box" onClick={(event) => choose(1 + Math.round(at(event) * (newest - 1)))}>
        {drawn}
        <i class="cursor" style={{ left: `${across(version, newest) * 100}%` }} />
      </div>
      {marks.length === 0 ? null : (
        <div
          class="ticks"
          onClick={(event) => {
            const x = at(event)
            const mark = pointed(groups, version, (one) => Math.abs(across(one.version, newest) - x))
            if (mark !== undefined) choose(mark.version)
          }}
        >
          {ticks}
        </div>
      )}
    </div>
  )
}

export const Slider = (props: SliderProps) => {
  const { timeline, version, marks, choose } = props
  const newest = timeline.version
  const recorded = timeline.events[version - 1]
  const before = marks.findLast((mark) => mark.version < version)
  const behind = marks.find((mark) => mark.version > version)
  return (
    <div class="slider">
      <Plot {...props} />
      <input
        type="range"
        min={1}
        max={Math.max(newest, 1)}
        value={version}
        aria-label="Version"
        aria-valuetext={`version ${count(version)} of ${count(newest)}, ${recorded?.event._tag ?? ""}`}
        onInput={({ currentTarget }) => choose(Number(currentTarget.value))}
      />
      <div class="slider-row">
        <button
          disabled={before === undefined}
          onClick={() => before && choose(before.version)}
          title="Key: ["
        >
          ◂ Compaction
        </button>
        <button
          disabled={version <= 1}
          onClick={() => choose(version - 1)}
          aria-label="One version back"
          title="Key: ←"
        >
          ‹
        </button>
        <span class="where">
          <strong>
            Version {count(version)} of {count(newest)}
          </strong>{" "}
          <span class="soft">
            {recorded === undefined ? "" : `${recorded.event._tag} · ${moment(recorded.time)}`}
          </span>
        </span>
        <button
          disabled={version >= newest}
          onClick={() => choose(version + 1)}
          aria-label="One version on"
          title="Key: →"
        >
          ›
        </button>
        <button
          disabled={behind === undefined}
          onClick={() => behind && choose(behind.version)}
          title="Key: ]"
        >
          Compaction ▸
        </button>
        <span class="soft wide-only">keys: ← → [ ]</span>
      </div>
    </div>
  )
}
