/** All versions of a session: the size of the context as a curve, the compactions as marks, and a slider over them. */
import { useMemo } from "preact/hooks"
import { count, inWords, moment, several, short } from "../format.js"
import type { Mark } from "../session/marks.js"
import { sizeOf } from "../session/shares.js"
import type { ViewProps } from "../session/ViewProps.js"
import { Chart, useWidth } from "./Chart.js"

/** Marks that would be nearer to each other are one, in pixels. */
const apart = 8
/** Marks are lines through the curve only where it stays readable: at this distance on average, in pixels. */
const linesApart = 24

/** Where a version is among all, from 0 to 1. The slider has its thumb there. */
const across = (version: number, newest: number): number => (version - 1) / Math.max(newest - 1, 1)

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
  const { outcome } = group.find(isFailed) ?? group[0]!
  const isGone = group.every(({ invalidatedAt }) => invalidatedAt !== null)
  const ink = isGone ? "left-out" : { failed: "danger", pruned: "recalled" }[outcome as string]
  return `mark ${ink ?? "summary"}${group.length > 1 ? " merged" : ""}`
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

/** The compactions, below the curve; few of them also are lines through it. */
const Ticks = ({ timeline, version, marks, choose }: ViewProps) => {
  const newest = timeline.version
  const [box, pixels] = useWidth()
  const groups = useMemo(() => groupsOf(marks, newest, pixels), [marks, newest, pixels])
  const drawn = useMemo(
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
  return (
    <div
      ref={box}
      class={`ticks ${groups.length * linesApart <= pixels ? "through" : ""}`}
      onClick={({ clientX }) => {
        const { left, width } = box.current!.getBoundingClientRect()
        const at = (clientX - left) / width
        const mark = pointed(groups, version, (one) => Math.abs(across(one.version, newest) - at))
        if (mark !== undefined) choose(mark.version)
      }}
    >
      {drawn}
    </div>
  )
}

export const Slider = (props: ViewProps) => {
  const { timeline, version, marks, choose, changes } = props
  const newest = timeline.version
  const series = useMemo(() => {
    const values = timeline.states.slice(1).map(sizeOf)
    const said = (at: number) => several(values[at] ?? 0, "token")
    return [{ name: "Context", ink: "verbatim", values, said }]
  }, [timeline, changes])
  const recorded = timeline.events[version - 1]
  const happening = recorded === undefined ? "" : inWords(recorded.event._tag).toLowerCase()
  const steps = {
    back: ["◂◂", "Compaction before", "[", marks.findLast((mark) => mark.version < version)?.version],
    less: ["‹", "One version back", "←", version > 1 ? version - 1 : undefined],
    more: ["›", "One version on", "→", version < newest ? version + 1 : undefined],
    on: ["▸▸", "Compaction behind", "]", marks.find((mark) => mark.version > version)?.version],
  } as const
  const step = ([sign, label, key, to]: (typeof steps)[keyof typeof steps]) => (
    <button
      disabled={to === undefined}
      aria-label={label}
      title={`${label}: ${key}`}
      onClick={() => to !== undefined && choose(to)}
    >
      {sign}
    </button>
  )
  return (
    <div class="slider">
      {/* Buttons and keys reach every version and every compaction. */}
      <div class="plot" aria-hidden="true">
        <Chart
          label=""
          kind="area"
          across="Version"
          series={series}
          unit={short}
          height={84}
          bare
          chosen={version}
          choose={choose}
        />
        {marks.length === 0 ? null : <Ticks {...props} />}
      </div>
      <input
        type="range"
        min={1}
        max={Math.max(newest, 1)}
        value={version}
        aria-label="Version"
        aria-valuetext={`version ${count(version)} of ${count(newest)}, ${happening}`}
        onInput={({ currentTarget }) => choose(Number(currentTarget.value))}
      />
      <div class="row">
        {step(steps.back)}
        {step(steps.less)}
        <span class="where">
          <strong>
            Version {count(version)} of {count(newest)}
          </strong>{" "}
          <span class="soft wide-only">
            {recorded === undefined ? "" : `${happening} · ${moment(recorded.time)}`}
          </span>
        </span>
        {step(steps.more)}
        {step(steps.on)}
        <span class="soft wide-only">keys: ← → [ ]</span>
      </div>
    </div>
  )
}
