/** All versions of a session: the size of the context as a curve, the compactions as marks, and a slider over them. */
import { useMemo } from "preact/hooks"
import { count, moment } from "../format.js"
import type { Mark } from "../session/marks.js"
import type { Timeline } from "../session/Timeline.js"

const [width, height] = [1_000, 56]
/** The most points of the curve: more than there are pixels would only take time. */
const mostPoints = 800

/** A curve of the sizes; of versions that share a point, the largest counts. */
const curveOf = (sizes: ReadonlyArray<number>): string => {
  const most = Math.max(
    ...sizes.slice(-mostPoints),
    sizes.reduce((one, other) => Math.max(one, other), 1),
  )
  const step = Math.max(1, Math.ceil(sizes.length / mostPoints))
  const last = Math.max(sizes.length - 1, 1)
  const points: Array<string> = []
  for (let at = 0; at < sizes.length; at += step) {
    const size = sizes.slice(at, at + step).reduce((one, other) => Math.max(one, other), 0)
    points.push(`${((at / last) * width).toFixed(1)} ${(height - (size / most) * (height - 4)).toFixed(1)}`)
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

const Curve = ({ timeline, marks, sizes, choose }: Omit<SliderProps, "version">) => {
  const newest = timeline.version
  const curve = useMemo(() => curveOf(sizes), [sizes])
  const across = (version: number) => (version / Math.max(newest, 1)) * width
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      onClick={(event) => {
        const { left, width } = event.currentTarget.getBoundingClientRect()
        choose(Math.round(((event.clientX - left) / width) * newest))
      }}
    >
      <path class="area" d={`M0 ${height}L${curve}L${width} ${height}Z`} />
      <path class="line" d={`M${curve}`} />
      {marks.map((mark) => (
        <line
          key={mark.compaction}
          class={`mark ${mark.outcome}${mark.invalidatedAt === null ? "" : " taken-back"}`}
          x1={across(mark.version)}
          x2={across(mark.version)}
          y1={0}
          y2={height}
        />
      ))}
    </svg>
  )
}

export const Slider = ({ timeline, version, marks, sizes, choose }: SliderProps) => {
  const newest = timeline.version
  const recorded = timeline.events[version - 1]
  const drawn = useMemo(
    () => <Curve timeline={timeline} marks={marks} sizes={sizes} choose={choose} />,
    [timeline, marks, sizes],
  )
  const before = marks.findLast((mark) => mark.version < version)
  const behind = marks.find((mark) => mark.version > version)
  return (
    <div class="slider">
      {drawn}
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
